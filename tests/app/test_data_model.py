"""The description of the claim document in ``docs/data-model.md`` equals that of the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from retrieval.result import ClaimResult
from retrieval.types import FoundBy
from settings import CHECKOUT


def rows(model: type[BaseModel], place: str = "") -> Iterator[str]:
    """Yield a row for each field of a model, and below it a row for each field of nested models."""
    for name, field in model.model_fields.items():
        yield f"| `{place}{name}` | {' '.join((field.description or '').split())} |"
        for part in get_args(field.annotation) or [field.annotation]:
            if is_model(part):
                many = "[]" if ... in get_args(field.annotation) else ""
                yield from rows(part, f"{place}{name}{many}.")


def is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)


def test_every_field_is_described_as_in_the_model_and_nothing_else_is() -> None:
    text = (CHECKOUT / "docs" / "data-model.md").read_text(encoding="utf-8")
    section = text.split("## The claim document")[1].split("\n## ")[0]
    described = [line for line in section.splitlines() if line.startswith("| `")]
    assert described == list(rows(ClaimResult))


def test_every_value_of_found_by_is_described() -> None:
    (row,) = (row for row in rows(ClaimResult) if row.startswith("| `documents[].found_by`"))
    assert all(f"`{name}`" in row for name in get_args(FoundBy))
