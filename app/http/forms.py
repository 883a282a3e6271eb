"""The body of a request to a page, as a form."""

from __future__ import annotations

from http import HTTPStatus

from flask import request

from app.http.errors import RequestRefused
from retrieval.errors import Problem

_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def refuse_unless_form(hint: str) -> None:
    """Refuse a request whose body is no form; ``hint``: what a program can do instead.

    Raises:
        RequestRefused: it is none.
    """
    if request.mimetype not in _FORM_TYPES:
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Problem("unsupported_media_type", "This address accepts only a form.", hint),
        )
