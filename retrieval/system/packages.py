"""Packages that the service does without.

What needs them says so before it imports them. PyTorch is also hidden from Haystack and spaCy's
thinc: they import it whenever it is installed, for parts that are not used here, which takes a
second and 180 MB. Checking claims does not need it (``retrieval/models/networks.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import install_extra_command, install_models_command

_MODELS = ("torch", "transformers", "sentence_transformers")
_RESEARCH = ("sklearn", "scipy", "bm25s")


def require_models(use: str) -> None:
    """Check that PyTorch and its models' libraries are installed; nothing is imported.

    ``use`` begins the message: what needs them.

    Raises:
        ModelUnavailable: one is missing.
    """
    _require(_MODELS, use, install_models_command())


def require_research(use: str) -> None:
    """Check that the libraries of baselines and statistics are installed, as ``require_models``."""
    _require(_RESEARCH, use, install_extra_command("research"))


def _require(packages: tuple[str, ...], use: str, command: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise ModelUnavailable(
            "package_missing",
            f"{use} needs {', '.join(missing)}, which {verb} not installed.",
            f"Run: {command}",
        )


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
