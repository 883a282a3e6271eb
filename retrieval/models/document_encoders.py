"""The encoders of an index's vectors, by the names that users choose them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.models.folders import ModelFolders
from retrieval.system.fixes import esoteric_command
from retrieval.system.packages import require_models

if TYPE_CHECKING:
    from retrieval.models.encoders import DocumentEncoder, TextEncoder
    from retrieval.models.own_models import OwnEncoder

DEFAULT_ENCODER = "minilm"
NO_ENCODER = "none"
DPR_ENCODER = "dpr"
OWN_ENCODER = "own"
_STATIC = "static"


def _minilm(_: ModelFolders) -> DocumentEncoder:
    from retrieval.models.encoders import MiniLMEncoder

    return MiniLMEncoder()


def _static(_: ModelFolders) -> DocumentEncoder:
    require_models("The encoder static")
    from retrieval.models.shipped import STATIC
    from retrieval.models.static_encoder import StaticEncoder

    return StaticEncoder(STATIC)


def _dpr(folders: ModelFolders) -> DocumentEncoder:
    require_models("The encoder dpr")
    from retrieval.models.papers.report_models import named_folder
    from retrieval.models.papers.report_networks import DprDocumentEncoder

    return DprDocumentEncoder(named_folder(folders.report))


def _own(folders: ModelFolders) -> OwnEncoder:
    from retrieval.models.own_models import OwnEncoder

    if folders.encoder is None:
        raise ModelUnavailable(
            "encoder_unset",
            "ESOTERIC_ENCODER names no encoder.",
            "Set it to a model of sentence-transformers (docs/settings.md).",
        )
    return OwnEncoder(folders.encoder, f"{OWN_ENCODER} ")


# Each raises ``ModelUnavailable`` if its own model is missing or damaged.
DOCUMENT_ENCODERS: dict[str, Callable[[ModelFolders], DocumentEncoder]] = {
    DEFAULT_ENCODER: _minilm,
    _STATIC: _static,
    DPR_ENCODER: _dpr,
    OWN_ENCODER: _own,
}


def default_choice(folders: ModelFolders) -> str:
    """Return the encoder of an index that is built without another choice."""
    return DEFAULT_ENCODER if folders.encoder is None else OWN_ENCODER


def text_encoder(folders: ModelFolders) -> TextEncoder:
    """Return what compares texts: the user's encoder if there is one, otherwise MiniLM.

    Raises:
        ModelUnavailable: the user's cannot be had.
    """
    if folders.encoder is not None:
        return _own(folders)
    from retrieval.models.encoders import MiniLMEncoder

    return MiniLMEncoder()


def choice_of(name: str) -> str:
    """Return the user's name of the encoder that ``IndexInfo.encoder`` or ``Index.open`` names.

    No file is read, so that hints can use it even if files are damaged. For an unknown name it
    returns that of the default encoder.
    """
    if not name:
        return NO_ENCODER
    if name.startswith(f"{DPR_ENCODER}-"):
        return DPR_ENCODER
    prefixed = (choice for choice in (_STATIC, OWN_ENCODER) if name.startswith(f"{choice} "))
    return next(prefixed, DEFAULT_ENCODER)


def encoder_of(name: str, folders: ModelFolders) -> DocumentEncoder | None:
    """Return the encoder that ``IndexInfo.encoder`` names; no weights are loaded.

    Raises:
        IndexUnavailable: its vectors are of an encoder that this version does not have.
        ModelUnavailable: an encoder's folder is missing or damaged.
    """
    if not name:
        return None
    encoder = DOCUMENT_ENCODERS[choice_of(name)](folders)
    if encoder.name == name:
        return encoder
    raise IndexUnavailable(
        "encoder_unknown",
        f"The index has vectors of {name}, which this version does not have."
        if choice_of(name) != OWN_ENCODER
        else f"The index has vectors of {name}, and ESOTERIC_ENCODER names {encoder.name}.",
        f"Run: {esoteric_command(f'index encode --vectors {choice_of(name)}')}",
    )
