"""Distinguishes too little memory from damaged files."""

from __future__ import annotations

import errno

from retrieval.errors import ModelUnavailable

_PHRASES = ("out of memory", "allocate memory", "not enough memory")  # PyTorch, and the system


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory was too small. PyTorch raises a plain ``RuntimeError`` for it."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(phrase in str(error).lower() for phrase in _PHRASES)
    )


def too_little_memory(model: str) -> ModelUnavailable:
    """Return the error of too little memory for ``model``, its name with its folder."""
    return ModelUnavailable(
        "out_of_memory",
        f"There is not enough memory for {model}.",
        "End other programs, let fewer processes check claims (each loads its own copy), or use a"
        " smaller model.",
    )
