"""What a document is credited to, as pages show it."""

from __future__ import annotations

import re

from app.contexts import Credit
from app.wording import day

_FILE = re.compile(r"(?P<name>.+?)(?:, page \d+)?, modified on (?P<day>\d{4}-\d\d-\d\d)", re.DOTALL)


def credit_item(credit: str) -> Credit | None:
    """Return the credit of a document; ``None`` if it is not known.

    The page of a file is left out: what is credited says it already.
    """
    if found := _FILE.fullmatch(credit):
        return Credit(found["name"], day(found["day"]))
    return Credit(credit, None) if credit else None
