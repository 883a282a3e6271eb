"""The audit log: who did what to which claim, and what was refused; one line of JSON each.

It is a part of the log of the web server. It has no text of a claim and no cookie. A browser that
has not logged in appears as ``visitor`` and the first eight characters of its cookie's digest.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from flask import Flask, Response, request

from app.people.asker import asker
from app.people.visitor import visitor
from worker.logs import Facts

logger = logging.getLogger("audit")
_READING = ("GET", "HEAD", "OPTIONS")
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


def install_audit(app: Flask) -> None:
    """Write a line after every request that may change something, or that was refused."""

    @app.after_request
    def write(response: Response) -> Response:
        changes = request.method not in _READING and request.endpoint is not None
        if changes or response.status_code in _REFUSED:
            line = {
                "who": _who(),
                "did": request.endpoint,
                "claim": _claim(response),
                "what": _what(),
                "status": response.status_code,
                "from": request.remote_addr,
            }
            logger.info(Facts({key: value for key, value in line.items() if value}))
        return response


def _who() -> str:
    owner = visitor()
    return asker().name or (f"visitor {owner[:8]}" if owner else "nobody")


def _what() -> str:
    """Return the id of the list or feedback, the name of the corpus, or what is shared."""
    named = request.view_args or {}
    ids = [named[one] for one in ("list_id", "feedback_id", "name", "which") if one in named]
    return str(ids[0])[:64] if ids else ""


def _claim(response: Response) -> str:
    named = (request.view_args or {}).get("job_id")
    if named is not None:
        return str(named)[:32]
    place = response.headers.get("Location", "")  # of a claim that was submitted
    return place.rpartition("/claims/")[2] if "/claims/" in place else ""
