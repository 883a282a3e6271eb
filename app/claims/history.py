"""The claims so far, as the history page and the API list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from app.api.models import ClaimItem, Claims, ListedVerdict
from app.claims.contexts import HistoryPage
from app.claims.history_search import ClaimSearch, HistorySearch
from app.http.query import asked_by_person, pages_of
from app.people.access import allowed
from app.people.visitor import may_change, viewer, visitor
from app.services import services
from retrieval.claim import LONGEST
from retrieval.normal_form import nfc
from worker.history_store import ClaimFilter, HistoryStore
from worker.jobs import Links, ListedJob

CLAIMS_PER_PAGE = 20


def listed_claims(asked: ClaimSearch) -> Claims:
    """Return one page of the claims that pass the filters.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    offset = (asked.page - 1) * asked.limit
    wanted = _filter(asked, yours=asked.whose == "yours")
    jobs, total = HistoryStore(services().database).listed(wanted, asked.limit, offset)
    return Claims(
        claims=tuple(_item(job) for job in jobs),
        total=total,
        page=asked.page,
        pages=pages_of(total, asked.limit),
    )


def history_page() -> HistoryPage:
    """Return the page that this request asks for.

    A visitor who has a cookie first sees the own claims. After the last page comes the last page.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    search = asked_by_person(HistorySearch)
    yours = search.whose == "yours" or (not search.whose and visitor() is not None)
    wanted = _filter(search, yours=yours)
    store = HistoryStore(services().database)
    number = search.page
    groups, total = store.grouped(wanted, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE)
    pages = pages_of(total, CLAIMS_PER_PAGE)
    if number > pages:
        number = pages
        groups, total = store.grouped(wanted, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE)
    filters = search.model_dump(exclude={"page", "whose"}, exclude_defaults=True)
    whose = "yours" if yours else "all"
    return HistoryPage(
        search=search,
        yours=yours,
        owner=visitor(),
        groups=tuple(groups),
        total=total,
        filtered=bool(filters),
        may_delete=allowed("pages.delete")
        and any(may_change(run.owner) for group in groups for run in group.runs),
        number=number,
        pages=pages,
        recipes=tuple(store.recipes()),
        yours_address=_address(filters, "yours"),
        all_address=_address(filters, "all"),
        newer=_address(filters, whose, number - 1) if number > 1 else "",
        older=_address(filters, whose, number + 1) if number < pages else "",
    )


def _filter(search: HistorySearch, *, yours: bool) -> ClaimFilter:
    return ClaimFilter(
        # Claims are stored in NFC.
        text=nfc(search.q.strip()[:LONGEST]),
        # Nobody has "", so that a visitor without a cookie has no claims.
        owner=(visitor() or "") if yours else None,
        seen_by=viewer(),
        label=search.verdict or None,
        level=search.level or None,
        recipe=search.recipe or None,
        state=search.state or None,
    )


def _address(filters: Mapping[str, Any], whose: str, page: int = 1) -> str:
    return url_for("pages.history", **filters, whose=whose, page=page if page > 1 else None)


def _item(job: ListedJob) -> ClaimItem:
    return ClaimItem(
        id=job.id,
        claim=job.claim,
        recipe=job.recipe,
        state=job.state,
        created_at=job.created_at,
        verdict=ListedVerdict.of(job.label, job.confidence, job.leans),
        links=Links.of(job.id),
    )
