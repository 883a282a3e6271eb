"""Contextual vectors of the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from research.training.networks.minilm import packaged_body, pair_tokenizer

_BATCH = 32
_MOST_TOKENS = 192


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text's tokens: ``offsets`` (tokens, 2) in characters, ``vectors`` (tokens, dimension)."""

    offsets: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def mean(self, start: int, end: int) -> NDArray[np.float32]:
        """Return the unit vector of a piece of the text; zeros if it contains no token."""
        within = (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        total: NDArray[np.float32] = self.vectors[within].sum(axis=0, dtype=np.float32)
        return total / max(float(np.linalg.norm(total)), 1e-9)


class TokenEncoder(Protocol):
    """Gives each token of a text a vector that depends on the others."""

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the tokens of each text, special ones left out."""
        ...


class MiniLMTokens:
    """The packaged MiniLM's last layer."""

    def __init__(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        self._tokenizer, self._model = pair_tokenizer(), packaged_body()
        self._model.train(False)

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return 384-dimensional vectors of the first 192 tokens."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found: dict[int, TokenVectors] = {}
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            inputs = self._tokenizer(
                [texts[i] for i in part],
                truncation=True,
                max_length=_MOST_TOKENS,
                padding=True,
                return_tensors="pt",
                return_token_type_ids=False,
                return_offsets_mapping=True,
            )
            offsets = inputs.pop("offset_mapping").numpy()
            with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
                states = self._model(**inputs).last_hidden_state.float().numpy()
            for row, i in enumerate(part):
                real = offsets[row, :, 1] > offsets[row, :, 0]
                found[i] = TokenVectors(offsets[row][real], states[row][real].astype(np.float16))
        return [found[i] for i in range(len(texts))]
