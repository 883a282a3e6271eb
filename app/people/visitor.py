"""Who owns what is submitted: a user who has logged in, else one browser.

A browser is known by a cookie that it gets with the first thing that it submits.

The cookie holds random text; the database holds only its digest, so who reads the database or a
backup cannot act as the visitor.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from http import HTTPStatus

from flask import Response, after_this_request, request
from werkzeug.wrappers import Response as BaseResponse

from app.http.errors import RequestRefused
from app.people.asker import asker, logs_users_in, user_as_owner
from retrieval.errors import Problem
from worker.sharing import Viewer

COOKIE = "esoteric_visitor"
# The longest time that browsers keep a cookie; it begins again with each submission.
_KEPT_SECONDS = 400 * 24 * 3600
# What token_urlsafe(32) returns; anything else was not made here and might be guessed.
_MADE_HERE = re.compile(r"[A-Za-z0-9_-]{43}")


def visitor() -> str | None:
    """Return the owner of what the visitor submits; ``None`` for one who has no cookie."""
    user, cookie = user_as_owner(), _cookie()
    return user or (None if cookie is None else _owner(cookie))


def visitor_with_cookie() -> str:
    """Return the owner of what is submitted with this request, whose answer sets the cookie.

    What is refused sets none. Only for pages: a program that keeps no cookies would be a new
    visitor with every request.
    """
    user = user_as_owner()
    if user is not None:
        return user
    cookie = _cookie() or secrets.token_urlsafe(32)

    @after_this_request
    def keep(response: Response) -> Response:
        if response.status_code < HTTPStatus.BAD_REQUEST:
            response.set_cookie(
                COOKIE,
                cookie,
                max_age=_KEPT_SECONDS,
                httponly=True,
                samesite="Lax",
                secure=request.is_secure,
            )
        return response

    return _owner(cookie)


def viewer() -> Viewer:
    """Return who sends this request, as the stores ask for what may be seen."""
    who = asker()
    return Viewer(visitor(), who.role == "operator", not logs_users_in(), who.groups)


def may_change(owner: str | None) -> bool:
    """Return whether the visitor may cancel or delete what belongs to this owner.

    What belongs to nobody may be changed by everybody: a command or a program submitted it. Where
    users log in, only an operator may, who may change everything; a reader changes nothing.
    """
    user = asker()
    if user.name is None:
        return owner is None or owner == visitor()
    return user.role == "operator" or (user.role == "checker" and owner == visitor())


def refuse_others(owner: str | None) -> None:
    """Refuse the request if the visitor may not change what belongs to this owner.

    Raises:
        RequestRefused: it belongs to somebody else.
    """
    if not may_change(owner):
        if asker().name is None:
            who = "its owner"
            hint = "Use the browser that it was submitted with. Everybody may read it."
        else:
            who, hint = "its owner or an operator", "Ask its owner, or an operator."
        raise RequestRefused(
            HTTPStatus.FORBIDDEN,
            Problem(
                "not_yours",
                f"This belongs to somebody else. Only {who} can change it.",
                hint,
            ),
        )


def forget_visitor(response: BaseResponse) -> None:
    """Let the browser forget its cookie; the next thing that it submits is a new visitor's."""
    response.delete_cookie(COOKIE, httponly=True, samesite="Lax", secure=request.is_secure)


def _cookie() -> str | None:
    cookie = request.cookies.get(COOKIE, "")
    return cookie if _MADE_HERE.fullmatch(cookie) else None


def _owner(cookie: str) -> str:
    return sha256(cookie.encode()).hexdigest()
