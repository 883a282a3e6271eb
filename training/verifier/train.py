"""``esoteric train verifier``: the model that labels a claim and its evidence.

Three phases. ``pairs``: public pairs of a claim and its evidence, most of them contrastive.
``retrieved``: sentences that retrieval brings, most of which settle nothing, alone and several at
once. Both train low-rank adapters, which is quick. ``whole``: a mix of the two, on which all
weights but the embeddings are trained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from torch import nn

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.mpnet import PackagedMPNet
from retrieval.index.layout import digest_of
from retrieval.trained.delta import add_delta, save_delta
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.data import load_data
from training.everyday import load_everyday
from training.figures import Classify, probabilities, temperature_of
from training.loop import Recipe, classification_loss, switch_off_dropout, train
from training.verifier.adapters import RANK as ADAPTER_RANK
from training.verifier.adapters import adapt, save_adapters
from training.verifier.figures import DEFINITIONS, DevReadings
from training.verifier.mixes import Mix, Sources, mixed_examples
from training.verifier.pairs import QUOTAS

VERSION = "4"  # of what is shipped; the results of two versions are never mixed
RANK = 96  # of the shipped difference; the card says what cutting to it costs
PAIRS = Recipe(
    epochs=1,
    batch_size=32,
    learning_rate=3e-4,
    weight_decay=0.01,
    warmup=0.05,
    max_tokens=192,
    seed=0,
)
RETRIEVED = replace(PAIRS, learning_rate=2e-4, seed=1)
WHOLE = replace(PAIRS, learning_rate=3e-5, seed=2)
MIXES: Mapping[str, Mix] = {
    "retrieved": Mix(
        pairs={"vitaminc": 2_000, "infotabs": 300, "feverous": 200},
        everyday=12_500,
        wrong_alone=3,
        fever=1_500,
    ),
    # Fewer sentences that settle nothing: with as many as in use it calls too much undecided.
    "whole": Mix(
        pairs={
            "vitaminc": 11_000,
            "vitaminc-synthetic": 1_500,
            "fever": 800,
            "feverous": 600,
            "ex-fever": 700,
            "fm2": 400,
            "wiki-nli": 1_500,
            "infotabs": 1_500,
            "lingnli": 1_000,
            "mnli": 300,
            "snli-counterfactual": 200,
            "conjnli": 200,
            "negation": 300,
        },
        everyday=15_000,
        wrong_alone=1,
        fever=3_500,
    ),
}


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``. What the adapters ended with is kept in
    ``run``; a restarted run with the same data and recipes goes on from it.

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

    adapters = run / f"adapters-{_adapters_digest(sources)[:16]}.safetensors"
    if not adapters.exists():
        _train_adapters(base, sources, run, adapters, figures)
    network = base.model(LABELS)
    add_delta(network, adapters, digest_of(adapters))
    # With the embeddings as they are the change is small enough to ship as a delta.
    network.mpnet.embeddings.requires_grad_(False)
    switch_off_dropout(network.mpnet)
    network.train(False)
    classify = _classifies(network, base)
    examples = mixed_examples(sources, MIXES["whole"], WHOLE.seed, classify)
    loss_of = classification_loss(network, base.tokenizer(), WHOLE.max_tokens)
    train(network, examples, loss_of, WHOLE, run / "whole", figures)

    fitted = classify([(pair.claim, pair.evidence) for pair in dev.fitted])
    temperature = temperature_of(fitted, [LABELS.index(pair.label) for pair in dev.fitted])
    trained = figures(network)
    digest = save_delta(network, base.model(LABELS), out / "delta.safetensors", RANK)
    write_config(
        out,
        "MPNet verifier",
        VERSION,
        WHOLE.max_tokens,
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
        " the mean vector (`retrieval/cross_encoders/mpnet.py`). Trained with low-rank adapters"
        f" (LoRA, rank {ADAPTER_RANK}) and then whole but for the embeddings;"
        f" `delta.safetensors` is the difference, cut to rank {RANK}.",
        data=_data_of_pairs(len(sources.pair_examples(PAIRS.seed, QUOTAS)))
        + "".join(f" Phase `{name}`: {mix.described}." for name, mix in MIXES.items())
        + f" {sources.described}.",
        digests={**sources.digests, **dev.digests},
        commands=("esoteric train verifier --data DATA", "esoteric train calibration --data DATA"),
        definitions=f"{DEFINITIONS} As shipped: cut to that rank, in float16, scaled by temperature"
        f" {temperature:.2f}; the second command then fits the scale and a bias of NOT ENOUGH INFO"
        " to the verdicts of whole searches (`config.json`).",
    )
    write_card(
        out,
        card,
        {"pairs": PAIRS, "retrieved": RETRIEVED, "whole": WHOLE},
        {"as trained": trained, "as shipped": shipped},
    )


def _train_adapters(
    base: PackagedMPNet,
    sources: Sources,
    run: Path,
    path: Path,
    figures: Callable[[nn.Module], dict[str, float]],
) -> None:
    """Train the phases ``pairs`` and ``retrieved``; write the difference to ``path``."""
    network = base.model(LABELS)
    adapt(network)
    loss_of = classification_loss(network, base.tokenizer(), PAIRS.max_tokens)
    pairs = sources.pair_examples(PAIRS.seed, QUOTAS)
    train(network, pairs, loss_of, PAIRS, run / "pairs", figures)
    classify = _classifies(network, base)
    retrieved = mixed_examples(sources, MIXES["retrieved"], RETRIEVED.seed, classify)
    train(network, retrieved, loss_of, RETRIEVED, run / "retrieved", figures)
    save_adapters(network, path)


def _adapters_digest(sources: Sources) -> str:
    """Return what tells the adapters of this data and these recipes from others, SHA-256."""
    origin = (PAIRS, RETRIEVED, QUOTAS, MIXES["retrieved"], ADAPTER_RANK, sources.digests)
    return sha256(repr(origin).encode()).hexdigest()


def _classifies(network: nn.Module, base: PackagedMPNet) -> Classify:
    tokenizer = base.tokenizer()
    return lambda pairs: probabilities(network, tokenizer, pairs, PAIRS.max_tokens)


def _data_of_pairs(count: int) -> str:
    sources = ", ".join(f"{source} ({quota})" for source, quota in QUOTAS.items())
    return (
        f"Phase `pairs`: {count} pairs of a claim and its evidence, at most so many of each source:"
        f" {sources}."
    )
