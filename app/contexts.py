"""Pages whose data is one dataclass, with the fields of its template."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar, Protocol

from flask import render_template


class Page(Protocol):
    """A dataclass with the fields of a template."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    template: ClassVar[str]


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
