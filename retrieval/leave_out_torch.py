"""Imports libraries that would import PyTorch only because it is installed.

Haystack and spaCy's thinc do, for parts of theirs that are not used here. It takes a second and
180 MB. What computes claims needs none of it (``retrieval/networks``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def leave_out_torch() -> Iterator[None]:
    """Let imports in this block find no PyTorch, unless it is imported already."""
    modules: dict[str, Any] = sys.modules
    if "torch" in modules:
        yield
        return
    modules["torch"] = None  # which makes Python raise ImportError
    try:
        yield
    finally:
        del modules["torch"]
