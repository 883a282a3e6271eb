"""What is asked for in the query of an address, in a form, or in a body of JSON."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, TypeVar

from flask import request
from pydantic import BaseModel, ValidationError

from app.http.errors import refusal

Asked = TypeVar("Asked", bound=BaseModel)

# Each that is unknown takes a kilobyte until it is refused.
_MOST_KEYS = 100
_CODES = {
    "page": "bad_page",
    "limit": "bad_page",
    "since": "bad_since",
    "forget": "bad_forget",
    "format": "unknown_format",
}


def asked_by_program(kind: type[Asked]) -> Asked:
    """Return the query of this request.

    Raises:
        RequestRefused: a value is not allowed; the hint says which are.
    """
    try:
        return kind.model_validate(request.args.to_dict())
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        code, wrong = _CODES.get(name, "bad_filter"), f"The value of {name!r} is not valid."
        raise refusal(HTTPStatus.BAD_REQUEST, code, wrong, _allowed(kind, name)) from error


def asked_by_person(kind: type[Asked]) -> Asked:
    """Return the query of this request; what has a wrong value counts as left out."""
    given = request.args.to_dict()
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors()}
        return kind.model_validate({name: given[name] for name in given if name not in wrong})


def asked_in_json(kind: type[Asked], example: str, code: str = "bad_body", hint: str = "") -> Asked:
    """Return the value of the body; ``example`` is one that would be right.

    ``code``, ``hint``: of the problem of a body that is JSON, but of another form.

    Raises:
        RequestRefused: it is not declared as JSON, is none, or is not of this form.
    """
    body = json_body(example)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        hint = hint or f"Send an object like {example}."
        raise refusal(HTTPStatus.UNPROCESSABLE_ENTITY, code, _wrong_in(error), hint) from error


def json_body(example: str) -> Any:
    """Return the value of the body; ``example`` is one that would be right.

    Raises:
        RequestRefused: it is not declared as JSON, or is none.
    """
    if request.mimetype != "application/json":
        raise refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "The body is not declared as JSON.",
            "Send it with the header Content-Type: application/json.",
        )
    try:
        body = json.loads(request.get_data(cache=False).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise refusal(
            HTTPStatus.BAD_REQUEST,
            "malformed_json",
            "The body is not JSON in UTF-8.",
            f"Send an object like {example}.",
        ) from error
    if isinstance(body, dict) and len(body) > _MOST_KEYS:
        raise refusal(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "bad_body",
            f"The body has more than {_MOST_KEYS} keys.",
            f"Send an object like {example}.",
        )
    return body


def _wrong_in(error: ValidationError) -> str:
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


def refuse_unless_form(hint: str) -> None:
    """Refuse a request to a page whose body is no form; ``hint``: what a program can do instead.

    Raises:
        RequestRefused: it is none.
    """
    if request.mimetype not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        code, said = "unsupported_media_type", "This address accepts only a form."
        raise refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, code, said, hint)


def numbers_of(total: int, page: int, size: int) -> dict[str, int]:
    """Return the numbers of a page of ``size`` in an answer to a program."""
    return {"total": total, "page": page, "pages": pages_of(total, size)}


def pages_of(total: int, size: int) -> int:
    """Return how many pages of ``size`` there are; the first is there also if it is empty."""
    return max(1, -(-total // size))


def _allowed(kind: type[BaseModel], name: str) -> str:
    values = kind.model_json_schema()["properties"][name]
    if "enum" in values:
        return f"Use one of: {', '.join(filter(None, values['enum']))}."
    most = values.get("maximum", values.get("exclusiveMaximum", 0) - 1)
    return f"Use a whole number from {values['minimum']} to {most}."
