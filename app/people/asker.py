"""Who sends this request: a user, or a client that is known by its address alone."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from dataclasses import dataclass

from flask import g, request

from app.services import services
from retrieval.system.files import home_key
from worker.user_store import Role, owner_of

# Used as long as the home cannot be written.
_KEY_OF_THE_PROCESS = secrets.token_bytes(32)
# A network of IPv6 that one household or one machine gets.
_ONE_CLIENT = 64


@dataclass(frozen=True, slots=True)
class Asker:
    """``name``: of a user who has logged in, who is in the ``groups``.

    ``role``: ``None`` for who must log in first.
    """

    name: str | None
    role: Role | None
    groups: tuple[str, ...] = ()


STRANGER = Asker(None, None)


def asker() -> Asker:
    """Return who sends this request, as ``app.people.access`` has found out."""
    found: Asker = g.get("asker", STRANGER)
    return found


def is_operator() -> bool:
    """Return whether an operator who has logged in sends this request."""
    return asker().name is not None and asker().role == "operator"


def user_as_owner() -> str | None:
    """Return the owner of what a user who has logged in submits, in whatever browser."""
    name = asker().name
    return None if name is None else owner_of(name)


def logs_users_in() -> bool:
    """Return whether users log in here: with a token, or at a proxy."""
    return services().settings.access in ("tokens", "proxy")


def client() -> str:
    """Return who is counted for limits and turns: the user, or a digest of the address.

    It is the same in all processes of a home, and cannot be computed without the key there.
    """
    return user_as_owner() or hmac.digest(_key(), _network().encode(), "sha256").hex()


def _key() -> bytes:
    try:
        return home_key(services().settings.home, "clients")
    except OSError:
        return _KEY_OF_THE_PROCESS


def _network() -> str:
    address = request.remote_addr or ""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        return str(ipaddress.ip_network((found, _ONE_CLIENT), strict=False))
    return address
