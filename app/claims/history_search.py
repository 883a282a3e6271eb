"""Which claims the history and the API list: the filters in the query of an address."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.api.models import Paged


class HistorySearch(Paged):
    """Which claims to list; an empty value, or none, lists all."""

    q: str = ""
    """Words of the claim."""
    whose: Literal["", "yours", "all"] = ""
    """`yours`: only those that were submitted with the cookie of the request."""
    verdict: Literal["", "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"] = ""
    """The verdict."""
    level: Literal["", "settled", "probably", "leans", "unsettled"] = ""
    """How sure the verdict is."""
    recipe: str = ""
    """Name of the recipe."""
    state: Literal["", "queued", "running", "done", "failed", "cancelled"] = ""
    """The state."""


class ClaimSearch(HistorySearch):
    """Which claims to list; an empty value, or none, lists all."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """How many claims a page has."""
