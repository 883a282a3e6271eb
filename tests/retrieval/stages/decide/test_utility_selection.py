from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retrieval.stages.decide.selection import UtilitySelector
from retrieval.types import Evidence
from tests.support.evidence import evidence

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


def choose(
    selector: UtilitySelector,
    found: Sequence[Evidence],
    relevance: Sequence[float] | None = None,
    verified: bool = False,
) -> list[Evidence]:
    """Select; unless `verified` says otherwise, the scores of the evidence are its relevance."""
    known = [item.score for item in found] if relevance is None else relevance
    by_key = {item.key: score for item, score in zip(found, known, strict=True)}
    return selector.select(CLAIM, found, by_key, verified)


def selected(
    *useful: float, candidates: int = 10, limit: int = 5, count: int | None = None
) -> list[tuple[str, bool]]:
    selector = UtilitySelector(Says(*useful), candidates, 0.4, limit)
    found = choose(selector, items(len(useful) if count is None else count))
    return [(item.title.removeprefix("Page "), item.selected) for item in found]


def test_sentences_with_a_share_of_the_best_odds_are_selected_and_come_first() -> None:
    # The odds are 4, 9, 1/9 and 1.5; 40 % of the best is 3.6.
    assert selected(0.8, 0.9, 0.1, 0.6) == [("0", True), ("1", True), ("2", False), ("3", False)]


def test_those_that_are_selected_keep_their_order() -> None:
    # The odds are 1/4, 2/3, 1/9 and 1; the bar is 0.4.
    assert selected(0.2, 0.4, 0.1, 0.5) == [("1", True), ("3", True), ("0", False), ("2", False)]


def test_of_too_many_useful_ones_the_least_useful_are_left_out() -> None:
    assert selected(0.8, 0.9, 0.85, limit=2) == [("1", True), ("2", True), ("0", False)]


def test_of_equally_useful_ones_the_more_relevant_are_selected() -> None:
    assert selected(0.7, 0.7, 0.7, limit=2) == [("0", True), ("1", True), ("2", False)]


def test_what_led_to_a_useful_sentence_is_selected_with_it_and_counts() -> None:
    lead, *others = items(4)
    led = replace(others[1], path=(lead.key,))
    selector = UtilitySelector(Says(0.1, 0.8, 0.9, 0.85), 10, 0.4, limit=3)
    found = choose(selector, [lead, others[0], led, others[2]])
    # Most useful first: page 2 with what led to it, page 3; then page 1 is one too many.
    assert [item.title for item in found if item.selected] == ["Page 0", "Page 2", "Page 3"]


def test_no_more_than_the_best_candidates_are_read() -> None:
    assert selected(0.1, 0.6, 0.9, candidates=2) == [("1", True), ("0", False), ("2", False)]


def test_a_sentence_is_read_with_its_title_and_its_relevance() -> None:
    model = Says(0.9, 0.9)
    choose(UtilitySelector(model, 10, 0.4, 5), items(2))
    asked = [(claim, sentence) for claim, sentence, _ in model.read]
    assert asked == [(CLAIM, ("Page 0", "a pier")), (CLAIM, ("Page 1", "a pier"))]
    assert np.allclose([relevance for _, _, relevance in model.read], [0.9, 0.8])


def test_after_the_verifier_the_mean_of_both_log_odds_decides() -> None:
    # The verifier's odds are 9, 4 and 7/3, the model's 1/4, 1/9 and 2/3. The roots of their
    # products are 1.5, 0.67 and 1.25; half of the best is 0.75.
    found = choose(UtilitySelector(Says(0.2, 0.1, 0.4), 10, 0.5, 5), items(3), verified=True)
    assert [(item.title, item.selected) for item in found] == [
        ("Page 0", True),
        ("Page 2", True),
        ("Page 1", False),
    ]


def test_after_the_verifier_the_model_still_reads_the_relevance_models_scores() -> None:
    model = Says(0.9, 0.9)
    choose(UtilitySelector(model, 10, 0.4, 5), items(2), relevance=[0.3, 0.6], verified=True)
    assert [relevance for _, _, relevance in model.read] == [0.3, 0.6]


def test_a_later_hop_selects_anew() -> None:
    first = choose(UtilitySelector(Says(0.9), 10, 0.4, 5), items(1))
    later = [*first, evidence("Rock", "a rock", 0.3)]
    second = choose(UtilitySelector(Says(0.1, 0.8), 10, 0.4, 5), later)
    assert [(i.title, i.selected) for i in second] == [("Rock", True), ("Page 0", False)]


def test_without_evidence_nothing_is_read_or_selected() -> None:
    model = Says()
    assert choose(UtilitySelector(model, 10, 0.4, 5), []) == []
    assert model.read == []
