"""The body of a request to the API, as JSON."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from flask import request
from pydantic import ValidationError

from app.http.errors import RequestRefused
from retrieval.errors import Problem

# Each that is unknown takes a kilobyte until it is refused.
_MOST_KEYS = 100


def json_body(example: str) -> Any:
    """Return the value of the body; ``example`` is one that would be right.

    Raises:
        RequestRefused: it is not declared as JSON, or is none.
    """
    if request.mimetype != "application/json":
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Problem(
                "unsupported_media_type",
                "The body is not declared as JSON.",
                "Send it with the header Content-Type: application/json.",
            ),
        )
    try:
        body = json.loads(request.get_data(cache=False).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RequestRefused(
            HTTPStatus.BAD_REQUEST,
            Problem(
                "malformed_json",
                "The body is not JSON in UTF-8.",
                f"Send an object like {example}.",
            ),
        ) from error
    if isinstance(body, dict) and len(body) > _MOST_KEYS:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            Problem(
                "bad_body",
                f"The body has more than {_MOST_KEYS} keys.",
                f"Send an object like {example}.",
            ),
        )
    return body


def wrong_in(error: ValidationError) -> str:
    """Return what is wrong with a body that is JSON, but not of the form that is expected."""
    first = error.errors()[0]
    if not first["loc"]:
        return "The body is not an object."
    key, *inside = first["loc"]
    if first["type"] == "extra_forbidden":
        return f"The body has an unknown key: {str(key)[:80]!r}."
    if first["type"] == "missing":
        return f"The body has no key {key!r}."
    number = f"{inside[0] + 1} " if inside and isinstance(inside[0], int) else ""
    return f"The value {number}of {key!r} is not what is expected."
