"""The one rule for text that is stored, whoever sent it.

PostgreSQL takes no NUL, and no database takes half of a surrogate pair, which UTF-8 cannot encode.
Each becomes U+FFFD, so that a text keeps its length, and places in it stay right.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Dialect, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

_REFUSED = re.compile("[\0\ud800-\udfff]")


def storable(value: Any) -> Any:
    """Return a text, or a value of JSON with all its texts, as every database takes it."""
    if isinstance(value, str):
        return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(name): storable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [storable(one) for one in value]
    return value


class StoredText(TypeDecorator[str]):
    """A column of text; also what it is compared with goes by the rule."""

    impl = Text
    cache_ok = True

    def __init__(self, length: int | None = None) -> None:
        """``length``: of the longest text, for those that are short."""
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type that the database knows."""
        return Text() if self.length is None else String(self.length)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text as the database stores it."""
        return None if value is None else str(storable(value))
