"""Models of PyTorch from folders. No code in a folder is run, and no pickle is read but BART's."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime

_SAFELY = {"local_files_only": True, "trust_remote_code": False}
_PHRASES = ("out of memory", "allocate memory", "not enough memory")  # PyTorch, and the system


class NotUsable(Exception):
    """A model was loaded and cannot be used; the message says why."""


@contextmanager
def failing_as(unusable: Callable[[str], ModelUnavailable], model: str) -> Iterator[None]:
    """Turn what a library raises in this block into one error.

    Raises:
        ModelUnavailable: what ``unusable`` makes of the reason, or too little memory for ``model``,
            its name with its folder.
    """
    try:
        yield
    except ModelUnavailable:
        raise
    except Exception as error:  # the libraries raise many kinds of errors for damaged files
        if _is_out_of_memory(error):
            raise ModelUnavailable(
                "out_of_memory",
                f"There is not enough memory for {model}.",
                "End other programs, let fewer processes check claims (each loads its own copy),"
                " or use a smaller model.",
            ) from error
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise unusable(reason) from error


def prepare() -> None:
    """Let libraries of Hugging Face compute on the threads of ``runtime`` and print nothing."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    runtime.limit_torch()


def model_in(folder: Path, architecture: str, **options: Any) -> Any:
    """Return the model, of a class of transformers, in float32 if ``options`` names no precision.

    Raises:
        NotUsable: weights are missing, which would be random.

    Also raises whatever the library raises.
    """
    import torch
    import transformers

    prepare()
    given = {"use_safetensors": True, "dtype": torch.float32, **options}
    loaded: Any = getattr(transformers, architecture).from_pretrained(
        folder, output_loading_info=True, **_SAFELY, **given
    )
    model, loading = loaded
    random = sorted({*loading["missing_keys"], *(key[0] for key in loading["mismatched_keys"])})
    if random:
        raise NotUsable(f"its weights lack {', '.join(random[:3])}")
    return model.train(False)


def tokenizer_in(folder: Path, **options: Any) -> Any:
    """Return the folder's tokenizer; raises whatever the library raises."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, **_SAFELY, **options)


def _is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory was too small. PyTorch raises a plain ``RuntimeError`` for it."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(phrase in str(error).lower() for phrase in _PHRASES)
    )
