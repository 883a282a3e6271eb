"""The shipped title model: packaged MiniLM, a trained difference and a small decoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.cross_encoder import read_config, version_of
from retrieval.generation.inputs import FIRST, MARKUP, identifiers_in, input_tokens

if TYPE_CHECKING:
    from retrieval.generation.network import KeysAndValues, TitleNetwork
    from retrieval.titles.title_tokenizer import TitleTokenizer


class MiniLMTitleModel:
    """Generates titles in MiniLM's tokens, those of an index's trie."""

    markup = MARKUP

    def __init__(self, folder: Path) -> None:
        """Read ``folder``, where the trained difference lies; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._config = read_config(folder)
        self._network: TitleNetwork | None = None
        self._tokenizer: TitleTokenizer | None = None

    @property
    def version(self) -> str:
        """The model's name and version, for results to carry."""
        return version_of(self._config)

    def warm_up(self) -> None:
        """Load base weights and difference, in the precision that is fastest here.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        if self._network is not None:
            return
        from retrieval.cross_encoders.delta import add_delta
        from retrieval.generation.network import packaged_title_network
        from retrieval.precision import fastest_precision
        from retrieval.titles.title_tokenizer import TitleTokenizer

        network = packaged_title_network()
        add_delta(network, self._folder / "delta.safetensors", self._config["sha256"])
        self._tokenizer = TitleTokenizer()
        self._network = network.train(False).to(fastest_precision())

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> NetworkReading:
        """Read a claim and (title, sentence) pairs, cut at their end to the model's window."""
        self.warm_up()
        assert self._network is not None
        assert self._tokenizer is not None
        tokens = input_tokens(self._tokenizer, claim, sentences, self._config["max_tokens"])
        return NetworkReading(self._network, tokens)


class NetworkReading:
    """An input that the network has read; see ``decoding.Reading``."""

    def __init__(self, network: TitleNetwork, tokens: Sequence[int]) -> None:
        """Encode the tokens of ``input_tokens``."""
        import torch

        self.identifiers = identifiers_in(tokens)
        self._network = network
        input_ids = torch.tensor([tokens])
        with torch.inference_mode():
            self._memory = network.read(input_ids, torch.ones_like(input_ids))
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
