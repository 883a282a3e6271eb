"""What the pages show of a list: its rows, its filters, and the time that is left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.documents.corpus_choice import titles_of
from app.documents.files import file_links
from app.filters import Badge, job_badge
from app.http.query import pages_of
from app.lists.contexts import EntryFragment, EntryItem, ListItem, ListPage, ShownRows
from app.lists.export import LIST_EXPORTS
from app.people.visitor import may_change
from app.result.evidence import best_of_each_stance, quoted
from app.services import services
from app.texts.coloured_text import coloured
from retrieval.errors import Problem
from worker.feedback_store import FeedbackStore
from worker.health import WorkerHealth, worker_health
from worker.lists import MOST_CLAIMS, ClaimList, Entry, SaidEntry, Shown

ROWS_PER_PAGE = 50
# Each row is in one of these, beside all.
_ENDED: dict[Shown, str] = {
    "all": "All",
    "supported": "Supported",
    "refuted": "Refuted",
    "unsettled": "Not settled",
    "refused": "Not a claim",
    "failed": "Failed",
    "cancelled": "Cancelled or deleted",
    "unfinished": "To come",
}
# Rows that a reader may want to look at again. "errors" are shown where an old address asks.
_AGAIN: dict[Shown, str] = {
    "unsure": "Probably, or only leans",
    "divided": "Evidence for and against",
    "disputed": "Somebody disagrees",
    "errors": "Without a verdict",
}
_STATES = {
    "refused": Badge("stopped", "Not a claim"),
    "deleted": Badge("stopped", "Deleted"),
}
_LISTS = {
    "running": Badge("pending", "Being checked"),
    "paused": Badge("stopped", "Paused"),
    "cancelled": Badge("stopped", "Cancelled"),
    "done": None,
}


def list_item(claims: ClaimList) -> ListItem:
    """Return a list among others."""
    return ListItem(
        id=claims.id,
        name=claims.name,
        badge=_LISTS[claims.state],
        finished=claims.finished,
        total=claims.total,
        created_at=claims.created_at,
        by_program=claims.owner is None,
    )


def list_page(claims: ClaimList, shown: Shown, number: int) -> ListPage:
    """Return page ``number`` of a list, or its last one if it has fewer."""
    pages = pages_of(claims.counts[shown], ROWS_PER_PAGE)
    number = min(number, pages)
    offset = (number - 1) * ROWS_PER_PAGE
    entries = services().lists.entries(claims.id, shown, ROWS_PER_PAGE, offset)
    health = worker_health(services().workers)
    source = services().lists.source_text(claims.id)
    titles = titles_of(claims.corpora)
    return ListPage(
        claims=claims,
        searched=tuple(filter(None, titles.values())),
        gone=sum(title is None for title in titles.values()),
        left=_left(claims, health),
        waiting=_waiting(claims, health),
        may_change=may_change(claims.owner),
        shown=shown,
        filters=_filters(_ENDED, claims, shown),
        look_again=_filters(_AGAIN, claims, shown),
        rows=tuple(map(_entry_item, entries)),
        number=number,
        pages=pages,
        rows_per_page=ROWS_PER_PAGE,
        exports={name: one.label for name, one in LIST_EXPORTS.items()},
        pieces=coloured(source, _badge_in_text) if source is not None else (),
        page=source.page if source is not None else None,
    )


def _filters(words: Mapping[Shown, str], claims: ClaimList, shown: Shown) -> tuple[ShownRows, ...]:
    """Return the filters that show any row, and the one that is chosen."""
    return tuple(
        ShownRows(name, said, claims.counts[name])
        for name, said in words.items()
        if name in ("all", shown) or (claims.counts[name] and name != "errors")
    )


def opened_entry(list_id: str, number: int) -> EntryFragment | None:
    """Return what row ``number`` of a list shows when it is opened; ``None``: it has no verdict."""
    if not 0 < number <= MOST_CLAIMS:
        return None
    entry = next(iter(services().lists.entries(list_id, "all", 1, number - 1)), None)
    if entry is None or entry.result is None or entry.claim_id is None:
        return None
    files = file_links(entry.claim_id, entry.result)
    about = FeedbackStore(services().database).about(entry.claim_id)
    agreed = sum(one.opinion.agrees for one in about)
    best = best_of_each_stance(entry.result, files)
    corpora = services().lists.get(list_id).corpora or ()
    return EntryFragment(entry.claim_id, entry.result, best, corpora, agreed, len(about) - agreed)


def seconds_left(claims: ClaimList, workers: int) -> float | None:
    """Return about how many seconds a running list still takes; ``None``: that is not known."""
    if claims.state != "running" or claims.seconds is None or workers == 0:
        return None
    return claims.counts["unfinished"] * claims.seconds / workers


def _left(claims: ClaimList, health: WorkerHealth) -> str:
    seconds = seconds_left(claims, health.workers)
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} minutes left"
    return f"about {seconds / 3600:.1f} hours left"


def _waiting(claims: ClaimList, health: WorkerHealth) -> Problem | None:
    if claims.state != "running" or health.problem is None:
        return None
    return services().paths.hidden_in_problem(health.problem)


def _entry_item(entry: Entry) -> EntryItem:
    # Under what is not settled, the closest sentence would look like evidence.
    says = entry.result is not None and entry.result.verdict.level != "unsettled"
    found = quoted(entry.result) if entry.result and says else None
    quote, title = (found.sentence, found.reference) if found else ("", "")
    problem = entry.problem
    if problem is not None and entry.state == "failed":
        problem = services().paths.hidden_in_problem(problem)
    return EntryItem(
        number=entry.number,
        place=entry.place,
        claim=entry.claim,
        claim_id=entry.claim_id,
        opens=entry.result is not None,
        badge=_badge(entry),
        problem=problem,
        quote=quote,
        title=title,
        others=_filled(entry.others),
        same_as=entry.same_as,
    )


def _badge(entry: Entry | SaidEntry) -> Badge | None:
    if entry.state == "waiting":
        return None
    return _STATES.get(entry.state) or job_badge(entry)


def _badge_in_text(entry: SaidEntry) -> Badge:
    return _badge(entry) or Badge("pending", "Waiting")


def _filled(others: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in others.items()
        if value not in (None, "", [], {})
    }
    return tuple(texts.items())
