from __future__ import annotations

from dataclasses import replace

from retrieval.stages.decide.completion import best_paths
from retrieval.types import Evidence
from tests.support.evidence import evidence

A, B, C = (evidence(title, "text", score) for title, score in (("A", 0.3), ("B", 0.2), ("C", 0.1)))


def path_to(title: str, score: float, lead: Evidence) -> Evidence:
    return replace(evidence(title, "text", score), path=(lead.key,))


def surest(
    *paths: Evidence, count: int = 2, cutoff: float = 0.0, read: tuple[Evidence, ...] = ()
) -> list[Evidence]:
    known = {(item.path, item.key) for item in read}
    return best_paths([A, B, C], paths, known, count, cutoff)


def test_the_best_paths_are_chosen_and_come_best_first() -> None:
    d, e, f = path_to("D", 0.4, A), path_to("E", 0.9, A), path_to("F", 0.5, B)
    assert surest(d, e, f) == [e, f]


def test_a_path_with_a_low_score_is_not_chosen() -> None:
    sure, doubted = path_to("D", 0.3, A), path_to("E", 0.29, A)
    assert surest(sure, doubted, cutoff=0.3) == [sure]


def test_a_sentence_may_end_several_paths() -> None:
    weaker, surer, other = path_to("D", 0.8, A), path_to("D", 0.9, B), path_to("E", 0.7, A)
    assert surest(weaker, surer, other) == [surer, weaker]


def test_two_sentences_are_chosen_in_one_direction() -> None:
    one, back, other = path_to("B", 0.9, A), path_to("A", 0.8, B), path_to("D", 0.1, A)
    assert surest(one, back, other) == [one, other]


def test_what_the_verifier_has_read_is_not_chosen_again() -> None:
    known, new = path_to("D", 0.9, A), path_to("E", 0.4, A)
    assert surest(known, new, count=1, read=(known,)) == [new]


def test_what_the_verifier_has_read_in_another_order_is_not_chosen_either() -> None:
    back, new = path_to("A", 0.9, B), path_to("E", 0.4, A)
    assert surest(back, new, count=1, read=(path_to("B", 0.9, A),)) == [new]


def test_a_path_that_begins_outside_the_evidence_is_not_chosen() -> None:
    lost = path_to("D", 0.9, evidence("Z", "text"))
    assert surest(lost, path_to("D", 0.4, A)) == [path_to("D", 0.4, A)]
