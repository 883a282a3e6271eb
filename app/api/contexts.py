"""The data that the templates of the page about the API get: one dataclass per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that the API does; ``name`` is its anchor, ``call`` its method and path."""

    name: str
    call: str
    does: str
    curl: str
    python: str


@dataclass(frozen=True, slots=True)
class ApiPage:
    """What programs can ask, at ``address``; ``most_kib`` is the size of the largest request.

    ``claims_per_minute``: how many claims a client may submit, 0 for any number. ``most_rows``: how
    many rows of a visitor's lists may wait, 0 for any number. ``keep_days``: how long claims are
    kept, 0 where that is until they are deleted.
    """

    template: ClassVar[str] = "api.html"
    address: str
    endpoints: tuple[Endpoint, ...]
    most_characters: int
    most_kib: int
    claims_per_minute: int
    most_rows: int
    keep_days: int
