"""The encoders of an index's vectors, by the names that users choose them by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.errors import IndexUnavailable
from retrieval.fixes import esoteric_command

if TYPE_CHECKING:
    from retrieval.encoders.encoder import DocumentEncoder

DEFAULT_ENCODER = "minilm"
NO_ENCODER = "none"
DPR_ENCODER = "dpr"
_STATIC = "static"


def _minilm(_: Path | None) -> DocumentEncoder:
    from retrieval.encoders.minilm_encoder import MiniLMEncoder

    return MiniLMEncoder()


def _static(_: Path | None) -> DocumentEncoder:
    from retrieval.encoders.static_encoder import StaticEncoder
    from retrieval.models import STATIC

    return StaticEncoder(STATIC)


def _dpr(report: Path | None) -> DocumentEncoder:
    from retrieval.encoders.dpr_encoder import DprDocumentEncoder
    from retrieval.report.models import named_folder

    return DprDocumentEncoder(named_folder(report))


# Each is made with the folder of the ESOTERIC report's models, and raises ``ModelUnavailable``
# if its own model is missing or damaged.
DOCUMENT_ENCODERS: dict[str, Callable[[Path | None], DocumentEncoder]] = {
    DEFAULT_ENCODER: _minilm,
    _STATIC: _static,
    DPR_ENCODER: _dpr,
}


def choice_of(name: str) -> str:
    """Return the user's name of the encoder that ``IndexInfo.encoder`` or ``Index.open`` names.

    No file is read, so that hints can use it even if files are damaged. For an unknown name it
    returns that of the default encoder.
    """
    if not name:
        return NO_ENCODER
    if name.startswith(f"{DPR_ENCODER}-"):
        return DPR_ENCODER
    return _STATIC if name.startswith(f"{_STATIC} ") else DEFAULT_ENCODER


def encoder_of(name: str, report: Path | None) -> DocumentEncoder | None:
    """Return the encoder that ``IndexInfo.encoder`` names; no weights are loaded.

    ``report`` is the folder of the ESOTERIC report's models, if there is one.

    Raises:
        IndexUnavailable: its vectors are of an encoder that this version does not have.
        ModelUnavailable: an encoder's folder is missing or damaged.
    """
    if not name:
        return None
    encoder = DOCUMENT_ENCODERS[choice_of(name)](report)
    if encoder.name == name:
        return encoder
    raise IndexUnavailable(
        "encoder_unknown",
        f"The index has vectors of {name}, which this version does not have.",
        f"Run: {esoteric_command(f'index encode --vectors {choice_of(name)}')}",
    )
