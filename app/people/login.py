"""Logging in with a token, and out."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.api.openapi import describe
from app.contexts import render
from app.http.errors import RequestRefused
from app.people.access import SESSION_COOKIE
from app.people.asker import Asker
from app.people.contexts import LoginPage
from app.services import services
from retrieval.errors import Problem
from worker.user_store import SESSION

blueprint = Blueprint("login", __name__)

_WRONG_TOKEN = Problem(
    "wrong_token",
    "No user has this token.",
    "Copy it again, without spaces. If it is lost, ask the operator for a new one.",
)
# What stands in a User-Agent; several do, so the first that does counts.
_BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS = {
    "iPhone": "an iPhone",
    "iPad": "an iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@blueprint.get("/login")
@describe(HTTP_200=(None, "The page"), HTTP_404=(None, "Nobody logs in here"))
def show() -> ResponseReturnValue:
    """Ask for the token."""
    _check_mode()
    return render(LoginPage(_next(request.args.get("next", "")), None))


@blueprint.post("/login")
@describe(
    HTTP_303=(None, "The page that was asked for"),
    HTTP_401=(None, "The page again: wrong token"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "Nobody logs in here"),
    HTTP_429=(None, "Too many tries"),
)
def log_in() -> ResponseReturnValue:
    """Begin a session and redirect to the page that was asked for."""
    _check_mode()
    then = _next(request.form.get("next", ""))
    found = services().users.log_in(request.form.get("token", "").strip(), _browser())
    if found is None:
        services().limits.failed_login()  # others at its address can still log in
        return render(LoginPage(then, _WRONG_TOKEN)), HTTPStatus.UNAUTHORIZED
    user, cookie = found
    g.asker = Asker(user.name, user.role)  # for the audit log
    response = redirect(then, HTTPStatus.SEE_OTHER)
    response.set_cookie(
        SESSION_COOKIE,
        cookie,
        max_age=SESSION,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response


@blueprint.post("/logout")
@describe(
    HTTP_303=(None, "The page to log in"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "Nobody logs in here"),
)
def log_out() -> ResponseReturnValue:
    """End the session."""
    _check_mode()
    cookie = request.cookies.get(SESSION_COOKIE, "")
    user = services().users.with_cookie(cookie)
    if user is not None:
        g.asker = Asker(user.name, user.role)  # for the audit log
    services().users.log_out(cookie)
    response = redirect(url_for(".show"), HTTPStatus.SEE_OTHER)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="Lax", secure=request.is_secure)
    return response


def _browser() -> str:
    """Return what people call the browser that sends this request, such as “Firefox on Linux”."""
    agent = request.user_agent.string
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "A browser")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    return f"{browser} on {system}" if system else browser


def _check_mode() -> None:
    if services().settings.access != "tokens":
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem("no_login", "Nobody logs in here.", "Start at the first page."),
        )


def _next(asked: str) -> str:
    """Return the address on this server to go to; no other site can be named."""
    own = asked.startswith("/") and not asked.startswith(("//", "/\\"))
    return asked if own and asked.isprintable() else url_for("pages.home")
