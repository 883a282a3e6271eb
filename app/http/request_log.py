"""What the lines of the log are about: a request, its user, the claim or list that it names."""

from __future__ import annotations

import secrets

from flask import Flask, Response, g, request

from worker.logs import now_about

REQUEST_ID = "X-Request-Id"


def install_request_log(app: Flask) -> None:
    """Give every request an id, which its log lines and its answer have; to be installed first."""

    @app.before_request
    def begin() -> None:
        g.request_id = secrets.token_hex(8)
        log_user(None)

    @app.after_request
    def name(response: Response) -> Response:
        response.headers[REQUEST_ID] = g.request_id
        return response

    @app.teardown_request
    def end(_: BaseException | None) -> None:
        now_about()  # the thread answers other requests


def log_user(user: str | None) -> None:
    """Say in the log who sends this request, once that is known."""
    named = request.view_args or {}
    now_about(
        request=g.request_id,
        user=user,
        claim=_id(named.get("job_id")),
        list=_id(named.get("list_id")),
    )


def _id(value: object) -> str | None:
    return None if value is None else str(value)[:32]
