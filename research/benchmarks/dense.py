"""How the query encoder of M3 is best trained: one run for each decision, on a sample of the data.

python -m research.benchmarks.dense --data DATA

Every plan has the same number of steps, of the same size, from the packaged weights, with the
settings of ``esoteric train dense``. An interrupted comparison continues where it stopped.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import torch
from numpy.typing import NDArray

from research.training.data import TrainingData, load_data
from research.training.dense import (
    COMPOSED,
    FROM_PAGES,
    RECIPE,
    RELEVANT,
    joint_loss,
    likely_evidence,
    pool_vectors,
    score_of,
    training_vectors,
    untrained_network,
)
from research.training.dense_examples import DenseExample, ExampleSets
from research.training.dense_figures import Score, Searches, search_figures
from research.training.loop import train
from research.training.networks.minilm import row_tokenizer
from retrieval.models import runtime
from retrieval.models.encoders import Query
from retrieval.models.shipped import relevance_model
from retrieval.stages.find.questions import RuleQuestionGenerator
from retrieval.stages.find.spans import SpacySpanExtractor
from retrieval.text.english import EnglishParser
from retrieval.types import LABELS, SUPPORTS
from settings import Settings

PART = 4  # the sample has one of so many claims, and of so many examples made from pages
STEPS = 80
NEVER = 2.0  # no probability of relevance is as high


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to train.

    Attributes:
        relevant: sentences with this probability of relevance or more are no negatives.
        questions: whether questions are learnt.
        mixing: what a batch has: examples of all sets; the same with each of FEVER's twice; or
            examples of one set, with FEVER's set twice.
        encoders: one for all queries, or one for claims and one for claims with paths.
    """

    relevant: float = RELEVANT
    questions: bool = False
    mixing: Literal["all", "all, FEVER twice", "one set, FEVER twice"] = "all"
    encoders: Literal[1, 2] = 1


PLANS = {
    "as `esoteric train dense`": Plan(),
    "with questions": Plan(questions=True),
    "with questions, FEVER twice": Plan(questions=True, mixing="all, FEVER twice"),
    "the same, one set in a batch": Plan(questions=True, mixing="one set, FEVER twice"),
    "with questions, an encoder for claims, one for paths": Plan(questions=True, encoders=2),
    "every other sentence is a negative": Plan(relevant=NEVER),
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples that are learnt in one step; for the loop it is one example."""

    examples: tuple[DenseExample, ...]

    @property
    def length(self) -> int:
        """The length of the longest of them."""
        return max(example.length for example in self.examples)


class Bench:
    """Trains by a plan and measures the result."""

    def __init__(self, data: TrainingData, folder: Path) -> None:
        """Encode the sentences; ``folder`` stores vectors, opinions and checkpoints."""
        self._data, self._folder = data, folder
        self._relevance_model = relevance_model()
        self._dev_vectors = pool_vectors(data.dev_pool, folder)
        self._vectors = torch.from_numpy(training_vectors(data, self._dev_vectors, folder))
        self._searches = Searches.of(data.dev, data.dev_pool)
        self._tokenizer = row_tokenizer(RECIPE.max_tokens)
        self._sets: dict[float, ExampleSets] = {}

    def figures(self, number: int, plan: Plan) -> dict[str, float]:
        """Return the figures on dev of what the plan trains; ``number`` names its checkpoints."""
        taught = taught_together(self._sets_of(plan.relevant), plan)
        steps = [STEPS * len(part) // sum(map(len, taught)) for part in taught]
        scores = [
            self._trained(part, some, self._folder / f"plan-{number}-{encoder}")
            for encoder, (part, some) in enumerate(zip(taught, steps, strict=True))
        ]

        def score(queries: Sequence[Query]) -> NDArray[np.floating[Any]]:
            """Score with the last encoder if the queries have paths, with the first otherwise."""
            return scores[-1 if queries[0][1] else 0](queries)

        return search_figures(score, self._searches)

    def _sets_of(self, relevant: float) -> ExampleSets:
        if relevant not in self._sets:
            data = self._data
            ignored = likely_evidence(
                data.train, data.pool, self._relevance_model, self._folder, relevant
            )
            self._sets[relevant] = ExampleSets.of(
                data, ignored, COMPOSED // PART, FROM_PAGES // PART, RECIPE.seed
            )
        return self._sets[relevant]

    def _trained(self, batches: Sequence[Batch], steps: int, run: Path) -> Score:
        network = untrained_network()
        joint = joint_loss(network, self._tokenizer, self._vectors, RECIPE.max_tokens)
        recipe = replace(RECIPE, batch_size=1, steps=steps)
        train(network, batches, lambda one: joint(one[0].examples), recipe, run, lambda _: {})
        return score_of(network, self._tokenizer, self._dev_vectors)


def taught_together(sets: ExampleSets, plan: Plan) -> list[list[Batch]]:
    """Return the batches of each encoder."""
    fever = sets.claims * (1 if plan.mixing == "all" else 2)
    others = [*sets.others, *(question_examples(sets.claims) if plan.questions else [])]
    groups = [fever, others] if plan.mixing == "one set, FEVER twice" else [[*fever, *others]]
    with_paths = [(False, True)] if plan.encoders == 1 else [(False,), (True,)]
    return [
        [
            batch
            for group in groups
            for batch in batches([example for example in group if bool(example.path) in kinds])
        ]
        for kinds in with_paths
    ]


def question_examples(claims: Sequence[DenseExample]) -> list[DenseExample]:
    """Return an example for each question about a span of a supported claim (M3, 3.2.2).

    The claim's evidence answers it. A refuted claim may say what has no answer.
    """
    parser, spans, questions = EnglishParser(), SpacySpanExtractor(), RuleQuestionGenerator()
    supported = [
        example
        for example in claims
        if not example.path and example.verdict and LABELS[example.verdict[1]] == SUPPORTS
    ]
    examples = []
    for example in supported:
        doc = parser.parse(example.claim)
        asked = questions.ask(doc, spans.extract(doc))
        examples += [
            replace(example, claim=question.text, verdict=None)
            for question in asked
            if question.kind == "wh"
        ]
    return examples


def batches(examples: Sequence[DenseExample]) -> list[Batch]:
    """Return the examples in random order, with those of similar length in the same batch."""
    size = RECIPE.batch_size
    shuffled = random.Random(RECIPE.seed).sample(examples, len(examples))
    ordered = sorted(shuffled, key=lambda example: example.length)
    return [Batch(tuple(ordered[i : i + size])) for i in range(0, len(ordered), size)]


def sampled(data: TrainingData) -> TrainingData:
    """Return the data with one of ``PART`` claims."""
    claims = data.train[::PART]
    texts = {claim.text for claim in claims}
    contrasts = [contrast for contrast in data.contrasts if contrast.original in texts]
    return replace(data, train=claims, contrasts=contrasts, page_claims=data.page_claims[::PART])


@click.command()
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True
)
def main(data: Path) -> None:
    """Train by each plan and print the figures on dev."""
    settings = Settings.from_environment()
    torch.set_num_threads(settings.threads)
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    folder = settings.home / "benchmarks" / "dense"
    bench = Bench(sampled(load_data(data, folder, RECIPE.seed)), folder)
    for number, (name, plan) in enumerate(PLANS.items()):
        figures = bench.figures(number, plan)
        if not number:
            print(f"| {STEPS} steps | {' | '.join(figures)} |\n{'|---' * (1 + len(figures))}|")
        print(f"| {name} | {' | '.join(f'{v:.1f}' for v in figures.values())} |", flush=True)


if __name__ == "__main__":
    main()
