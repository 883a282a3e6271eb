from __future__ import annotations

import pytest

from retrieval.proof import label_of
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    OPERATORS,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
)


@pytest.mark.parametrize(
    ("operators", "label"),
    [
        ([], SUPPORTS),
        ([EQUIVALENCE], SUPPORTS),
        ([NEGATION], REFUTES),
        ([ALTERNATION], REFUTES),
        ([INDEPENDENCE], NOT_ENOUGH_INFO),
        ([NEGATION, EQUIVALENCE], REFUTES),
        ([NEGATION, NEGATION], SUPPORTS),
        ([ALTERNATION, NEGATION], SUPPORTS),
        ([NEGATION, ALTERNATION], NOT_ENOUGH_INFO),
        ([ALTERNATION, INDEPENDENCE], NOT_ENOUGH_INFO),
        ([EQUIVALENCE, ALTERNATION, EQUIVALENCE], REFUTES),
    ],
)
def test_each_step_leads_to_the_state_of_the_published_automaton(
    operators: list[Operator], label: Label
) -> None:
    assert label_of(operators) == label


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_once_left_open_stays_open(operator: Operator) -> None:
    assert label_of([INDEPENDENCE, operator]) == NOT_ENOUGH_INFO
    assert label_of([NEGATION, ALTERNATION, operator]) == NOT_ENOUGH_INFO
