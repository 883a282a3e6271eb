"""``esoteric train path``: the model that reads a candidate together with the path that led to it.

It starts from the weights of the relevance model, which knows relevance and stance, and learns what
a sentence adds to those before it (M3, section 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.nn import Module

from research.evaluation.claims import FeverClaim
from research.training.card import write_card, write_model
from research.training.compositions import compositions
from research.training.data import load_data
from research.training.figures import Classify, probabilities, temperature_of
from research.training.loop import Hyperparameters, classification_loss, switch_off_dropout, train
from research.training.networks.minilm import (
    packaged_classifier,
    pair_tokenizer,
    trained_classifier,
)
from research.training.path_examples import path_examples
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.models.shipped import minilm_classifier
from retrieval.text.context import evidence_text, path_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO

RECIPE = Hyperparameters(
    epochs=1,
    batch_size=32,
    learning_rate=5e-5,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=192,
    seed=0,
)
COMPOSED = 6_000  # claims made from pages
EXAMPLES = 40_000
VERSION = "1"  # of the shipped model; the results of two versions are never mixed
RANK = 64  # of the shipped difference to the packaged weights


def train_path(data_folder: Path, relevance_model: Path, run: Path, out: Path) -> None:
    """Train the path model, write it to ``out`` and its logs and checkpoints to ``run``.

    ``relevance_model`` is the folder of the trained relevance model.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    made = compositions(data, RECIPE.seed, COMPOSED)
    examples = path_examples(data, made, RECIPE.seed, EXAMPLES)
    steps = [step for n, step in enumerate(_steps(data.dev, data.dev_pool)) if n % 2 == 0]
    others = [step for n, step in enumerate(_steps(data.dev, data.dev_pool)) if n % 2]

    tokenizer, model = pair_tokenizer(), trained_classifier(relevance_model)
    model.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(model)

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return probabilities(model, tokenizer, pairs, RECIPE.max_tokens)

    def figures(_: Module) -> dict[str, float]:
        return step_figures(classify, steps)

    alone = step_figures(minilm_classifier(relevance_model).probabilities, steps, with_lead=False)
    loss_of = classification_loss(model, tokenizer, RECIPE.max_tokens)
    train(model, examples, loss_of, RECIPE, run, figures)
    trained = figures(model)
    temperature = _temperature(classify, others)
    write_model(
        out,
        model,
        packaged_classifier(LABELS),
        RANK,
        name="MiniLM path reader",
        version=VERSION,
        max_tokens=RECIPE.max_tokens,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = step_figures(minilm_classifier(out).probabilities, steps)
    write_card(
        out,
        "path",
        data.digests,
        {"path": RECIPE},
        {"relevance model": alone, "as trained": trained, "as shipped": shipped},
        claims=data.described,
        composed=len(made),
        examples=len(examples),
        rank=RANK,
        steps=len(steps),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """From one sentence to the next: ``candidates`` begin with the gold one."""

    claim: FeverClaim
    lead: tuple[str, str]
    candidates: tuple[tuple[str, str], ...]


def step_figures(
    classify: Classify, steps: Sequence[Step], *, with_lead: bool = True
) -> dict[str, float]:
    """Return how well a model finds the second gold sentence from the first.

    ``with_lead``: read the candidate together with the sentence that led to it.
    """
    pairs = [
        (
            step.claim.text,
            path_text(candidate, [step.lead]) if with_lead else evidence_text(*candidate),
        )
        for step in steps
        for candidate in step.candidates
    ]
    probabilities = classify(pairs)
    first = five = right = start = 0
    for step in steps:
        own = probabilities[start : start + len(step.candidates)]
        start += len(step.candidates)
        score = 1 - own[:, LABELS.index(NOT_ENOUGH_INFO)]
        better = int((score[1:] > score[0]).sum())
        first += better == 0
        five += better < 5
        right += int(own[0, :2].argmax()) == LABELS.index(step.claim.label)
    count = max(1, len(steps))
    return {
        "first": 100 * first / count,
        "first_five": 100 * five / count,
        "stance_right": 100 * right / count,
    }


def _steps(claims: Sequence[FeverClaim], pool: SentencePool) -> list[Step]:
    """Return both directions of the smallest gold set of every claim that needs two pages."""
    several = [claim for claim in claims if claim.needs_several_pages]
    near = CandidateFinder(pool).find([claim.text for claim in several])
    steps = []
    for claim, found in zip(several, near, strict=True):
        smallest = min(claim.evidence, key=len)
        group = pool.rows(smallest)
        gold = pool.rows(claim.gold)
        if len(group) != 2:
            continue
        for lead, last in (group, group[::-1]):
            near_lead = [int(i) for i in pool.nearest([pool.sentences[lead].text], 8)[0]]
            page = pool.by_page[pool.sentences[last].page]
            others = [i for i in dict.fromkeys([*page, *found, *near_lead]) if i not in gold]
            if not others:
                continue
            first, *texts = pool.pairs((lead, last, *others))
            steps.append(Step(claim, first, tuple(texts)))
    return steps


def _temperature(classify: Classify, steps: Sequence[Step]) -> float:
    """Return the temperature, fitted to gold candidates and as many others."""
    pairs, labels = [], []
    for step in steps:
        pairs += [(step.claim.text, path_text(c, [step.lead])) for c in step.candidates[:2]]
        labels += [LABELS.index(step.claim.label), LABELS.index(NOT_ENOUGH_INFO)]
    return temperature_of(classify(pairs), labels)
