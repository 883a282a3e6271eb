from __future__ import annotations

import pytest

from research.benchmarks.dense import Plan, question_examples, taught_together
from research.training.dense_examples import DenseExample, ExampleSets
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS

SUPPORTED, REFUTED, UNKNOWN = map(LABELS.index, (SUPPORTS, REFUTES, NOT_ENOUGH_INFO))
CLAIM = DenseExample("Ann Lee wrote Ulysses.", (), (1,), (4,), (1, SUPPORTED))
STEP = DenseExample("Ann Lee wrote Emma.", (("Ann Lee", "She wrote."),), (2,), (), (2, SUPPORTED))
PIECE = DenseExample("Ann Lee was an", (), (3,))


def test_questions_about_a_supported_claim_want_its_evidence() -> None:
    others = [
        STEP,
        DenseExample("Ann Lee wrote Macbeth.", (), (0,), (), (0, REFUTED)),
        DenseExample("Ann Lee wrote Hamlet.", (), (), (), (0, UNKNOWN)),
    ]
    assert question_examples([CLAIM, *others]) == [
        DenseExample("Who wrote Ulysses?", (), (1,), (4,)),
        DenseExample("What did Ann Lee write?", (), (1,), (4,)),
    ]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(), [[{CLAIM, STEP, PIECE}]]),
        (Plan(mixing="one set, FEVER twice"), [[{CLAIM, STEP}, {PIECE}]]),
        (Plan(encoders=2), [[{CLAIM, PIECE}], [{STEP}]]),
    ],
)
def test_batches_have_what_a_plan_says(plan: Plan, expected: list[list[set[DenseExample]]]) -> None:
    taught = taught_together(ExampleSets([CLAIM, STEP], [PIECE], 0), plan)
    assert [[set(batch.examples) for batch in batches] for batches in taught] == expected
