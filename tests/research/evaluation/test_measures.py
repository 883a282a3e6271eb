"""The measures, on claims, answers and searches that are worked out by hand."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from research.evaluation.claims import AnnotatedClaim
from research.evaluation.measures import esoteric_table as tables
from research.evaluation.measures import scores as measured
from research.evaluation.run import Answer, AnswerHop
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.evaluation.answers import ANSWERS, CLAIMS, answer, claim
from tests.support.cases import cases


def test_the_reliability_curve_its_error_and_the_accuracy_of_the_most_confident() -> None:
    confidence = np.array([0.95, 0.97, 0.61, 0.63, 1.0])
    right = np.array([True, True, True, False, False])
    low, high = measured.reliability(confidence, right)  # a point for each bin with answers
    assert low == measured.Bin(0.6, 0.7, 2, pytest.approx(0.62), 0.5)
    assert high == measured.Bin(0.9, 1.0, 3, pytest.approx(2.92 / 3), pytest.approx(2 / 3))
    expected = (2 * 0.12 + 3 * (2.92 / 3 - 2 / 3)) / 5  # the gap, weighted by size
    assert measured.calibration_error(confidence, right) == pytest.approx(expected)
    # The least confident of five is 0.61, which is right.
    assert measured.accuracy_of_most_confident(confidence, right, 0.8) == 2 / 4
    assert measured.accuracy_of_most_confident(confidence, right, 0.2) == 0.0


def test_figures_are_those_counted_by_hand() -> None:
    counted = measured.figures_of(measured.score_matrix(CLAIMS, ANSWERS))
    figures = dict(zip(measured.FIGURES, counted, strict=True))
    of_labels_and_evidence = {name: figures[name] for name in measured.FIGURES[:9]}
    assert of_labels_and_evidence == pytest.approx(
        {
            "label_accuracy": 3 / 4,
            # A whole set is asked for, unless the claim is undecided: claims 1 and 3.
            "fever_score": 2 / 4,
            # Precision is a mean over decided claims; recall counts claims with a whole set, even
            # if the label is wrong: 1 and 4. F1 is of the two means.
            "evidence_precision": (2 / 3 + 1 / 2 + 1) / 3,
            "evidence_recall": 2 / 3,
            "evidence_f1": 2 * 13 / 18 * 2 / 3 / (13 / 18 + 2 / 3),
            # The pages of a whole set are asked for; undecided claims are taken as right.
            "ofever": 1,
            # Claim 1 has A second, claim 2 has D sixth, claim 4 has E first.
            "page_recall@1": 1 / 3,
            "page_recall@5": 2 / 3,
            "page_recall@10": 1,
        }
    )


def test_the_first_five_pieces_of_evidence_count_and_no_claim_makes_no_number() -> None:
    late = answer(SUPPORTS, [("A", number) for number in range(6)], ["A"])
    assert measured.scores_of(claim(1, SUPPORTS, [("A", 5)]), late)[:4] == [1.0, 0.0, 0.0, 0.0]
    known = claim(1, SUPPORTS, [("Caf\u00e9", 0)])
    same = answer(SUPPORTS, [("Cafe\u0301", 0)], ["Cafe\u0301"])
    assert measured.scores_of(known, same)[1:5] == [1, 1, 1, 1]
    # A figure in which no claim has a part is no number.
    figures = measured.figures_of(
        measured.score_matrix([claim(1, NOT_ENOUGH_INFO)], [answer(NOT_ENOUGH_INFO)])
    )
    assert dict(zip(measured.FIGURES, figures, strict=True))["fever_score"] == 1.0
    assert math.isnan(dict(zip(measured.FIGURES, figures, strict=True))["evidence_f1"])


def scores(first_column: list[float]) -> np.ndarray:
    matrix = np.zeros((len(first_column), len(measured.COLUMNS)))
    matrix[:, 0] = first_column
    return matrix


def test_intervals_narrow_with_more_claims_and_ten_coins_have_their_probability() -> None:
    few = measured.confidence_intervals(scores([0.0, 1.0] * 20), range(40))[0]
    many = measured.confidence_intervals(scores([0.0, 1.0] * 500), range(1000))[0]
    assert few[0] < 0.5 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    # Normal approximation: 1.96 * sqrt(0.25 / 1000) = 0.031 to either side.
    assert abs(many[1] - 0.531) < 0.005
    assert abs(many[0] - 0.469) < 0.005

    # Ten claims that differ in one direction are as probable as ten coins.
    def p_value(groups: Sequence[object]) -> float:
        return float(measured.paired_p_values(scores([1.0] * 10), scores([0.0] * 10), groups)[0])

    # Ten pairs, all won: two-sided 2 / 2^10 = 0.00195.
    assert 0 < p_value(range(10)) < 2 / 2**10 + 0.002
    # Two groups of one page each, both won: of four ways that the coins fall, two differ as much.
    assert abs(p_value(["a"] * 5 + ["b"] * 5) - 0.5) < 0.04


def test_the_first_hop_of_claims_with_several_pages_is_counted_by_hand() -> None:
    left, right = ("L", 0), ("R", 0)
    two_pages = [claim(number, SUPPORTS, [left, right]) for number in range(4)]

    def asked(*best: tuple[str, int], sufficient: bool, label: Label, hops: int = 1) -> Answer:
        first = AnswerHop(sufficient, label, best)
        return answer(SUPPORTS, hops=[first, *[AnswerHop(True, SUPPORTS, best)] * (hops - 1)])

    answers = [
        # Both sentences are there and it stops, which is right.
        asked(left, right, sufficient=True, label=SUPPORTS),
        # Both are there and it continues: called insufficient, but is not.
        asked(left, right, sufficient=False, label=SUPPORTS, hops=3),
        # One is missing and it continues, although there was a verdict.
        asked(left, sufficient=False, label=REFUTES, hops=2),
        # One is missing and it stops, although the verdict was NOT ENOUGH INFO.
        asked(right, ("X", 1), sufficient=True, label=NOT_ENOUGH_INFO),
    ]
    found = measured.sufficiency(two_pages, answers)
    assert (found.claims, found.insufficient) == (4, 2)
    assert (found.own.precision, found.own.recall) == (0.5, 0.5)
    assert (found.verdict.precision, found.verdict.recall) == (1.0, 0.5)
    assert (found.always.precision, found.always.recall) == (0.5, 1.0)
    assert (found.never.precision, found.never.recall) == (None, 0.0)
    # Systems without hops are left out.
    assert measured.sufficiency(two_pages[:1], [answer(SUPPORTS)]) is None
    assert measured.mean_hops([answer(SUPPORTS)]) is None


def search(
    label: Label, sets: Any, documents: Any, passages: Any, retrieval: float
) -> tables.Search:
    """``sets``: of keys; ``documents``: with the way; ``passages``: with what each covers."""
    claim = AnnotatedClaim("A claim.", label, tuple(map(tuple, sets)))
    found = [tables.RetrievedPassage(page, frozenset(covers)) for page, covers in passages]
    return tables.Search(claim, tuple(documents), tuple(found), retrieval, retrieval + 1.0)


LAMP, LAMP_1, QUAY = ("Lamp", 0), ("Lamp", 1), ("Quay", 2)
# Two sets, on Lamp and on Pier, both found. Of Lamp both annotated sentences are covered, one
# of them twice; of Pier none. Boat is a wrong document.
FIRST = [("Lamp", "title"), ("Boat", "text"), ("Pier", "text")]
COVERED = [("Lamp", [LAMP]), ("Lamp", [LAMP, LAMP_1]), ("Pier", []), ("Boat", [])]
# One set on two pages; only Quay is found, and its sentence.
SECOND, HALF = [("Quay", "disambiguation")], [("Quay", [QUAY]), ("Quay", [])]
SEARCHES = [
    search(SUPPORTS, [[LAMP], [LAMP_1, ("Pier", 0)]], FIRST, COVERED, retrieval=2.0),
    search(REFUTES, [[QUAY, ("Harbour", 0)]], SECOND, HALF, retrieval=1.0),
    # Nothing is found.
    search(SUPPORTS, [[("Sluice", 1)]], [("Boat", "words")], [("Boat", [])], retrieval=3.0),
]
TABLE = tables.esoteric_table(SEARCHES)


@cases("esoteric_table", "row", "counted")
def test_a_row_is_counted_in_three_ways(row: str, counted: list[float | None]) -> None:
    """As the text of the report counts, and its program by document and by passage."""
    found = [TABLE[counting].get(row) for counting in tables.COUNTINGS]
    assert found == [None if value is None else pytest.approx(value) for value in counted]


def test_undecided_claims_are_no_searches_and_the_table_is_shown() -> None:
    (found,) = tables.searches_of([CLAIMS[0], CLAIMS[2]], [ANSWERS[0], ANSWERS[2]])
    assert found.found == {"X", "A", "B"}
    assert found.covered == {("A", 0), ("B", 0)}
    assert (found.retrieval, found.total) == (0.5, 0.5)
    seconds = {"total": 0.5, "ranking": 0.2, "verification": 0.2, "verdict": 0.1}
    timed = tables.Search.of(CLAIMS[0], ANSWERS[0].retrieved, seconds, lambda key: frozenset())
    assert timed.retrieval == pytest.approx(0.2)
    assert tables.esoteric_table(tables.searches_of(CLAIMS[2:3], ANSWERS[2:3])) == {}
    # The table is shown with the figures of the report.
    shown = tables.as_markdown(TABLE).splitlines()
    assert shown[0] == "|  | report | text | program, by document | program, by passage |"
    assert "| combined recall | 69.3 | 50.0 | 33.3 | 50.0 |" in shown
    assert "| seconds a claim, retrieval | 31.75 | 2.00 | 1.50 | 1.50 |" in shown
    assert "| documents a claim | – | 1.67 | – | – |" in shown  # noqa: RUF001
    lines = tables.as_text("esoteric", TABLE).splitlines()
    assert lines[0].split()[:3] == ["esoteric", "report", "text"]
    assert len({len(line) for line in lines}) == 1
