"""The data that the templates of the login get: one dataclass per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from retrieval.errors import Problem


@dataclass(frozen=True, slots=True)
class LoginPage:
    """Where a user logs in; ``next``: the address that follows, ``problem``: of the last try."""

    template: ClassVar[str] = "login.html"
    next: str
    problem: Problem | None
