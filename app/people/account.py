"""The page of a user: what lets her in, each of which she can end; new tokens; her groups.

A token is shown once, in the answer to the request that makes it.
"""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import describe
from app.contexts import render
from app.http.errors import RequestRefused
from app.people.access import SESSION_COOKIE
from app.people.asker import asker, is_operator
from app.people.contexts import AccountPage, NewToken
from app.people.sharing import groups_to_share_with
from app.services import services
from retrieval.errors import Problem
from worker.user_store import LONGEST_NAME, BadUser

blueprint = Blueprint("account", __name__, url_prefix="/account")

DAYS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year"}


class TokenForm(Model):
    """A new token."""

    name: str
    """What it is for."""
    days: str
    """For how many days it lets its user in: 7, 30, 90 or 365."""


class EndForm(Model):
    """A token or a session."""

    id: str
    """Its id."""


class UserForm(Model):
    """A user."""

    user: str
    """The name."""


@blueprint.get("")
@describe(HTTP_200=(None, "The page"), HTTP_404=(None, "Nobody logs in here"))
def show() -> Response:
    """Show the tokens and sessions of the user, and to operators all users."""
    return _page()


@blueprint.post("/tokens")
@describe(
    form=TokenForm,
    HTTP_200=(None, "The page, with the token"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "Nobody logs in here"),
    HTTP_422=(None, "The page, with what is wrong"),
)
def make() -> Response:
    """Make a token that ends by itself, and show it once."""
    name, days = request.form.get("name", ""), request.form.get("days", "")
    try:
        if days not in DAYS:
            raise BadUser("bad_days", "It is not said how long the token lasts.", "Choose a time.")
        token = services().users.make_token(_user(), name, timedelta(days=int(days)))
    except BadUser as error:
        page = _page(problem=error.problem, typed=name)
        page.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return page
    return _page(made=NewToken(f"the token “{' '.join(name.split())}”", token))


@blueprint.post("/end")
@describe(
    form=EndForm,
    HTTP_303=(None, "The page; the one to log in if this browser is logged out"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "Nobody logs in here"),
)
def end() -> BaseResponse:
    """End a token or a session of the user at once."""
    services().users.end(_user(), request.form.get("id", ""))
    return redirect(url_for(".show"), HTTPStatus.SEE_OTHER)


@blueprint.post("/rotate")
@describe(
    form=UserForm,
    HTTP_200=(None, "The page, with the token"),
    HTTP_403=(None, "From another site, or not an operator"),
    HTTP_404=(None, "Nobody logs in here"),
    HTTP_422=(None, "The page: there is no such user"),
)
def rotate() -> Response:
    """End all tokens and sessions of a user at once, and show a new token once."""
    user = request.form.get("user", "")
    try:
        token = services().users.rotate(user)
    except BadUser as error:
        page = _page(problem=error.problem)
        page.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return page
    return _page(made=NewToken(f"the new token of {user}", token))


def _user() -> str:
    """Return who asks.

    Raises:
        RequestRefused: nobody logs in here.
    """
    name = asker().name
    if name is None:
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem("no_login", "Nobody logs in here.", "Start at the first page."),
        )
    return name


def _page(
    made: NewToken | None = None, problem: Problem | None = None, typed: str = ""
) -> Response:
    user, users = _user(), services().users
    offered = groups_to_share_with()
    found = users.credentials(user, request.cookies.get(SESSION_COOKIE, ""))
    page = AccountPage(
        role=asker().role or "",
        made=made,
        problem=problem,
        tokens=tuple(one for one in found if one.kind == "token"),
        sessions=tuple(one for one in found if one.kind == "session"),
        known=users.named(user) is not None,
        typed=typed,
        longest_name=LONGEST_NAME,
        days=DAYS,
        groups={name: who for name, who in users.groups().items() if name in offered},
        users=tuple(users.all()) if is_operator() else (),
    )
    # Nobody keeps a page with a token.
    return Response(render(page), headers={"Cache-Control": "no-store"}, mimetype="text/html")
