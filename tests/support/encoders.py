"""A deterministic encoder for tests that are not about meaning."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.models.encoders import DocumentEncoder, EncodableDocument, TextEncoder


class WordEncoder:
    """Counts words in hashed buckets: texts are similar where they share words."""

    name = "words"
    query_encoder = name
    dimension = 384

    def warm_up(self) -> None:
        """Nothing to load."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of hashed word counts."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.casefold().replace(".", " ").replace("?", " ").split():
                row[zlib.crc32(word.encode()) % self.dimension] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(norms == 0, 1, norms)

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return what ``encode`` says of the documents and of each sentence alone."""
        whole = self.encode([f"{document.title}. {document.text}" for document in documents])
        parts = [
            self.encode([document.text[start:end] for start, end in document.sentences])
            for document in documents
        ]
        return whole, parts


_: TextEncoder = WordEncoder()
__: DocumentEncoder = WordEncoder()
