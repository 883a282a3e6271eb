"""``esoteric train reader``: the one model that reads a claim beside evidence.

First it learns relevance and stance from many labelled sentences, then it
learns from the teacher's opinions on fewer and harder readings, sets of
sentences among them (distillation, Hinton et al. 2015).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.distilbert_cross_encoder import DistilBertCrossEncoder
from retrieval.cross_encoders.folded_minilm import load_folded_minilm, load_tokenizer
from retrieval.types import LABELS
from training.card import Card, write_card, write_model
from training.data import load_data
from training.figures import DevClaims, probabilities, read_claims, reading_figures, temperature_of
from training.loop import Example, Recipe, examples_digest, train
from training.reading_examples import reading_examples
from training.relevance_examples import relevance_examples
from training.teacher.train import Teacher

LABELLED = Recipe(
    epochs=2,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=160,
    seed=0,
)
DRAWN, DRAW_SEED = 24_000, 5  # readings that the teacher gives its opinion on: 18 minutes
DISTILLED = replace(LABELLED, learning_rate=5e-5, max_tokens=192)
OPINION = 0.7  # weight of the teacher's opinion in a target; the label has the rest
QUICK_DEV = 6  # after an epoch every sixth dev claim is measured
DEV = 3  # and every third in the end; `esoteric evaluate` measures all of them


def train_reader(data_folder: Path, run: Path, out: Path, teacher: Path) -> None:
    """Train the reader, write it to ``out`` and its logs and checkpoints to ``run``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the teacher in ``teacher`` is missing.
    """
    data = load_data(data_folder, run.parent / "vectors", LABELLED.seed)
    tokenizer = load_tokenizer()
    examples = _drawn(reading_examples(data, DISTILLED.seed))
    opinions = _opinions(teacher, examples, run)
    quick, dev = DevClaims.of(data, QUICK_DEV), DevClaims.of(data, DEV)

    model = load_folded_minilm(LABELS)
    # With the embeddings as they are the change is small enough to ship as a delta.
    model.distilbert.embeddings.requires_grad_(False)
    sentences = relevance_examples(
        [*data.train, *data.contrasts], data.page_claims, data.pool, LABELLED.seed
    )
    for phase, recipe, taught in (
        ("labelled", LABELLED, sentences),
        ("distilled", DISTILLED, distilled(examples, opinions)),
    ):
        train(
            model,
            tokenizer,
            taught,
            recipe,
            run / phase,
            lambda model: reading_figures(
                read_claims(
                    lambda pairs: probabilities(model, tokenizer, pairs, DISTILLED.max_tokens),
                    quick,
                ),
                quick.claims,
            ),
        )
    trained = read_claims(
        lambda pairs: probabilities(model, tokenizer, pairs, DISTILLED.max_tokens), dev
    )
    truth = [LABELS.index(claim.label) for claim in dev.claims]
    temperature = temperature_of(trained.pooled, truth)
    size = write_model(out, model, temperature, DISTILLED.max_tokens, "MiniLM reader")
    shipped = read_claims(DistilBertCrossEncoder(out).probabilities, dev)
    figures = {
        "as trained": reading_figures(trained, dev.claims),
        "as shipped": reading_figures(shipped, dev.claims),
    }
    card = Card(
        name="Reader",
        purpose="Reads a claim beside one sentence with its title, or a few: do they bear on the"
        " claim, and do they support it, refute it, or not settle it?",
        data=f"{len(data.train)} claims of FEVER's development set"
        f" ({data.left_out} were left out because they cite a page of a dev claim),"
        f" {len(data.contrasts)} contrast claims made from them by exchanging one fact"
        f" (`training/contrast.py`) and {len(data.page_claims)} of Fool Me Twice."
        f" {len(sentences)} labelled sentences (`training/relevance_examples.py`), then"
        f" {len(examples)} readings of one sentence or a few (`training/reading_examples.py`) with"
        " the opinion of a teacher, all-mpnet-base-v2 with low-rank adapters that was trained on"
        " the same readings (`training/teacher`).",
        digests=data.digests,
        definitions=f"{len(dev.claims)} of {len(data.dev)} dev claims (every third), none of whose"
        " gold pages was trained on, with about ten candidate sentences each. gold_in_first_five:"
        " decided claims with a gold sentence among the five most relevant, %. stance_right:"
        " decided claims whose best gold sentence leans the right way, %. alone, together, pooled:"
        " claims given the right one of three labels by the most relevant sentence, by the"
        " selected ones read together, and by both (`pooled_opinion`), %. calibration_error:"
        " expected, ten bins, 0 to 1. As shipped: cut to the rank above and scaled by temperature"
        f" {temperature:.2f}, chosen on dev.",
    )
    write_card(out, card, {"labelled": LABELLED, "distilled": DISTILLED}, figures, size)


def distilled(examples: list[Example], opinions: NDArray[np.float32]) -> list[Example]:
    """Return the examples with the teacher's opinions mixed into their targets."""
    return [
        replace(
            example,
            target=tuple(
                OPINION * float(opinion) + (1 - OPINION) * known
                for opinion, known in zip(row, example.target, strict=True)
            ),
        )
        for example, row in zip(examples, opinions, strict=True)
    ]


def _drawn(examples: list[Example]) -> list[Example]:
    """Return some of the readings, in their order."""
    count = min(DRAWN, len(examples))
    return [examples[i] for i in sorted(Random(DRAW_SEED).sample(range(len(examples)), count))]


def _opinions(folder: Path, examples: list[Example], run: Path) -> NDArray[np.float32]:
    """Return the teacher's opinions; kept in ``run``, they spare a restarted run half an hour."""
    kept = run / f"opinions-{examples_digest(examples)[:16]}.npy"
    if kept.exists():
        opinions: NDArray[np.float32] = np.load(kept)
        return opinions
    opinions = Teacher(folder).opinions([(e.claim, e.evidence) for e in examples])
    run.mkdir(parents=True, exist_ok=True)
    np.save(kept, opinions)
    return opinions
