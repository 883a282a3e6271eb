"""``esoteric train relevance``: the relevance model, which reads a claim with a sentence.

First it learns relevance and stance from many labelled sentences. Then it learns from the teacher's
probabilities for fewer and harder readings, also of sets of sentences (distillation, Hinton et al.
2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.nn import Module

from research.training.card import write_card, write_model
from research.training.contrast import contrast_claims
from research.training.data import load_data
from research.training.figures import (
    DEV,
    OTHERS,
    TUNING,
    Classify,
    DevClaims,
    contrast_figures,
    figure_definitions,
    probabilities,
    read_claims,
    reading_figures,
    temperature_of,
)
from research.training.loop import (
    Example,
    Hyperparameters,
    Weights,
    classification_loss,
    examples_digest,
    load_mean,
    train,
    trained_weights,
)
from research.training.networks.minilm import packaged_classifier, pair_tokenizer
from research.training.reading_examples import reading_examples
from research.training.relevance_examples import relevance_examples
from research.training.sentence_pool import kept_array
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.shipped import minilm_classifier
from retrieval.types import LABELS

LABELLED = Hyperparameters(
    epochs=1,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=160,
    seed=0,
)
READINGS = 16_000  # readings of a round, which the teacher labels
DISTILLED = replace(LABELLED, epochs=2, learning_rate=5e-5, max_tokens=192)
# Each starts from the end of the labelled phase, with new readings; their ends are averaged.
ROUNDS = 2
OPINION = 0.7  # weight of the teacher's probabilities in a target; the label has the rest
VERSION = "2"  # of the shipped model; the results of two versions are never mixed
RANK = 64  # of the shipped difference; the card says what cutting to it costs


def train_relevance(data_folder: Path, run: Path, out: Path, teacher: CrossEncoder) -> None:
    """Train the relevance model, write it to ``out`` and its logs and checkpoints to ``run``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the teacher's weights are missing.
    """
    data = load_data(data_folder, run.parent / "vectors", LABELLED.seed)
    tokenizer = pair_tokenizer()
    rounds = [replace(DISTILLED, seed=number) for number in range(ROUNDS)]
    drawn = [reading_examples(data, recipe.seed, READINGS) for recipe in rounds]
    opinions = [_opinions(teacher, examples, run) for examples in drawn]
    tuning, others, dev = (DevClaims.of(data, part) for part in (TUNING, OTHERS, DEV))
    contrasts = contrast_claims(data.dev, data.dev_pool, LABELLED.seed)

    model = packaged_classifier(LABELS)
    # With unchanged embeddings the difference is small enough to ship.
    model.distilbert.embeddings.requires_grad_(False)
    sentences = relevance_examples(
        [*data.train, *(contrast.claim for contrast in data.contrasts)],
        data.page_claims,
        data.pool,
        LABELLED.seed,
    )

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return probabilities(model, tokenizer, pairs, DISTILLED.max_tokens)

    def figures(_: Module) -> dict[str, float]:
        return reading_figures(read_claims(classify, tuning), tuning.claims)

    loss_of = classification_loss(model, tokenizer, LABELLED.max_tokens)
    train(model, sentences, loss_of, LABELLED, run / "labelled", figures)
    loss_of = classification_loss(model, tokenizer, DISTILLED.max_tokens)
    labelled, ends = trained_weights(model), list[Weights]()
    for number, recipe in enumerate(rounds):
        load_mean(model, [labelled])
        taught = distilled(drawn[number], opinions[number])
        train(model, taught, loss_of, recipe, run / f"distilled-{number + 1}", figures)
        ends.append(trained_weights(model))
    load_mean(model, ends)
    temperature = temperature_of(
        read_claims(classify, others).pooled, [LABELS.index(c.label) for c in others.claims]
    )

    def card_figures(read: Classify) -> dict[str, float]:
        of_claims = reading_figures(read_claims(read, dev), dev.claims)
        return of_claims | contrast_figures(read, contrasts, dev.pool)

    trained = card_figures(classify)
    write_model(
        out,
        model,
        packaged_classifier(LABELS),
        RANK,
        name="MiniLM relevance model",
        version=VERSION,
        max_tokens=DISTILLED.max_tokens,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = card_figures(minilm_classifier(out).probabilities)
    write_card(
        out,
        "relevance",
        data.digests,
        {"labelled": LABELLED}
        | {f"distilled {n}": recipe for n, recipe in enumerate(rounds, start=1)},
        {"as trained": trained, "as shipped": shipped},
        claims=data.described,
        contrasts=len(contrasts),
        figures_of=figure_definitions(len(dev.claims), len(data.dev), OTHERS),
        rank=RANK,
        readings=len(drawn[0]),
        rounds=ROUNDS,
        sentences=len(sentences),
        temperature=temperature,
    )


def distilled(examples: list[Example], opinions: NDArray[np.float32]) -> list[Example]:
    """Return the examples with the teacher's probabilities mixed into their targets."""
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


def _opinions(teacher: CrossEncoder, examples: list[Example], run: Path) -> NDArray[np.float32]:
    """Return the teacher's probabilities; they are stored in ``run`` for a restarted run."""
    kept = run / f"opinions-{examples_digest(examples)[:16]}-{teacher.digest[:16]}.npy"
    pairs = [(example.claim, example.evidence) for example in examples]
    return kept_array(kept, lambda: teacher.probabilities(pairs))
