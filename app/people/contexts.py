"""The data that the templates of the login and of users get: one dataclass per page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from retrieval.errors import Problem
from worker.user_store import Credential, ListedUser


@dataclass(frozen=True, slots=True)
class LoginPage:
    """Where a user logs in; ``next``: the address that follows, ``problem``: of the last try."""

    template: ClassVar[str] = "login.html"
    next: str
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; ``what``: which one, in words."""

    what: str
    token: str


@dataclass(frozen=True, slots=True)
class AccountPage:
    """What lets a user in, the newest first, and the form for another token.

    ``known``: she is a user of the database, so she can have tokens. ``typed``: the name in the
    form. ``days``: for how long a token may last, in words. ``groups``: their members, by their
    names: hers, and for operators all. ``users``: all, for operators.
    """

    template: ClassVar[str] = "account.html"
    role: str
    made: NewToken | None
    problem: Problem | None
    tokens: tuple[Credential, ...]
    sessions: tuple[Credential, ...]
    known: bool
    typed: str
    longest_name: int
    days: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    users: tuple[ListedUser, ...]
