from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retrieval.stages.selection import UtilitySelector
from retrieval.types import Evidence
from tests.evidence import evidence

CLAIM = "The pier is long."


class Says:
    """Says how useful each sentence is and remembers what it was asked."""

    def __init__(self, *useful: float) -> None:
        self.useful = useful
        self.read: list[tuple[str, tuple[str, str], float]] = []

    def warm_up(self) -> None:
        """Nothing to load."""

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float64]:
        """Return what was told for as many sentences as are asked about."""
        self.read += [(claim, *both) for both in zip(sentences, relevance, strict=True)]
        return np.array(self.useful[: len(sentences)])


def items(count: int) -> list[Evidence]:
    scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    return [evidence(f"Page {n}", "a pier", scores[n]) for n in range(count)]


def selected(
    *useful: float, candidates: int = 10, limit: int = 5, count: int | None = None
) -> list[tuple[str, bool]]:
    selector = UtilitySelector(Says(*useful), candidates, limit)
    found = selector.select(CLAIM, items(len(useful) if count is None else count))
    return [(item.title.removeprefix("Page "), item.selected) for item in found]


def test_sentences_that_are_probably_useful_are_selected_and_come_first() -> None:
    # By relevance 0, 1, 2, 3: both useful ones keep their order, and so do the others.
    assert selected(0.49, 0.5, 0.1, 0.9) == [("1", True), ("3", True), ("0", False), ("2", False)]


def test_where_nothing_is_useful_the_most_useful_one_is_selected() -> None:
    assert selected(0.2, 0.4, 0.3) == [("1", True), ("0", False), ("2", False)]


def test_of_too_many_useful_ones_the_least_useful_are_left_out() -> None:
    assert selected(0.6, 0.9, 0.8, limit=2) == [("1", True), ("2", True), ("0", False)]


def test_of_equally_useful_ones_the_more_relevant_are_selected() -> None:
    assert selected(0.7, 0.7, 0.7, limit=2) == [("0", True), ("1", True), ("2", False)]


def test_what_led_to_a_useful_sentence_is_selected_with_it_and_counts() -> None:
    lead, *others = items(4)
    led = replace(others[1], path=(lead.key,))
    selector = UtilitySelector(Says(0.1, 0.6, 0.9, 0.7), 10, limit=3)
    found = selector.select(CLAIM, [lead, others[0], led, others[2]])
    # Most useful first: page 2 with what led to it, page 3; then page 1 is one too many.
    assert [item.title for item in found if item.selected] == ["Page 0", "Page 2", "Page 3"]


def test_no_more_than_the_best_candidates_are_read() -> None:
    assert selected(0.1, 0.6, 0.9, candidates=2) == [("1", True), ("0", False), ("2", False)]


def test_a_sentence_is_read_with_its_title_and_its_relevance() -> None:
    model = Says(0.9, 0.9)
    UtilitySelector(model, 10, 5).select(CLAIM, items(2))
    asked = [(claim, sentence) for claim, sentence, _ in model.read]
    assert asked == [(CLAIM, ("Page 0", "a pier")), (CLAIM, ("Page 1", "a pier"))]
    assert np.allclose([relevance for _, _, relevance in model.read], [0.9, 0.8])


def test_a_later_hop_selects_anew() -> None:
    first = UtilitySelector(Says(0.9), 10, 5).select(CLAIM, items(1))
    later = [*first, evidence("Rock", "a rock", 0.3)]
    second = UtilitySelector(Says(0.1, 0.8), 10, 5).select(CLAIM, later)
    assert [(i.title, i.selected) for i in second] == [("Rock", True), ("Page 0", False)]


def test_without_evidence_nothing_is_read_or_selected() -> None:
    model = Says()
    assert UtilitySelector(model, 10, 5).select(CLAIM, []) == []
    assert model.read == []
