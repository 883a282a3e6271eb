"""Claims and answers for tests of the measures."""

from collections.abc import Sequence
from typing import Any

from research.evaluation.claims import FeverClaim
from research.evaluation.run import Answer
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Retrieved, SentenceKey


def claim(number: int, label: Label, *sets: Sequence[tuple[str, int]]) -> FeverClaim:
    """Return a claim with these evidence sets."""
    return FeverClaim(
        f"Claim {number}.", label, tuple(tuple(group) for group in sets), number, f"line {number}"
    )


def answer(label: Label, evidence: Any = (), pages: Any = (), hops: Any = ()) -> Answer:
    """Return an answer; its ranking is its evidence, and all that was retrieved."""
    passages = tuple(SentenceKey(*key) for key in evidence)
    found = Retrieved(tuple((page, ("title",)) for page in pages), passages)
    ranked = tuple((key, 1.0) for key in evidence)
    seconds = {"total": 0.5, "ranking": 0.2}
    given = {"evidence": tuple(evidence), "ranked": ranked, "retrieved": found, "seconds": seconds}
    return Answer(label=label, confidence=0.5, pages=tuple(pages), hops=tuple(hops), **given)


# Four claims whose measures the tests compute by hand.
CLAIMS = [
    claim(1, SUPPORTS, [("A", 0)], [("A", 1), ("B", 0)]),
    claim(2, REFUTES, [("C", 2), ("D", 0)]),
    claim(3, NOT_ENOUGH_INFO),
    claim(4, SUPPORTS, [("E", 1)]),
]
ANSWERS = [
    # A whole set (A 0) and one sentence of another; two of three sentences are in some set.
    answer(SUPPORTS, [("X", 0), ("A", 0), ("B", 0)], ["X", "A", "B"]),
    # Half of the only set, but both its pages; the label is right.
    answer(REFUTES, [("C", 2), ("C", 0)], ["C", "Y", "Z", "Z2", "Z3", "D"]),
    # Undecided and called so, whatever its evidence.
    answer(NOT_ENOUGH_INFO, [("A", 0)], ["A"]),
    # The evidence is right and the label is not.
    answer(REFUTES, [("E", 1)], ["E"]),
]
