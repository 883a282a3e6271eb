"""The label that the steps of a proof lead to.

ProoFVer's automaton (Krishna et al. 2022, 3.2), over the four operators that
AdMIRaL (3.2) keeps of natural logic's seven (MacCartney and Manning 2014).
"""

from __future__ import annotations

from collections.abc import Iterable

from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
)

_NEXT: dict[Label, dict[Operator, Label]] = {
    SUPPORTS: {
        EQUIVALENCE: SUPPORTS,
        NEGATION: REFUTES,
        ALTERNATION: REFUTES,
        INDEPENDENCE: NOT_ENOUGH_INFO,
    },
    REFUTES: {
        EQUIVALENCE: REFUTES,
        NEGATION: SUPPORTS,
        # An alternative of an alternative of the claim may be anything.
        ALTERNATION: NOT_ENOUGH_INFO,
        INDEPENDENCE: NOT_ENOUGH_INFO,
    },
}


def label_of(operators: Iterable[Operator]) -> Label:
    """Return the label that a proof's operators lead to, from SUPPORTS and left to right.

    NOT ENOUGH INFO is never left again.
    """
    state: Label = SUPPORTS
    for operator in operators:
        if state == NOT_ENOUGH_INFO:
            break
        state = _NEXT[state][operator]
    return state
