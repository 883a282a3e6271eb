"""The shipped title model: packaged MiniLM, a trained difference and a small decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.generation.inputs import FIRST, MARKUP, PADDING, identifiers_in, input_tokens
from retrieval.trained.trained_model import TrainedModel

if TYPE_CHECKING:
    from retrieval.generation.network import KeysAndValues, TitleNetwork
    from retrieval.titles.title_tokenizer import TitleTokenizer


class MiniLMTitleModel(TrainedModel["TitleNetwork", "TitleTokenizer"]):
    """Generates titles in MiniLM's tokens, those of an index's trie."""

    markup = MARKUP

    def _base(self) -> tuple[TitleNetwork, TitleTokenizer]:
        from retrieval.generation.network import packaged_title_network
        from retrieval.titles.title_tokenizer import TitleTokenizer

        return packaged_title_network(), TitleTokenizer()

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> NetworkReading:
        """Read a claim and (title, sentence) pairs, cut at their end to the model's window."""
        network, tokenizer = self._loaded()
        tokens = input_tokens(tokenizer, claim, sentences, self._config["max_tokens"])
        return NetworkReading(network, tokens)


class NetworkReading:
    """An input that the network has read; see ``decoding.Reading``."""

    def __init__(self, network: TitleNetwork, tokens: Sequence[int]) -> None:
        """Encode the tokens of ``input_tokens``."""
        import torch

        from retrieval.token_batches import padded

        self.identifiers = identifiers_in(tokens)
        self._network = network
        with torch.inference_mode():
            self._memory = network.read(*padded([torch.tensor(tokens)], PADDING))
        self._rows: dict[tuple[int, ...], int] = {}
        self._past: list[KeysAndValues] = []

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Return log-probabilities of what follows each prefix, ``(prefixes, vocabulary)``."""
        import torch

        if self._past:
            parents = torch.tensor([self._rows[prefix[:-1]] for prefix in prefixes])
            past = [(keys[parents], values[parents]) for keys, values in self._past]
            tokens = torch.tensor([[prefix[-1]] for prefix in prefixes])
        else:
            past, tokens = [], torch.tensor([[FIRST]])
        with torch.inference_mode():
            scores, self._past = self._network.next_tokens(self._memory, tokens, past)
        self._rows = {prefix: row for row, prefix in enumerate(prefixes)}
        result: NDArray[np.float32] = scores.numpy()
        return result
