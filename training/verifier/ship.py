"""Writes a trained verifier as it is shipped, with its calibration to pairs, card and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import nn
from transformers import PreTrainedTokenizerBase

from retrieval.models import verifier
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.figures import Classify, probabilities
from training.loop import Recipe
from training.networks.delta import save_delta
from training.networks.mpnet import packaged_verifier, pair_tokenizer
from training.verifier.figures import DEFINITIONS, DevReadings
from training.verifier.scaling import fitted_scaling

RANK = 192  # of the shipped difference; the card says what cutting to it costs
MAX_TOKENS = 192
CALIBRATION = "esoteric train calibration --data DATA"


@dataclass(frozen=True, slots=True)
class Shipped:
    """What a verifier's card says of its training; ``data``: what it was trained on."""

    version: str  # the results of two versions are never mixed
    data: str
    digests: Mapping[str, str]
    commands: tuple[str, ...]
    recipes: Mapping[str, Recipe]


def ship(network: nn.Module, out: Path, cache: Path, dev: DevReadings, shipped: Shipped) -> None:
    """Write the difference of ``network`` to the packaged weights, with its config and card.

    The packaged weights are unpacked into ``cache``. Scale and bias are fitted to the verifier as
    it is shipped, cut to ``RANK`` and in 8 bits.

    Raises:
        ModelUnavailable: the packaged base weights are missing.
    """
    trained = dev.figures(classifies(network, pair_tokenizer(cache)))
    digest = save_delta(network, packaged_verifier(cache, LABELS), out / "delta.safetensors", RANK)

    def configured(temperature: float, bias: tuple[float, ...]) -> Classify:
        write_config(
            out,
            "MPNet verifier",
            shipped.version,
            MAX_TOKENS,
            digest,
            labels=LABELS,
            temperature=temperature,
            bias=bias,
        )
        return verifier(cache, in_search=False, folder=out).probabilities

    temperature, bias = fitted_scaling(
        configured(1.0, (0.0,) * len(LABELS))([(p.claim, p.evidence) for p in dev.fitted]),
        [pair.label for pair in dev.fitted],
    )
    card = Card(
        name="Verifier",
        purpose="Labels a claim beside evidence: one sentence with its title, or several. Its"
        " labels are the stances that are shown, and the verdict is made from them.",
        architecture="all-mpnet-base-v2 (12 layers, 109 million weights, Apache 2.0, in five"
        " packages) with a head over SUPPORTS, REFUTES, NOT ENOUGH INFO that reads the first and"
        " the mean vector (`training/networks/mpnet.py`). All weights are trained except the"
        f" embeddings; `delta.safetensors` is the difference, cut to rank {RANK}.",
        data=shipped.data,
        digests={**shipped.digests, **dev.digests},
        commands=shipped.commands,
        definitions=f"{DEFINITIONS} As shipped: cut to that rank, in 8 bits, scaled by temperature"
        f" {temperature:.2f}, with a bias of NOT ENOUGH INFO of {bias[-1]:.2f}; for searches the"
        " last command then fits biases and a scale of the verdict to whole searches (`in_search`"
        " in `config.json`).",
    )
    figures = {"as trained": trained, "as shipped": dev.figures(configured(temperature, bias))}
    write_card(out, card, shipped.recipes, figures)


def classifies(network: nn.Module, tokenizer: PreTrainedTokenizerBase) -> Classify:
    """Return what labels pairs by ``network`` as it is now."""
    return lambda pairs: probabilities(network, tokenizer, pairs, MAX_TOKENS)
