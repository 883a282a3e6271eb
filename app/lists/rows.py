"""The page of a list: its rows, its filters, the time that is left, and its text, coloured."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from flask import render_template

from app.documents.corpus import titles_of
from app.documents.files import file_links
from app.filters import Badge, job_badge
from app.http.query import pages_of
from app.lists.export import LIST_EXPORTS, MOST_ROWS, confirmed_in
from app.lists.input import NO_FACTS
from app.people.visitor import may_change
from app.result.evidence import balance, best_of_each_stance, quoted
from app.result.export import FORMATS
from app.result.published import decided
from app.services import services
from retrieval.claim import CHECKED_ANYWAY, LONGEST
from retrieval.compared import opposed
from retrieval.errors import Problem
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.result import Evidence
from worker.feedback_store import FeedbackStore
from worker.health import WorkerHealth, worker_health
from worker.lists import MOST_CLAIMS, ClaimList, Entry, SaidEntry, Shown, Sort, SourceText

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
    "waiting": None,
    "deleted": Badge("stopped", "Deleted"),
}
# Of several claims of one sentence the first of these is shown: what is wrong matters most.
_NAMED = NO_FACTS | {
    "claim_not_english": "Not English",
    "claim_wh_question": "Question",
    "claim_link": "Link",
}
_SORTS: dict[Sort, str] = {"row": "As they came", "verdict": "Verdict", "certainty": "Certainty"}
# Names of a column that numbers the rows.
_NUMBERS = frozenset({"", "#", "id", "n", "no", "nr", "num", "number", "row", "index"})
_ORDER = ("refuted", "pending", "unsettled", "supported", "stopped")


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of a list.

    ``badge``: ``None`` where it has not been handed on yet. ``certainty``: how sure the verdict is,
    "" where that is not known. ``problem``: why it has no verdict. ``quoted``: the best sentence
    with the verdict's stance. ``others``: her own columns that are filled, but for its number.
    """

    entry: Entry
    badge: Badge | None
    certainty: str
    problem: Problem | None
    quoted: Evidence | None
    others: Mapping[str, str]

    @property
    def ended(self) -> bool:
        """Whether it can be checked again."""
        return self.entry.state not in ("waiting", "queued", "running")

    @property
    def anyway(self) -> bool:
        """Whether it was held to be no claim, but can be checked in spite of that."""
        code = self.problem.code if self.problem and self.entry.state == "refused" else ""
        return code in CHECKED_ANYWAY | NO_FACTS.keys()


class TextPiece(NamedTuple):
    """A piece of a text; ``badge``: the verdict on what it says, ``None`` if it is not checked.

    ``claim_id``: of the claim with this verdict, ``None`` where there is none to open.
    """

    text: str
    badge: Badge | None = None
    claim_id: str | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A row that was sent to be checked again, as this ``claim``, and what is wrong with that."""

    number: int
    claim: str
    problem: Problem


def list_page(
    claims: ClaimList, shown: Shown, number: int, sort: Sort = "row", edited: Edited | None = None
) -> str:
    """Return page ``number`` of a list, or its last one if it has fewer.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    pages = pages_of(claims.counts[shown], ROWS_PER_PAGE)
    number = min(number, pages)
    offset = (number - 1) * ROWS_PER_PAGE
    entries = services().lists.entries(claims.id, shown, ROWS_PER_PAGE, offset, sort=sort)
    health = worker_health(services().workers)
    source = services().lists.source_text(claims.id)
    titles = titles_of(claims.corpora).values()
    return render_template(
        "list.html",
        claims=claims,
        usual=claims.recipe == DEFAULT_RECIPE,
        searched=list(filter(None, titles)),
        gone=sum(title is None for title in titles),
        left=seconds_left(claims, health.workers),
        waiting=_waiting(claims, health),
        may_change=may_change(claims.owner),
        shown=shown,
        sort=sort,
        sorts=_SORTS,
        edited=edited,
        most_characters=LONGEST,
        filters=_filters(_ENDED, claims, shown),
        look_again=_filters(_AGAIN, claims, shown),
        rows=list(map(_shown_row, entries)),
        number=number,
        pages=pages,
        rows_per_page=ROWS_PER_PAGE,
        formats={name: FORMATS[name].label for name in LIST_EXPORTS},
        most_rows=MOST_ROWS,
        reviews=sum(map(decided, confirmed_in(claims).values())),
        pieces=coloured(source, _badge) if source else (),
        page=source.page if source else None,
    )


def opened_entry(list_id: str, number: int) -> str | None:
    """Return what row ``number`` of a list shows when it is opened: its result in short.

    ``None``: it has no verdict.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    if not 0 < number <= MOST_CLAIMS:
        return None
    entry = next(iter(services().lists.entries(list_id, "all", 1, number - 1)), None)
    if entry is None or entry.result is None or entry.claim_id is None:
        return None
    return render_template(
        "entry.html",
        claim_id=entry.claim_id,
        result=entry.result,
        balance=balance(entry.result, opposed(entry.result)),
        best=best_of_each_stance(entry.result, file_links(entry.claim_id, entry.result)),
        corpora=services().lists.get(list_id).corpora or (),
        about=FeedbackStore(services().database).about(entry.claim_id),
    )


def seconds_left(claims: ClaimList, workers: int) -> float | None:
    """Return about how many seconds a running list still takes; ``None``: that is not known."""
    if claims.state != "running" or workers == 0:
        return None
    return services().lists.seconds_left(claims.id)


def coloured(
    source: SourceText, badge_of: Callable[[SaidEntry], Badge | None]
) -> tuple[TextPiece, ...]:
    """Return the text in pieces, in its order, each sentence with the verdict on what it says.

    Together they are the whole text.
    """
    pieces: list[TextPiece] = []
    done = 0
    for (start, end), group in groupby(source.said, key=lambda one: (one.start, one.end)):
        if start < done or end > len(source.text):
            continue  # sentences do not overlap; a row that says so is shown in the list alone
        if start > done:
            pieces.append(TextPiece(source.text[done:start]))
        said = [(badge_of(one) or Badge("pending", "Waiting"), one.claim_id) for one in group]
        worst = min(said, key=lambda one: _ORDER.index(one[0].look))
        pieces.append(TextPiece(source.text[start:end], *worst))
        done = end
    if done < len(source.text):
        pieces.append(TextPiece(source.text[done:]))
    return tuple(pieces)


def _filters(words: Mapping[Shown, str], claims: ClaimList, shown: Shown) -> dict[Shown, str]:
    """Return the filters that show any row, and the one that is chosen, with their words."""
    return {
        name: said
        for name, said in words.items()
        if name in ("all", shown) or (claims.counts[name] and name != "errors")
    }


def _waiting(claims: ClaimList, health: WorkerHealth) -> Problem | None:
    if claims.state != "running" or health.problem is None:
        return None
    return services().paths.hidden_in_problem(health.problem)


def _shown_row(entry: Entry) -> ShownRow:
    problem = entry.problem
    if problem is not None and entry.state == "failed":
        problem = services().paths.hidden_in_problem(problem)
    # Under what is not settled, the closest sentence would look like evidence.
    says = entry.result is not None and entry.result.verdict.level != "unsettled"
    found = quoted(entry.result) if entry.result and says else None
    others = _filled(entry.number, entry.others)
    return ShownRow(
        entry,
        _badge(entry),
        entry.result.certainty_in_short if entry.result else "",
        problem,
        found,
        others,
    )


def _badge(entry: Entry | SaidEntry) -> Badge | None:
    if entry.state == "refused":
        code = entry.problem.code if isinstance(entry, Entry) and entry.problem else ""
        return Badge("stopped", _NAMED.get(code, "Not a claim"))
    return _STATES[entry.state] if entry.state in _STATES else job_badge(entry)


def _filled(number: int, others: Mapping[str, Any]) -> dict[str, str]:
    """Return what her columns have; a number that repeats that of the row is left out."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in others.items()
        if value not in (None, "", [], {})
        and not (name.strip(" .:").casefold() in _NUMBERS and str(value).strip() == str(number))
    }
