"""all-MiniLM-L6-v2, the default encoder of questions, claims, sentences and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from retrieval.models.encoders.encoder import EncodableDocument
from retrieval.models.encoders.late_chunking import Window, windows
from retrieval.models.networks.arrays import unit
from retrieval.models.networks.interface import Network
from retrieval.models.networks.minilm import MiniLM
from retrieval.models.networks.network import open_network
from retrieval.models.networks.tokenizer import Tokenizer

_BATCH = 8  # texts in a batch; in larger ones more padding is computed
_WINDOWS = 4  # of a batch: the states of more do not fit into the processor's caches
_TOKENS = 256  # that are read at once, the special ones too (``sentence_bert_config.json``)


class MiniLMEncoder:
    """Sentence-transformers' 384-dimensional MiniLM, on the CPU."""

    name = "all-MiniLM-L6-v2"
    query_encoder = name
    dimension = 384

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        _ = self._network, self._tokenizer

    @cached_property
    def _network(self) -> Network:
        base = MiniLM()
        return open_network("encoder", base, base.weights, "packaged", _TOKENS)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(MiniLM().tokenizer_file(), _TOKENS)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 384)``; texts past 256 tokens are cut."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        rows = self._tokenizer.texts(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._network.states([rows[row] for row in batch]).mean
        return unit(vectors)

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        A document's vector is that of ``encode(["{title}. {text}"])``. Its first 256 tokens are
        read once, and the vector of a sentence is the mean of its tokens' last hidden states there;
        later sentences are read in further windows (``late_chunking``). A sentence without any
        token gets its document's vector.
        """
        whole = np.zeros((len(documents), self.dimension), dtype=np.float32)
        parts = [
            np.zeros((len(document.sentences), self.dimension), dtype=np.float32)
            for document in documents
        ]
        if not documents:
            return whole, parts
        queue = [
            (number, nth == 0, window)
            for number, found in enumerate(self._windows(documents))
            for nth, window in enumerate(found)
        ]
        queue.sort(key=lambda item: -len(item[2].tokens))  # so that little of a batch is padding
        for start in range(0, len(queue), _WINDOWS):
            batch = queue[start : start + _WINDOWS]
            states = self._network.states([self._whole(window) for _, _, window in batch])
            for (number, beginning, window), mean, vectors in zip(
                batch, states.mean, states.vectors, strict=True
            ):
                if beginning:
                    whole[number] = mean
                for sentence in window.sentences:
                    # After [CLS], which is not part of a window.
                    own = vectors[1 + sentence.first : 1 + sentence.last]
                    parts[number][sentence.number] = own.mean(axis=0)
        whole = unit(whole)
        for document, sentences in zip(whole, parts, strict=True):
            sentences[~sentences.any(axis=1)] = document
        return whole, [unit(sentences) for sentences in parts]

    def _windows(self, documents: Sequence[EncodableDocument]) -> Iterator[list[Window]]:
        """Yield the windows of each document."""
        heads = [f"{document.title}. " for document in documents]
        read = self._tokenizer.placed(
            [head + document.text for head, document in zip(heads, documents, strict=True)]
        )
        size = _TOKENS - 2  # the special ones
        for head, document, (tokens, offsets) in zip(heads, documents, read, strict=True):
            sentences = [(len(head) + start, len(head) + end) for start, end in document.sentences]
            yield windows(tokens, offsets, len(head), sentences, size)

    def _whole(self, window: Window) -> list[int]:
        return [self._tokenizer.begin, *window.tokens, self._tokenizer.end]
