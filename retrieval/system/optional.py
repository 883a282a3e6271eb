"""Packages that the service does without: what needs them says so before it imports them."""

from __future__ import annotations

from importlib.util import find_spec

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import install_models_command, install_research_command

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
    _require(_RESEARCH, use, install_research_command())


def _require(packages: tuple[str, ...], use: str, command: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise ModelUnavailable(
            "package_missing",
            f"{use} needs {', '.join(missing)}, which {verb} not installed.",
            f"Run: {command}",
        )
