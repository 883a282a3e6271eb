"""What is asked for in the query of an address: read in one way for all listings and exports."""

from __future__ import annotations

from http import HTTPStatus
from typing import TypeVar

from flask import request
from pydantic import BaseModel, ValidationError

from app.http.errors import RequestRefused
from retrieval.errors import Problem

Asked = TypeVar("Asked", bound=BaseModel)

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
        problem = Problem(
            _CODES.get(name, "bad_filter"),
            f"The value of {name!r} is not valid.",
            _allowed(kind, name),
        )
        raise RequestRefused(HTTPStatus.BAD_REQUEST, problem) from error


def asked_by_person(kind: type[Asked]) -> Asked:
    """Return the query of this request; what has a wrong value counts as left out."""
    given = request.args.to_dict()
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors()}
        return kind.model_validate({name: given[name] for name in given if name not in wrong})


def pages_of(total: int, size: int) -> int:
    """Return how many pages of ``size`` there are; the first is there also if it is empty."""
    return max(1, -(-total // size))


def _allowed(kind: type[BaseModel], name: str) -> str:
    values = kind.model_json_schema()["properties"][name]
    if "enum" in values:
        return f"Use one of: {', '.join(filter(None, values['enum']))}."
    most = values.get("maximum", values.get("exclusiveMaximum", 0) - 1)
    return f"Use a whole number from {values['minimum']} to {most}."
