from __future__ import annotations

import pytest

from research.evaluation.measures.sufficiency import mean_hops, sufficiency
from research.evaluation.predictions import Answer, AnswerHop
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.evaluation.answers import answer, claim

LEFT, RIGHT = ("L", 0), ("R", 0)
TWO_PAGES = [claim(number, SUPPORTS, [LEFT, RIGHT]) for number in range(4)]


def asked(*best: tuple[str, int], sufficient: bool, label: Label, hops: int = 1) -> Answer:
    first = AnswerHop(sufficient, label, best)
    return answer(SUPPORTS, hops=[first, *[AnswerHop(True, SUPPORTS, best)] * (hops - 1)])


ANSWERS = [
    # Both sentences are there and it stops, which is right.
    asked(LEFT, RIGHT, sufficient=True, label=SUPPORTS),
    # Both are there and it continues: called insufficient, but is not.
    asked(LEFT, RIGHT, sufficient=False, label=SUPPORTS, hops=3),
    # One is missing and it continues, although there was a verdict.
    asked(LEFT, sufficient=False, label=REFUTES, hops=2),
    # One is missing and it stops, although the verdict was NOT ENOUGH INFO.
    asked(RIGHT, ("X", 1), sufficient=True, label=NOT_ENOUGH_INFO),
]


def test_the_first_hop_of_claims_with_several_pages_is_counted_by_hand() -> None:
    found = sufficiency(TWO_PAGES, ANSWERS)
    assert found is not None
    assert (found.claims, found.insufficient) == (4, 2)
    assert (found.own.precision, found.own.recall) == (0.5, 0.5)
    assert (found.verdict.precision, found.verdict.recall) == (1.0, 0.5)
    assert (found.always.precision, found.always.recall) == (0.5, 1.0)
    assert (found.never.precision, found.never.recall) == (None, 0.0)


def test_intervals_contain_their_figure_and_are_reproducible() -> None:
    first, second = sufficiency(TWO_PAGES, ANSWERS), sufficiency(TWO_PAGES, ANSWERS)
    assert first == second
    assert first is not None
    assert first.always.precision_interval is not None
    low, high = first.always.precision_interval
    assert low <= 0.5 <= high


def test_claims_that_need_one_page_are_left_out() -> None:
    assert sufficiency([claim(1, SUPPORTS, [LEFT])], [ANSWERS[0]]) is None


def test_systems_without_hops_are_left_out() -> None:
    assert sufficiency(TWO_PAGES[:1], [answer(SUPPORTS)]) is None
    assert mean_hops([answer(SUPPORTS)]) is None


def test_hops_are_averaged_over_answers_that_have_them() -> None:
    assert mean_hops([*ANSWERS, answer(SUPPORTS)]) == pytest.approx((1 + 3 + 2 + 1) / 4)
