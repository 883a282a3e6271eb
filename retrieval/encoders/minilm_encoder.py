"""all-MiniLM-L6-v2, the default encoder of questions, claims, sentences and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.encoder import EncodableDocument
from retrieval.encoders.late_chunking import Window, windows
from retrieval.encoders.minilm_weights import minilm_folder

if TYPE_CHECKING:
    from transformers import BertModel, PreTrainedTokenizerBase

_WINDOWS = 32  # that are read together; sorted by length, they pad each other little
_TOKENS = 256  # that are read at once, the special ones too (``sentence_bert_config.json``)


class MiniLMEncoder:
    """Sentence-transformers' 384-dimensional MiniLM, on the CPU.

    It is read without that package, whose import takes seconds. It computes in
    ``fastest_precision``; the vectors come back as float32.
    """

    name = "all-MiniLM-L6-v2"
    meets = name
    dimension = 384

    def __init__(self) -> None:
        """Load nothing yet."""
        self._model: BertModel | None = None

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        self._loaded()

    def _loaded(self) -> tuple[BertModel, PreTrainedTokenizerBase]:
        if self._model is None:
            from transformers import AutoTokenizer, BertModel
            from transformers.utils import logging

            from retrieval.precision import fastest_precision

            logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            folder = minilm_folder()
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = BertModel.from_pretrained(
                folder, dtype=fastest_precision(), local_files_only=True
            )
            self._model = model.train(False)
        return self._model, self._tokenizer

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 384)``; texts past 256 tokens are cut."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        from retrieval.token_batches import STEP, rows_for

        _, tokenizer = self._loaded()
        rows: list[list[int]] = tokenizer(
            list(texts), truncation=True, max_length=_TOKENS, padding=False
        )["input_ids"]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        order = order[:1] * (rows_for(len(order)) - len(order)) + order
        for start in range(0, len(order), STEP):  # of more, the longest would pad too many
            batch = order[start : start + STEP]
            vectors[batch], _ = self._read([rows[row] for row in batch])
        return _unit(vectors)

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        A document's vector is that of ``encode(["{title}. {text}"])``. It is read
        once, up to 256 tokens, and a sentence is the mean of its tokens' last hidden
        states there; sentences beyond them are read in windows of their own
        (``late_chunking``). One without any token, of white space that no model
        knows, gets its document's vector.
        """
        whole = np.zeros((len(documents), self.dimension), dtype=np.float32)
        parts = [
            np.zeros((len(document.sentences), self.dimension), dtype=np.float32)
            for document in documents
        ]
        if not documents:
            return whole, parts
        self.warm_up()
        queue = [
            (number, nth == 0, window)
            for number, found in enumerate(self._windows(documents))
            for nth, window in enumerate(found)
        ]
        queue.sort(key=lambda item: -len(item[2].tokens))  # so that little of a batch is padding
        for start in range(0, len(queue), _WINDOWS):
            batch = queue[start : start + _WINDOWS]
            pooled, tokens = self._read([self._whole(window) for _, _, window in batch])
            for (number, beginning, window), vector, states in zip(
                batch, pooled, tokens, strict=True
            ):
                if beginning:
                    whole[number] = vector
                for sentence in window.sentences:
                    # Behind [CLS], which no window counts.
                    own = states[1 + sentence.first : 1 + sentence.last]
                    parts[number][sentence.number] = own.mean(axis=0)
        whole = _unit(whole)
        for document, vectors in zip(whole, parts, strict=True):
            vectors[~vectors.any(axis=1)] = document
        return whole, [_unit(vectors) for vectors in parts]

    def _windows(self, documents: Sequence[EncodableDocument]) -> Iterator[list[Window]]:
        """Yield the windows of each document."""
        heads = [f"{document.title}. " for document in documents]
        _, tokenizer = self._loaded()
        read = tokenizer(
            [head + document.text for head, document in zip(heads, documents, strict=True)],
            add_special_tokens=False,
            truncation=False,
            padding=False,
            return_offsets_mapping=True,
            verbose=False,  # texts are longer than a window; that is no mistake here
        )
        size = _TOKENS - 2  # the special ones
        for head, document, tokens, offsets in zip(
            heads, documents, read["input_ids"], read["offset_mapping"], strict=True
        ):
            sentences = [(len(head) + start, len(head) + end) for start, end in document.sentences]
            yield windows(tokens, offsets, len(head), sentences, size)

    def _whole(self, window: Window) -> list[int]:
        _, tokenizer = self._loaded()
        return [tokenizer.cls_token_id, *window.tokens, tokenizer.sep_token_id]

    def _read(
        self, rows: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the mean vector of each row of tokens and their last hidden states."""
        import torch

        from retrieval.token_batches import padded

        model, tokenizer = self._loaded()
        ids, mask = padded([torch.tensor(row) for row in rows], tokenizer.pad_token_id)
        with torch.inference_mode():
            states = model(input_ids=ids, attention_mask=mask)[0].float()
        read = mask[..., None].float()
        return ((states * read).sum(1) / read.sum(1)).numpy(), states.numpy()


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    # Normalised here and not in bfloat16, where a unit vector is one to 0.4% only.
    norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / norms
