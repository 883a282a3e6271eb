"""Imports libraries without PyTorch, which they import whenever it is installed.

Haystack and spaCy's thinc import it for parts that are not used here, which takes a second and
180 MB. Checking claims does not need it (``retrieval/models/networks.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def leave_out_torch() -> Iterator[None]:
    """Hide PyTorch from imports in this block, unless it is already imported."""
    modules: dict[str, Any] = sys.modules
    if "torch" in modules:
        yield
        return
    modules["torch"] = None  # which makes Python raise ImportError
    try:
        yield
    finally:
        del modules["torch"]
