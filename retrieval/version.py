"""Which version of ESOTERIC this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def esoteric_version() -> str:
    """Return the version of the installed package, "" where the code runs from a folder alone."""
    try:
        return version("esoteric")
    except PackageNotFoundError:
        return ""
