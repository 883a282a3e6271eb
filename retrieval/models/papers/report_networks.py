"""Runs the report's models with transformers and PyTorch, each from its folder.

Only weights in safetensors are read, by the classes of transformers itself: no code in the models'
folders is executed. Files are compared with the lock before they are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.models.arrays import Array, unit
from retrieval.models.encoders import EncodableDocument
from retrieval.models.folders import failing_as, model_in, tokenizer_in
from retrieval.models.networks import by_length, in_batches
from retrieval.models.papers.report_models import (
    ANSWERS,
    DPR_CONTEXTS,
    DPR_QUESTIONS,
    LOCK,
    SENTENCE_PIECES,
    SIMILARITY,
    TOKENIZER,
    WEIGHTS,
    PublishedModel,
    how_to_get_them,
    read_lock,
    verify,
)
from retrieval.models.weights import damaged
from retrieval.system.fixes import install_command

_WINDOW = 512  # tokens that a classifier reads at most
_LONGEST_ANSWER = 64  # tokens that are generated at most


class ReportNetwork:
    """One of the report's models; no file is read before ``warm_up``."""

    def __init__(self, models: Path, published: PublishedModel, **options: Any) -> None:
        """``models`` is the folder of all of them; ``options`` are the architecture's."""
        self._models = models
        self._published = published
        self._options = options

    @property
    def version(self) -> str:
        """Its name with the beginning of its weights' SHA-256 from the lock.

        Raises:
            ModelUnavailable: the lock is damaged or does not name it.
        """
        name = self._published.name
        try:
            return f"{name} {read_lock(self._models / LOCK)[name].files[WEIGHTS][:8]}"
        except KeyError:
            raise self._unavailable("is not in the lock") from None

    def warm_up(self) -> None:
        """Compare the files with the lock and load them.

        Raises:
            ModelUnavailable: they are missing, differ, or are not of this architecture.
        """
        _ = self._parts

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """The tokenizer and the model."""
        folder = self._models / self._published.name
        verify(self._models, self._published.name)
        pieces = not (folder / TOKENIZER).is_file() and (folder / SENTENCE_PIECES).is_file()
        if pieces and find_spec("sentencepiece") is None:
            raise ModelUnavailable(
                "package_missing",
                f"The tokenizer in {folder} is read by the package sentencepiece, which is not"
                " installed.",
                f"Run: {install_command('sentencepiece==0.2.3')}",
            )
        with failing_as(self._called, "cannot be loaded", how_to_get_them()):
            architecture = self._published.architecture
            return tokenizer_in(folder), model_in(folder, architecture, **self._options)

    @property
    def _called(self) -> str:
        folder, kind = self._models / self._published.name, self._published.architecture
        return f"model in {folder} ({kind})"

    def _unavailable(self, what: str) -> ModelUnavailable:
        return damaged(f"The {self._called} {what}.", how_to_get_them())

    def _padded(self, texts: Sequence[Any], window: int | None) -> dict[str, Any]:
        """Return the tokens of texts or pairs of texts, each cut to ``window`` of them."""
        tokenizer, _ = self._parts
        cut = {"truncation": window is not None, "max_length": window}
        return dict(tokenizer(list(texts), padding=True, return_tensors="pt", **cut))


def _characters(pair: tuple[str, str] | str) -> int:
    return sum(map(len, pair))


class TokenLabels(ReportNetwork):
    """A model that labels each token of a text."""

    def labelled(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, label) of each word, in order; offsets are into ``text``.

        A word, as the tokenizer splits texts, has the label of its first token.
        """
        import torch

        tokenizer, model = self._parts
        tokens = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = tokens.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            best = model(**tokens).logits[0].argmax(dim=-1).tolist()
        words: list[tuple[int, int, str]] = []
        last: int | None = None
        for word, (start, end), label in zip(tokens.word_ids(0), offsets, best, strict=True):
            if word is None:  # a special token
                continue
            if word == last:
                words[-1] = (words[-1][0], end, words[-1][2])
            else:
                words.append((start, end, model.config.id2label[label]))
            last = word
        return words


class TextGenerator(ReportNetwork):
    """A model that answers a text with a text."""

    def answers(self, texts: Sequence[str]) -> list[str]:
        """Return the most probable answer to each text, found token by token."""
        import torch

        tokenizer, model = self._parts
        found = [""] * len(texts)
        unsaid = {tokenizer.pad_token_id, tokenizer.eos_token_id}
        for rows, some in by_length(texts):
            with torch.inference_mode():
                generated = model.generate(
                    **self._padded(some, None),
                    max_new_tokens=_LONGEST_ANSWER,
                    do_sample=False,
                    num_beams=1,
                )
            for row, ids in zip(rows, generated.tolist(), strict=True):
                # Separators between answers may be special tokens, so only these are left out.
                words = [token for token in ids if token not in unsaid]
                found[row] = tokenizer.decode(words, skip_special_tokens=False).strip()
        return found


class PairClassifier(ReportNetwork):
    """A model that classifies a pair of texts into one of two classes."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the probability of the second class for each pair, shape ``(len(pairs),)``.

        Raises:
            ModelUnavailable: the model has another number of classes.
        """
        import torch

        _, model = self._parts
        if model.config.num_labels != 2:
            raise self._unavailable(f"has {model.config.num_labels} labels instead of two")

        def second(some: Sequence[tuple[str, str]]) -> Array:
            with torch.inference_mode():
                logits = model(**self._padded(some, _WINDOW)).logits
                found: Array = logits.softmax(dim=-1)[:, 1:].numpy()
                return found

        return in_batches(pairs, 1, second, _characters)[:, 0]


class VectorNetwork(ReportNetwork):
    """A model that makes one vector of a text or of a pair of texts."""

    @property
    def width(self) -> int:
        """The numbers of a vector, by the model's ``config.json``.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        try:
            path = self._models / self._published.name / "config.json"
            return int(json.loads(path.read_bytes())["hidden_size"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unavailable("has no config.json that can be read") from error

    def vectors(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], window: int, mean: bool = False
    ) -> NDArray[np.float32]:
        """Return the model's own vectors, ``(len(texts), width)``; DPR's are those of [CLS].

        ``mean``: return the means of the tokens' last hidden states instead.
        """

        def computed(some: Sequence[Any]) -> Array:
            import torch

            _, model = self._parts
            tokens = self._padded(some, window)
            with torch.inference_mode():
                output = model(**tokens)
                if not mean:
                    pooled: Array = output.pooler_output.numpy()
                    return pooled
                mask = tokens["attention_mask"][:, :, None]
                means: Array = ((output.last_hidden_state * mask).sum(1) / mask.sum(1)).numpy()
                return means

        rows: Sequence[Any] = texts
        return in_batches(rows, self.width, computed, _characters)


_SEPARATOR = "<sep>"


class AnswerExtractor(TextGenerator):
    """Extracts entities to search for, or answers to ask for, each with a prompt of its own.

    The report gives the prompts in figures 21 and 24.
    """

    def __init__(self, models: Path) -> None:
        """``models`` is the folder of the report's models."""
        super().__init__(models, ANSWERS)

    def places(self, what: Literal["entities", "answers"], claim: str) -> list[tuple[int, int]]:
        """Return start and end of each piece, in the model's order, each once.

        It is the first place in the claim with the same text, ignoring case. A piece that does not
        occur in the claim is left out.
        """
        said = self.answers([f"extract {what}: <ha> {claim} <ha>"])[0]
        pieces = filter(None, map(str.strip, said.split(_SEPARATOR)))
        found = (re.search(re.escape(piece), claim, re.IGNORECASE) for piece in pieces)
        return list(dict.fromkeys(match.span() for match in found if match))


_TOKENS = 384  # that are read at once, the special ones too (``sentence_bert_config.json``)


class MPNetEncoder(VectorNetwork):
    """Unit vectors of claims, sentences and titles, from the means of their tokens' states."""

    name = SIMILARITY.name

    def __init__(self, models: Path) -> None:
        """Read the model's ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: the file is missing or damaged.
        """
        super().__init__(models, SIMILARITY, add_pooling_layer=False)
        self.dimension = self.width

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 768)``; texts past 384 tokens are cut."""
        return unit(self.vectors(texts, _TOKENS, mean=True))


# No vector may be longer. The last layer of a BERT that is not trained gives vectors of length
# sqrt(768), which is 27.7; those of the published weights were not measured.
LONGEST = 32.0
# How many numbers are appended. The missing length is spread over several, because an index stores
# each number as a byte, and the largest number of a vector sets the step.
_SPREAD = 8
_DOCUMENT_TOKENS, _QUESTION_TOKENS = 256, 64  # of Haystack's retriever, which the report uses


class DprDocumentEncoder(VectorNetwork):
    """Documents as unit vectors that keep their inner products; sentences have none.

    Karpukhin et al. 2020 ("Dense Passage Retrieval for Open-Domain Question Answering", section 3)
    compare both by the inner product of vectors of any length. An index contains unit vectors. So a
    document's vector is divided by ``LONGEST``, and more numbers are appended that make it a unit
    vector; a question has zeros there, so the inner product does not change. DPR's own program does
    the same for an index that computes only distances.

    The report ranks only documents by DPR, so sentences get vectors of zeros. The vectors are
    compared with those of ``DprQuestionEncoder``.
    """

    def __init__(self, models: Path) -> None:
        """Read the lock and ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: one of them is missing or damaged.
        """
        super().__init__(models, DPR_CONTEXTS)
        self.name = self.version
        self.query_encoder = DprQuestionEncoder(models).name
        self.dimension = self.width + _SPREAD

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """See ``DocumentEncoder.encode_documents``.

        Title and text are read as a pair, 256 tokens at most.

        Raises:
            ModelUnavailable: a vector is longer than ``LONGEST``.
        """
        texts = [(document.title, document.text) for document in documents]
        scaled = self.vectors(texts, _DOCUMENT_TOKENS) / LONGEST
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        if (lengths > 1).any():
            raise ModelUnavailable(
                "vector_too_long",
                f"{self.name} gives a document a vector of length {LONGEST * lengths.max():.1f};"
                f" an index can store the inner products of vectors up to {LONGEST:.0f}.",
                "Set LONGEST in retrieval/models/papers/report_networks.py to a larger number, and"
                " encode the index again.",
            )
        missing = np.sqrt(np.maximum(0, 1 - lengths**2) / _SPREAD)
        whole = np.hstack([scaled, np.repeat(missing, _SPREAD, axis=1)]).astype(np.float32)
        nothing = [
            np.zeros((len(document.sentences), self.dimension), dtype=np.float32)
            for document in documents
        ]
        return whole, nothing


class DprQuestionEncoder(VectorNetwork):
    """Questions as unit vectors, with their original lengths."""

    def __init__(self, models: Path) -> None:
        """Read the lock and ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: one of them is missing or damaged.
        """
        super().__init__(models, DPR_QUESTIONS)
        self.name = self.version
        self.dimension = self.width + _SPREAD

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 776)``; texts past 64 tokens are cut."""
        return self.measured(texts)[0]

    def measured(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the same vectors and their original lengths, shape ``(len(texts),)``.

        The product of such a vector with a stored one, times its length, times ``LONGEST``, is
        DPR's inner product.
        """
        vectors = self.vectors(texts, _QUESTION_TOKENS)
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1)
        return unit(np.pad(vectors, ((0, 0), (0, _SPREAD)))), lengths
