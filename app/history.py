"""The claims so far, as the history page and the API list them."""

from __future__ import annotations

import unicodedata

from app.access import listed_owner
from app.api_models import ClaimItem, Claims, ClaimSearch, ListedVerdict
from app.services import services
from retrieval.claim import LONGEST
from retrieval.words import level_of
from worker.jobs import Links, ListedJob


def as_stored(query: str) -> str:
    """Return words that are looked for in claims; these are stored in NFC."""
    return unicodedata.normalize("NFC", query.strip()[:LONGEST])


def listed_claims(asked: ClaimSearch) -> Claims:
    """Return one page of the claims that contain the words.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    offset = (asked.page - 1) * asked.limit
    jobs, total = services().store.search(as_stored(asked.q), asked.limit, offset, listed_owner())
    return Claims(
        claims=tuple(_item(job) for job in jobs),
        total=total,
        page=asked.page,
        pages=max(1, -(-total // asked.limit)),
    )


def _item(job: ListedJob) -> ClaimItem:
    verdict = job.label and ListedVerdict(
        label=job.label,
        level=level_of(job.label, job.confidence, job.leans),
        confidence=job.confidence,
        leans=job.leans,
    )
    return ClaimItem(
        id=job.id,
        claim=job.claim,
        recipe=job.recipe,
        state=job.state,
        created_at=job.created_at,
        verdict=verdict,
        links=Links.of(job.id),
    )
