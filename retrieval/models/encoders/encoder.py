"""The interfaces of the encoders of the pipeline and the index builder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EncodableDocument:
    """A document to encode; ``sentences`` are (start, end) offsets into ``text``, in order."""

    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]


class TextEncoder(Protocol):
    """Turns texts into unit vectors whose dot product is their similarity."""

    name: str

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""
        ...

    def warm_up(self) -> None:
        """Load the weights; cheap if they are loaded already."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape ``(len(texts), dimension)`` of unit vectors."""
        ...


class DocumentEncoder(Protocol):
    """Turns documents into unit vectors; it must pickle.

    ``query_encoder`` names the text encoder whose vectors its own are compared with.
    """

    name: str
    query_encoder: str

    @property
    def dimension(self) -> int:
        """The numbers of a vector."""
        ...

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return unit vectors of the documents and of the sentences of each.

        Shapes ``(len(documents), dimension)`` and, for each document,
        ``(len(document.sentences), dimension)``.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        ...
