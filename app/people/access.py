"""Who may do what: one table has the role that every route needs.

| rule | who |
|---|---|
| anybody | also who has not logged in |
| reader | may see what is hers or shared with her (``app.people.sharing``) |
| checker | may also submit claims, and change what is her own (``app.people.visitor.may_change``) |
| operator | may do everything |

What an address names is looked for only if the asker may see it (``app.people.sharing``). A view
that changes a claim, a list or feedback also calls ``app.people.visitor.refuse_others``, and one
that lists them asks for what ``app.people.visitor.viewer`` may see. A route that is not in the
table is for operators. Without ``ESOTERIC_ACCESS`` everybody on this machine may use every route;
where it is ``open``, everybody is a checker.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal, TypeAlias

from flask import Flask, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.http.errors import RequestRefused, wants_json
from app.http.request_log import log_user
from app.people.asker import STRANGER, Asker, asker, logs_users_in
from app.people.sharing import refuse_unseen
from app.people.visitor import visitor
from app.services import services
from retrieval.errors import Problem
from worker.user_store import ROLES, is_name

Rule: TypeAlias = Literal["anybody", "reader", "checker", "operator"]

# Which views, by their blueprints.
_VIEWS: Mapping[Rule, Mapping[str, str]] = {
    "anybody": {"health": "healthz readyz", "login": "show log_in log_out"},
    "reader": {
        "pages": "home claim picture help_page history to_history",
        "box": "says",
        "selection": "selected",
        "yours": "export",
        "account": "show make end",
        "files": "show",
        "compare": "compare recipes",
        "feedback": "page",
        "lists": "lists claims row feed",
        "texts": "form",
        "corpora": "documents corpus text",
        "api_page": "api client openapi",
        "api": "claims claim progress events export_claim recipes",
        "api_comparisons": "comparison export",
        "api_feedback": "listed export one",
        "api_lists": "status events results export_list",
        "api_corpora": "listed show",
        "health": "metrics",
    },
    "checker": {
        "pages": "submit cancel delete search_on",
        "yours": "delete",
        "sharing": "switch share",
        "compare": "submit stop rename delete",
        "feedback": "give delete",
        "lists": "submit edit pause go_on cancel delete",
        "texts": "read check",
        # Who may change documents, app.documents.uploading says: operators, where users log in.
        "corpora": "make upload remove_file rename index_again remove clear_kept",
        "api": "submit cancel",
        "api_feedback": "give delete",
        "api_lists": "submit pause go_on cancel",
        "api_comparisons": "stop",
        "api_texts": "read",
        "api_corpora": "make upload remove_file rename index_again remove",
    },
    "operator": {"account": "rotate"},
}
RULES: dict[str, Rule] = {"static": "anybody"}
RULES |= {
    f"{blueprint}.{view}": rule
    for rule, blueprints in _VIEWS.items()
    for blueprint, views in blueprints.items()
    for view in views.split()
}
SESSION_COOKIE = "esoteric_session"
_LOG_IN = {"WWW-Authenticate": "Bearer"}


def install_access(app: Flask) -> None:
    """Find out who sends each request, and refuse what they may not do."""

    @app.before_request
    def decide() -> ResponseReturnValue | None:
        endpoint = request.endpoint
        rule = "reader" if endpoint is None else _rule(endpoint)
        if rule == "anybody":
            return None
        g.asker = _identified()
        if endpoint is None:
            return None  # there is nothing at this address, and a page says so
        log_user(asker().name)
        if asker().role is None:
            return _ask_to_log_in()
        if not _may(rule):
            raise _not_allowed(rule)
        refuse_unseen()
        return None


def allowed(endpoint: str) -> bool:
    """Return whether this asker may use a route; pages show nothing that leads to another one."""
    return _may(_rule(endpoint))


def refuse_readers() -> None:
    """Refuse what only part of a route does, if a checker may do it and a reader may not.

    Raises:
        RequestRefused: a reader asks.
    """
    if not _may("checker"):
        raise _not_allowed("checker")


def lists_all() -> bool:
    """Return whether this asker may list the feedback of everybody."""
    return listed_owner() is None


def listed_owner() -> str | None:
    """Return whose feedback this asker may list; ``None``: that of everybody."""
    private = logs_users_in() and asker().role != "operator"
    return visitor() if private else None


def _identified() -> Asker:
    settings, users = services().settings, services().users
    if settings.access is None:
        return Asker(None, "operator")
    if settings.access == "open":
        return Asker(None, "checker")
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    bearer = users.with_token(token.strip()) if kind.casefold() == "bearer" else None
    if bearer is not None or (kind and settings.access == "tokens"):
        user = bearer  # a proxy may send a token of its own, which is none of ours
    elif settings.access == "tokens":
        user = users.with_cookie(request.cookies.get(SESSION_COOKIE, ""))
    else:
        # app.http.proxies has removed the header from requests that do not come from a proxy.
        name = request.headers.get(settings.user_header, "")
        if not is_name(name):
            return STRANGER
        user = users.named(name)
        if user is None:
            return Asker(name, "checker")
    return STRANGER if user is None else Asker(user.name, user.role, user.groups)


def _rule(endpoint: str) -> Rule:
    return RULES.get(endpoint, "operator")


def _may(rule: Rule) -> bool:
    role = asker().role
    return rule == "anybody" or (role is not None and ROLES.index(role) >= ROLES.index(rule))


def _ask_to_log_in() -> ResponseReturnValue:
    access = services().settings.access
    if access == "tokens" and request.method == "GET" and not wants_json():
        return redirect(url_for("login.show", next=request.full_path), HTTPStatus.SEE_OTHER)
    hint = (
        "Send the header Authorization: Bearer TOKEN, or set ESOTERIC_TOKEN for the command"
        " esoteric; `esoteric users add` makes a token."
    )
    if not wants_json():
        hint = "Log in, and try again." if access == "tokens" else "Open it through your proxy."
    said = "Only users who have logged in may do this."
    if request.headers.get("Authorization"):
        services().limits.failed_login()
        said = "No user has this token. It may have been removed."
        hint = "Ask the operator for a new one."
    raise RequestRefused(
        HTTPStatus.UNAUTHORIZED,
        Problem("not_logged_in", said, hint),
        _LOG_IN,
    )


def _not_allowed(rule: Rule) -> RequestRefused:
    who = "an operator" if rule == "operator" else "a checker"
    problem = Problem(
        "not_allowed",
        f"Only {who} may do this.",
        "Ask the operator of this service for another role.",
    )
    return RequestRefused(HTTPStatus.FORBIDDEN, problem)
