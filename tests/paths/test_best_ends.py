from __future__ import annotations

from dataclasses import replace

from retrieval.paths.best_ends import best_ends
from retrieval.types import Evidence
from tests.evidence import evidence

A, B, C = (evidence(title, "text", score) for title, score in (("A", 0.3), ("B", 0.2), ("C", 0.1)))


def path_end(title: str, score: float, lead: Evidence) -> Evidence:
    return replace(evidence(title, "text", score), path=(lead.key,))


def ends(*paths: Evidence, count: int = 2, read: tuple[Evidence, ...] = ()) -> list[Evidence]:
    return best_ends([A, B, C], paths, {(item.path, item.key) for item in read}, count)


def test_the_surest_ends_are_chosen_and_come_best_first() -> None:
    d, e, f = path_end("D", 0.4, A), path_end("E", 0.9, A), path_end("F", 0.5, B)
    assert ends(d, e, f) == [e, f]


def test_a_sentence_that_ends_several_paths_is_chosen_once_with_the_surest() -> None:
    weaker, surer, other = path_end("D", 0.8, A), path_end("D", 0.9, B), path_end("E", 0.7, A)
    assert ends(weaker, surer, other) == [surer, other]


def test_two_sentences_are_chosen_in_one_direction() -> None:
    one, back, other = path_end("B", 0.9, A), path_end("A", 0.8, B), path_end("D", 0.1, A)
    assert ends(one, back, other) == [one, other]


def test_what_the_verifier_has_read_is_not_chosen_again() -> None:
    known, new = path_end("D", 0.9, A), path_end("E", 0.4, A)
    assert ends(known, new, count=1, read=(known,)) == [new]


def test_a_path_that_begins_outside_the_evidence_is_not_chosen() -> None:
    lost = path_end("D", 0.9, evidence("Z", "text"))
    assert ends(lost, path_end("D", 0.4, A)) == [path_end("D", 0.4, A)]
