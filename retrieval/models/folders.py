"""Where models outside the checkout are read from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.models.named_model import NamedModel


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
