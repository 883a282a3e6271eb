"""The shipped model of a proof: packaged base weights, a trained difference and small heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.trained.trained_model import TrainedModel

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


class ProofModel(TrainedModel["ProofNetwork", "PreTrainedTokenizerBase"]):
    """Reads a claim, cut into spans, beside evidence."""

    def _base(self) -> tuple[ProofNetwork, PreTrainedTokenizerBase]:
        from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
        from retrieval.sufficiency.network import packaged_proof_network

        return packaged_proof_network(), FoldedMiniLM().tokenizer()

    def _quickened(self, network: ProofNetwork) -> ProofNetwork:
        """Leave the heads in float32.

        They are small, and where a span begins is told from differences that
        bfloat16 rounds away.
        """
        from retrieval.precision import fastest_precision

        network.distilbert.to(fastest_precision())  # type: ignore[arg-type]
        return network

    def read(self, claim: str, spans: Sequence[tuple[int, int]], evidence: str) -> ProofReading:
        """Return what the network says of the spans, claim offsets; evidence is cut at its end."""
        max_tokens, temperature = self._config["max_tokens"], self._config["temperature"]
        return proof_reading(*self._loaded(), claim, spans, evidence, max_tokens, temperature)


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
