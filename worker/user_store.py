"""The users who may use the service, their tokens, and the browsers in which they have logged in.

Tokens and cookies are 256 random bits. The database has only their digests, so who reads it or a
backup of it cannot log in.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias, cast, get_args

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.exc import IntegrityError

from retrieval.errors import EsotericError
from worker import clock
from worker.database import Database
from worker.schema import SessionRow, UserRow

Role: TypeAlias = Literal["reader", "checker", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)
SESSION = timedelta(days=14)
# What proxies send as names: also addresses of mail.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,49}")
_OF_A_USER = "user:"


class BadUser(EsotericError):
    """A user cannot be added or removed."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may use the service, and as what."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user in a list."""

    name: str
    role: Role
    created_at: datetime


def owner_of(user: str) -> str:
    """Return the owner of what a user submits, in whatever browser."""
    return f"{_OF_A_USER}{user}"


def user_of(owner: str | None) -> str | None:
    """Return the user who is this owner; ``None`` for a browser, or nobody."""
    if owner is None or not owner.startswith(_OF_A_USER):
        return None
    return owner.removeprefix(_OF_A_USER)


class UserStore:
    """Every method may raise ``StoreUnavailable``; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Users

    def add(self, name: str, role: Role) -> str:
        """Add a user and return the token, which nobody can read again.

        Raises:
            BadUser: the name cannot be used, or is used.
        """
        if not is_name(name):
            raise BadUser(
                "bad_name",
                f"{name!r} cannot be the name of a user.",
                "Use up to 50 letters, digits and . _ @ + -, beginning with a letter or a digit.",
            )
        token = secrets.token_urlsafe(32)
        row = UserRow(name=name, role=role, digest=_digest(token), created_at=clock.now())
        try:
            with self._database.writing() as session:
                session.add(row)
        except IntegrityError as error:
            raise BadUser(
                "user_exists",
                f"There is a user {name} already.",
                f"For a new token or another role: esoteric users remove {name}, then add it again;"
                " the claims stay.",
            ) from error
        return token

    def remove(self, name: str) -> None:
        """Remove a user, who can no longer log in, and the sessions; the claims stay.

        Raises:
            BadUser: there is no such user.
        """
        with self._database.erasing() as session:
            removed = delete(UserRow).where(UserRow.name == name).returning(UserRow.name)
            if session.scalar(removed) is None:
                raise BadUser(
                    "no_user",
                    f"There is no user {name!r}.",
                    "esoteric users list shows all of them.",
                )

    def all(self) -> list[ListedUser]:
        """Return all users by their names."""
        columns = select(UserRow.name, UserRow.role, UserRow.created_at).order_by(UserRow.name)
        with self._database.reading() as session:
            return [
                ListedUser(name, cast(Role, role), created_at)
                for name, role, created_at in session.execute(columns)
            ]

    def named(self, name: str) -> User | None:
        """Return the user with this name."""
        return self._found(UserRow.name == name)

    def with_token(self, token: str) -> User | None:
        """Return the user with this token."""
        return self._found(UserRow.digest == _digest(token))

    # Sessions

    def log_in(self, token: str) -> tuple[User, str] | None:
        """Return the user with this token and the cookie of a new session; ``None``: no user."""
        user = self.with_token(token)
        if user is None:
            return None
        cookie, now = secrets.token_urlsafe(32), clock.now()
        with self._database.writing() as session:
            session.execute(delete(SessionRow).where(SessionRow.ends_at <= now))
            session.add(SessionRow(digest=_digest(cookie), user=user.name, ends_at=now + SESSION))
        return user, cookie

    def with_cookie(self, cookie: str) -> User | None:
        """Return the user of a session that has not ended."""
        return self._found(
            UserRow.name.in_(
                select(SessionRow.user).where(
                    SessionRow.digest == _digest(cookie), SessionRow.ends_at > clock.now()
                )
            )
        )

    def log_out(self, cookie: str) -> None:
        """End a session, if there is one."""
        with self._database.writing() as session:
            session.execute(delete(SessionRow).where(SessionRow.digest == _digest(cookie)))

    def log_out_all(self) -> None:
        """End all sessions: everybody logs in again with a token."""
        with self._database.writing() as session:
            session.execute(delete(SessionRow))

    def _found(self, wanted: ColumnElement[bool]) -> User | None:
        with self._database.reading() as session:
            row = session.execute(select(UserRow.name, UserRow.role).where(wanted)).first()
        return None if row is None else User(row.name, cast(Role, row.role))


def is_name(name: str) -> bool:
    """Return whether a user can have this name."""
    return _NAME.fullmatch(name) is not None


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
