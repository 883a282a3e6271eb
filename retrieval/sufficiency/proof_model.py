"""The shipped model of a proof: packaged base weights, a trained difference and small heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.cross_encoder import read_config, version_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from retrieval.sufficiency.network import ProofNetwork


@dataclass(frozen=True, slots=True)
class ProofReading:
    """What the network says of one claim's spans beside an evidence text.

    ``operators``: calibrated probabilities, ``(spans, 4)`` in the order of
    ``OPERATORS``. ``seen``: ``(spans,)``, false for a span without tokens.
    ``starts`` and ``ends``: how much each token is where a span's words begin and
    end, ``(spans, tokens)``. ``evidence``: ``(tokens,)``, true for the evidence's.
    ``offsets``: ``(tokens, 2)``, where these lie in the evidence text.
    """

    operators: NDArray[np.float32]
    seen: NDArray[np.bool_]
    starts: NDArray[np.float32]
    ends: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    offsets: NDArray[np.int64]


class ProofModel:
    """Reads a claim, cut into spans, beside evidence."""

    def __init__(self, folder: Path) -> None:
        """Read ``folder``, where the trained difference lies; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._config = read_config(folder)
        self._network: ProofNetwork | None = None
        self._tokenizer: PreTrainedTokenizerBase | None = None

    @property
    def version(self) -> str:
        """The model's name and version, for results to carry."""
        return version_of(self._config)

    def warm_up(self) -> None:
        """Load base weights and difference, in the precision that is fastest here.

        The heads stay in float32: they are small, and where a span begins is told
        from differences that bfloat16 rounds away.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        if self._network is not None:
            return
        from retrieval.cross_encoders.delta import add_delta
        from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
        from retrieval.precision import fastest_precision
        from retrieval.sufficiency.network import packaged_proof_network

        network = packaged_proof_network()
        add_delta(network, self._folder / "delta.safetensors", self._config["sha256"])
        network.distilbert.to(fastest_precision())  # type: ignore[arg-type]
        self._tokenizer = FoldedMiniLM().tokenizer()
        self._network = network.train(False)

    def read(self, claim: str, spans: Sequence[tuple[int, int]], evidence: str) -> ProofReading:
        """Return what the network says of the spans, claim offsets; evidence is cut at its end."""
        self.warm_up()
        assert self._network is not None
        assert self._tokenizer is not None
        max_tokens, temperature = self._config["max_tokens"], self._config["temperature"]
        inputs = claim, spans, evidence
        return proof_reading(self._network, self._tokenizer, *inputs, max_tokens, temperature)


def proof_reading(
    network: ProofNetwork,
    tokenizer: PreTrainedTokenizerBase,
    claim: str,
    spans: Sequence[tuple[int, int]],
    evidence: str,
    max_tokens: int,
    temperature: float,
) -> ProofReading:
    """Return what a network says of a claim's spans, as ``ProofModel.read`` does."""
    import torch

    from retrieval.sufficiency.network import read

    inputs = read(tokenizer, [claim], [spans], [evidence], max_tokens)
    with torch.inference_mode():
        logits = network(inputs)
        operators = torch.softmax(logits.operators[0] / temperature, dim=-1)
    return ProofReading(
        operators.numpy(),
        inputs.span_mask[0].numpy(),
        logits.starts[0].numpy(),
        logits.ends[0].numpy(),
        inputs.evidence[0].numpy(),
        inputs.offsets[0].numpy(),
    )
