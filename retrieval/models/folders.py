"""Models outside the checkout: where they are read from, and how PyTorch loads them.

They are in folders, or on a hub. No code in a folder is run, and no pickle is read but BART's.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.weights import damaged, named_on_hub
from retrieval.system.files import digest_of
from retrieval.system.packages import require_models

# Weights are safetensors and the rest is data: no file contains code.
_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}
_PHRASES = ("out of memory", "allocate memory", "not enough memory")  # PyTorch, and the system


@dataclass(frozen=True, slots=True)
class NamedModel:
    """The model that ``variable`` names: a folder, or ``OWNER/NAME`` on the Hugging Face hub."""

    variable: str
    name: str

    def version(self) -> str:
        """Return its name with the beginning of a SHA-256 of all its files.

        Raises:
            ModelUnavailable: it cannot be had.
        """
        return f"{Path(self.name).name} {self.digest()[:8]}"

    def digest(self) -> str:
        """Return one SHA-256 of all its files; raises what ``version`` raises."""
        folder = self._folder()
        files = sorted({path for pattern in _FILES for path in folder.rglob(pattern)})
        lines = "".join(f"{path.relative_to(folder)} {digest_of(path)}\n" for path in files)
        return hashlib.sha256(lines.encode()).hexdigest()

    def load(self, kind: str) -> Any:
        """Return the model, as ``kind`` of sentence-transformers; no code in its files is run.

        Raises:
            ModelUnavailable: it cannot be had or is not of this kind.
        """
        folder = self._folder()
        import sentence_transformers
        import torch

        prepare()
        with failing_as(f"model {self.name}", f"cannot be loaded as a {kind}", self._hint):
            return getattr(sentence_transformers, kind)(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )

    def unavailable(self, what: str) -> ModelUnavailable:
        """Return the error of a model that cannot be used, with what is wrong."""
        return damaged(f"The model {self.name} {what}.", self._hint)

    @property
    def _hint(self) -> str:
        return (
            f"Set {self.variable} to a model of sentence-transformers with weights as safetensors"
            " (docs/settings.md), or unset it."
        )

    def _folder(self) -> Path:
        """Return the folder; a model of the hub is downloaded if it is not in the hub's cache."""
        require_models(f"{self.variable}={self.name}")
        folder = Path(self.name)
        if folder.is_dir():
            if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
                raise self.unavailable("has neither modules.json nor config.json")
            return folder
        found = named_on_hub(self.name, _FILES)
        if found is None:
            raise self.unavailable("is no folder, and cannot be had from the hub")
        return found


@dataclass(frozen=True, slots=True)
class ModelFolders:
    """Folders outside the checkout that models are read from, and models by name.

    ``unpacked``: where the verifier's packaged base weights are unpacked. ``bart``: weights of
    BART or GENRE, which then generate titles instead of the shipped model. ``verifier``: a
    sequence-classification model of Hugging Face, which then labels evidence instead of the
    shipped verifier. ``report``: the models of the ESOTERIC report, for the recipe of this name.
    ``encoder`` and ``reranker``: a bi-encoder and a cross-encoder of sentence-transformers, which
    then take the places of MiniLM and of the relevance model.
    """

    unpacked: Path
    bart: Path | None = None
    verifier: Path | None = None
    report: Path | None = None
    encoder: NamedModel | None = None
    reranker: NamedModel | None = None

    @property
    def networks(self) -> Path:
        """The folder of the converted networks, in 8 bits."""
        return self.unpacked / "networks"


class NotUsable(Exception):
    """A model was loaded and cannot be used; the message says why."""


@contextmanager
def failing_as(model: str, what: str, hint: str, code: str = "model_damaged") -> Iterator[None]:
    """Turn what a library raises in this block into one error.

    ``model``: what it is called, with its folder. ``what`` is said of it before the reason.

    Raises:
        ModelUnavailable: with this hint; or there is too little memory.
    """
    try:
        yield
    except ModelUnavailable:
        raise
    except Exception as error:  # the libraries raise many kinds of errors for damaged files
        if _is_out_of_memory(error):
            raise ModelUnavailable(
                "out_of_memory",
                f"There is not enough memory for the {model}.",
                "End other programs, let fewer processes check claims (each loads its own copy),"
                " or use a smaller model.",
            ) from error
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise ModelUnavailable(code, f"The {model} {what}: {reason}.", hint) from error


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
