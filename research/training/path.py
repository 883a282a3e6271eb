"""``esoteric train path``: the model that reads a candidate together with the path that led to it.

It starts from the weights of the relevance model, which knows relevance and stance, and learns what
a sentence adds to those before it. A candidate is evidence if, read together with the path, it
decides the claim (M3, section 3.3, with the path in the query). NOT ENOUGH INFO is learnt from
other candidates that retrieval finds: other sentences of the page that a path leads to, and
sentences near the claim that add nothing to a path.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training.card import write_card, write_model
from research.training.compositions import Composition, compositions
from research.training.data import TrainingData, load_data
from research.training.figures import Classify, probabilities, temperature_of
from research.training.loop import (
    Example,
    Hyperparameters,
    best_device,
    classification_loss,
    labelled,
    switch_off_dropout,
    train,
)
from research.training.networks.encoders import (
    packaged_classifier,
    pair_tokenizer,
    trained_classifier,
)
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.models.shipped import minilm_classifier
from retrieval.text.context import evidence_text, path_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

ANNOTATED = 3  # times that an annotated set of several sentences is read, each time drawn again
BESIDE = 2  # negatives for each path of an annotated set
LONGEST = 3  # sentences of a path with its candidate
NEAR = 8  # candidates near the claim are drawn from so many of the nearest


def path_examples(
    data: TrainingData, compositions: Sequence[Composition], seed: int, limit: int
) -> list[Example]:
    """Return examples, ``limit`` at most, drawn from those of all claims; the seed decides."""
    chance, pool = random.Random(seed), data.pool
    made = [composition.claim for composition in compositions]
    claims = [*data.train, *made]
    candidates = CandidateFinder(pool).find([claim.text for claim in claims])
    examples: list[Example] = []
    for claim, found in zip(claims, candidates, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _undecided(claim, found, pool, chance)
            continue
        sets = [pool.rows(group) for group in claim.evidence]
        several = [group for group in sets if len(group) > 1]
        beside = pool.elsewhere(claim, found)[:NEAR]
        if several and not any(len(group) == 1 for group in sets):
            for _ in range(ANNOTATED if isinstance(claim, FeverClaim) else 1):
                examples += _of_a_set(claim, chance.choice(several), beside, pool, chance)
        else:
            single = [group[0] for group in sets if len(group) == 1]
            examples += _of_one_sentence(claim, single, beside, pool, chance)
    drawn = chance.sample(range(len(examples)), min(limit, len(examples)))
    return [examples[i] for i in sorted(drawn)]


def _of_a_set(
    claim: AnnotatedClaim,
    group: Sequence[int],
    beside: Sequence[int],
    pool: SentencePool,
    chance: random.Random,
) -> list[Example]:
    """The last sentence of the set completes the path of the others; other candidates do not."""
    *path, last = chance.sample(group, min(len(group), LONGEST))
    examples = [_example(claim.text, last, path, claim.label, pool)]
    gold = pool.rows(claim.gold)
    same = [i for i in pool.by_page[pool.sentences[last].page] if i not in gold]
    wrong = [*chance.sample(same, min(len(same), BESIDE))]
    wrong += chance.sample(beside, min(len(beside), BESIDE + 1 - len(wrong)))
    examples += [_example(claim.text, i, path, NOT_ENOUGH_INFO, pool) for i in wrong]
    if beside and len(group) == 2 and claim.needs_several_pages:
        # After an unrelated sentence, a part of the evidence decides nothing.
        lost = [chance.choice(beside)]
        examples.append(_example(claim.text, last, lost, NOT_ENOUGH_INFO, pool))
    return examples


def _of_one_sentence(
    claim: AnnotatedClaim,
    single: Sequence[int],
    beside: Sequence[int],
    pool: SentencePool,
    chance: random.Random,
) -> list[Example]:
    """A sentence that suffices alone does so after any path, and no other adds to it."""
    if not single or len(beside) < 3:
        return []
    gold = chance.choice(single)
    first, second, third = chance.sample(beside, 3)
    return [
        _example(claim.text, gold, [first], claim.label, pool),
        _example(claim.text, second, [chance.choice([gold, first])], NOT_ENOUGH_INFO, pool),
        _example(claim.text, third, [gold], NOT_ENOUGH_INFO, pool),
    ][: 2 + (chance.random() < 0.3)]


def _undecided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    if len(found) < 3:
        return []
    pairs = [chance.sample(found[:NEAR], 2) for _ in range(2)]
    return [_example(claim.text, i, [lead], NOT_ENOUGH_INFO, pool) for lead, i in pairs]


def _example(
    claim: str, candidate: int, path: Sequence[int], label: Label, pool: SentencePool
) -> Example:
    last, *leads = pool.pairs((candidate, *path))
    return labelled(claim, path_text(last, leads), label)


RECIPE = Hyperparameters(learning_rate=5e-5, max_tokens=192)
COMPOSED = 6_000  # claims made from pages
EXAMPLES = 40_000


def train_path(
    data_folder: Path, relevance_model: Path, run: Path, out: Path, seed: int
) -> dict[str, float]:
    """Train the path model, write it to ``out`` and its logs and checkpoints to ``run``.

    ``relevance_model`` is the folder of the trained relevance model. Returns the figures of the
    card, as shipped.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    data = load_data(data_folder, run.parent / "vectors", seed)
    made = compositions(data, seed, COMPOSED)
    examples = path_examples(data, made, seed, EXAMPLES)
    steps = [step for n, step in enumerate(_steps(data.dev, data.dev_pool)) if n % 2 == 0]
    others = [step for n, step in enumerate(_steps(data.dev, data.dev_pool)) if n % 2]

    tokenizer, model = pair_tokenizer(), trained_classifier(relevance_model)
    model.to(best_device())  # type: ignore[arg-type]
    model.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(model)

    classify = partial(probabilities, model, tokenizer, max_tokens=RECIPE.max_tokens)
    figures = partial(step_figures, classify, steps)
    alone = step_figures(minilm_classifier(relevance_model).probabilities, steps, with_lead=False)
    loss_of = classification_loss(model, tokenizer, RECIPE.max_tokens)
    recipe = replace(RECIPE, seed=seed)
    train(model, examples, loss_of, recipe, run, figures)
    trained = figures()
    temperature = _temperature(classify, others)
    write_model(
        out,
        "path",
        model,
        packaged_classifier(LABELS),
        RECIPE.max_tokens,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = step_figures(minilm_classifier(out).probabilities, steps)
    write_card(
        out,
        "path",
        data.digests,
        {"path": recipe},
        {"relevance model": alone, "as trained": trained, "as shipped": shipped},
        claims=data.described,
        composed=len(made),
        examples=len(examples),
        steps=len(steps),
    )
    return shipped


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
