"""The users who may use the service, their groups, tokens, and browsers in which they logged in.

Tokens and cookies are 256 random bits. The database has only their digests, so who reads it or a
backup of it cannot log in.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby
from typing import Literal, TypeAlias, cast, get_args

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from retrieval.errors import EsotericError
from worker import clock
from worker.database import REACH_SECONDS, Database, StoreUnavailable
from worker.jobs import GROUP
from worker.schema import ClaimRow, CredentialRow, ListRow, MemberRow, UserRow

Role: TypeAlias = Literal["reader", "checker", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)
Kind: TypeAlias = Literal["token", "session"]
SESSION = timedelta(days=14)
LONGEST_NAME = 60
MOST_TOKENS = 50  # of a user
_NOTED_EVERY = timedelta(minutes=1)
# What proxies send as names: also addresses of mail.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,49}")
_NAMES = "Use up to 50 letters, digits and . _ @ + -, beginning with a letter or a digit."
_OF_A_USER = "user:"


class BadUser(EsotericError):
    """A user or a group cannot be changed so."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may use the service, as what, and in which groups."""

    name: str
    role: Role
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user in a list."""

    name: str
    role: Role
    created_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Credential:
    """A token or a session of a user.

    ``name``: what its user calls it, or its browser. ``used_at``: to the minute, ``None`` before
    the first time. ``ends_at``: ``None`` for never. ``asks``: this session has sent the request.
    """

    id: str
    kind: Kind
    name: str
    made_at: datetime
    used_at: datetime | None
    ends_at: datetime | None
    asks: bool


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
                _NAMES,
            )
        try:
            with self._database.writing() as session:
                session.add(UserRow(name=name, role=role, created_at=clock.now()))
                session.flush()
                return _made(session, name, "token", "first token", None)
        except IntegrityError as error:
            raise BadUser(
                "user_exists",
                f"There is a user {name} already.",
                f"For a new token: esoteric users rotate {name}. For another role: esoteric users"
                f" remove {name}, then add it again; the claims stay.",
            ) from error

    def remove(self, name: str) -> None:
        """Remove a user, who can no longer log in, and the sessions; the claims stay.

        Raises:
            BadUser: there is no such user.
        """
        with self._database.erasing() as session:
            _refuse_unknown(session, name)
            session.execute(delete(UserRow).where(UserRow.name == name))

    def all(self) -> list[ListedUser]:
        """Return all users by their names."""
        used = select(func.max(CredentialRow.used_at)).where(CredentialRow.user == UserRow.name)
        columns = (UserRow.name, UserRow.role, UserRow.created_at, used.scalar_subquery())
        with self._database.reading() as session:
            found = session.execute(select(*columns).order_by(UserRow.name))
            return [
                ListedUser(name, cast(Role, role), made, used) for name, role, made, used in found
            ]

    def named(self, name: str) -> User | None:
        """Return the user with this name."""
        wanted = select(UserRow.role).where(UserRow.name == name)
        with self._database.reading() as session:
            role = session.scalar(wanted)
            groups = _groups_of(session, name)
        return None if role is None else User(name, cast(Role, role), groups)

    # Groups

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the members of all groups, by their names."""
        wanted = select(MemberRow.group, MemberRow.user).order_by(MemberRow.group, MemberRow.user)
        with self._database.reading() as session:
            rows = groupby(session.execute(wanted), key=lambda row: row.group)
            return {group: tuple(row.user for row in members) for group, members in rows}

    def join(self, group: str, users: Collection[str]) -> None:
        """Put users into a group, which begins with the first of them.

        What was shared with an earlier group of this name is its owners' again: its members were
        others.

        Raises:
            BadUser: the name cannot be used, or there is no such user; nobody was put into it.
        """
        if not is_name(group):
            raise BadUser("bad_group", f"{group!r} cannot be the name of a group.", _NAMES)
        with self._database.writing() as session:
            for user in users:
                _refuse_unknown(session, user)
            members = set(_members(session, group))
            if not members:
                for kind in (ClaimRow, ListRow):
                    of_before = update(kind).where(kind.shared == f"{GROUP}{group}")
                    session.execute(of_before.values(shared="owner"))
            session.add_all(MemberRow(group=group, user=user) for user in {*users} - members)

    def leave(self, group: str, users: Collection[str]) -> None:
        """Take users out of a group; what is shared with it they cannot see from now on.

        Raises:
            BadUser: one of them is not in it; nobody was taken out.
        """
        with self._database.erasing() as session:
            members = _members(session, group)
            for user in users:
                if user not in members:
                    raise BadUser(
                        "not_in_group",
                        f"There is no {user!r} in a group {group!r}.",
                        "esoteric users groups shows all groups.",
                    )
            of_group = MemberRow.group == group
            session.execute(delete(MemberRow).where(of_group, MemberRow.user.in_(users)))

    # What lets them in

    def with_token(self, token: str) -> User | None:
        """Return the user with this token, unless it has ended."""
        return self._used("token", token)

    def with_cookie(self, cookie: str) -> User | None:
        """Return the user of a session that has not ended."""
        return self._used("session", cookie)

    def log_in(self, token: str, browser: str = "") -> tuple[User, str] | None:
        """Return the user with this token and the cookie of a new session; ``None``: no user."""
        user = self.with_token(token)
        if user is None:
            return None
        now = clock.now()
        with self._database.writing() as session:
            session.execute(delete(CredentialRow).where(CredentialRow.ends_at <= now))
            return user, _made(session, user.name, "session", browser, SESSION)

    def log_out(self, cookie: str) -> None:
        """End a session, if there is one."""
        with self._database.writing() as session:
            session.execute(delete(CredentialRow).where(_is("session", cookie)))

    def log_out_all(self) -> None:
        """End all sessions: everybody logs in again with a token."""
        with self._database.writing() as session:
            session.execute(delete(CredentialRow).where(CredentialRow.kind == "session"))

    def make_token(self, user: str, name: str, lasts: timedelta) -> str:
        """Make another token of a user and return it; nobody can read it again.

        Raises:
            BadUser: there is no such user, the name is empty or too long, or there are too many.
        """
        name, now = " ".join(name.split()), clock.now()
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise BadUser(
                "bad_token_name",
                "The token needs a name." if not name else "The name of the token cannot be used.",
                f"Write what it is for, in 1 to {LONGEST_NAME} characters.",
            )
        with self._database.writing() as session:
            _refuse_unknown(session, user)
            valid = _valid(now, CredentialRow.user == user, CredentialRow.kind == "token")
            if (session.scalar(select(func.count()).where(valid)) or 0) >= MOST_TOKENS:
                raise BadUser(
                    "many_tokens", f"There are {MOST_TOKENS} tokens already.", "End one of them."
                )
            return _made(session, user, "token", name, lasts)

    def credentials(self, user: str, cookie: str = "") -> list[Credential]:
        """Return the tokens and sessions of a user that have not ended, the newest first.

        ``cookie``: of the session that asks.
        """
        wanted = select(CredentialRow).where(_valid(clock.now(), CredentialRow.user == user))
        with self._database.reading() as session:
            return [
                Credential(
                    *(row.id, cast(Kind, row.kind), row.name, row.made_at, row.used_at),
                    *(row.ends_at, row.digest == _digest(cookie)),
                )
                for row in session.scalars(wanted.order_by(CredentialRow.made_at.desc()))
            ]

    def end(self, user: str, credential: str) -> bool:
        """End a token or a session of a user at once. False: there is none with this id."""
        named = (CredentialRow.user == user, CredentialRow.id == credential)
        with self._database.erasing() as session:
            ended = delete(CredentialRow).where(*named).returning(CredentialRow.id)
            return session.scalar(ended) is not None

    def rotate(self, name: str) -> str:
        """End all tokens and sessions of a user at once, and return a new token.

        Raises:
            BadUser: there is no such user.
        """
        with self._database.erasing() as session:
            _refuse_unknown(session, name)
            session.execute(delete(CredentialRow).where(CredentialRow.user == name))
            return _made(session, name, "token", "new token", None)

    def _used(self, kind: Kind, secret: str) -> User | None:
        """Return whom a token or cookie lets in, and note that it was used."""
        now = clock.now()
        wanted = (
            select(UserRow.name, UserRow.role, CredentialRow.used_at)
            .join(CredentialRow, CredentialRow.user == UserRow.name)
            .where(_valid(now, _is(kind, secret)))
        )
        with self._database.reading() as session:
            row = session.execute(wanted).first()
            groups = () if row is None else _groups_of(session, row.name)
        if row is None:
            return None
        if row.used_at is None or now - row.used_at >= _NOTED_EVERY:
            # Who only reads must get in also while the database cannot be written.
            with suppress(StoreUnavailable), self._database.writing(REACH_SECONDS) as session:
                noted = update(CredentialRow).where(_is(kind, secret)).values(used_at=now)
                session.execute(noted)
        return User(row.name, cast(Role, row.role), groups)


def _made(session: Session, user: str, kind: Kind, name: str, lasts: timedelta | None) -> str:
    """Make a token or a session, and return the secret; ``lasts``: ``None`` for good."""
    secret, now = secrets.token_urlsafe(32), clock.now()
    session.add(
        CredentialRow(
            digest=_digest(secret),
            id=secrets.token_hex(8),
            kind=kind,
            user=user,
            name=name,
            made_at=now,
            used_at=now if kind == "session" else None,
            ends_at=None if lasts is None else now + lasts,
        )
    )
    return secret


def _is(kind: Kind, secret: str) -> ColumnElement[bool]:
    return and_(CredentialRow.digest == _digest(secret), CredentialRow.kind == kind)


def _valid(now: datetime, *wanted: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(*wanted, or_(CredentialRow.ends_at.is_(None), CredentialRow.ends_at > now))


def _groups_of(session: Session, user: str) -> tuple[str, ...]:
    wanted = select(MemberRow.group).where(MemberRow.user == user).order_by(MemberRow.group)
    return tuple(session.scalars(wanted))


def _members(session: Session, group: str) -> list[str]:
    return list(session.scalars(select(MemberRow.user).where(MemberRow.group == group)))


def _refuse_unknown(session: Session, name: str) -> None:
    if session.get(UserRow, name) is None:
        raise BadUser(
            "no_user", f"There is no user {name!r}.", "esoteric users list shows all of them."
        )


def is_name(name: str) -> bool:
    """Return whether a user can have this name."""
    return _NAME.fullmatch(name) is not None


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
