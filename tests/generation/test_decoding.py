"""Beam search over five titles, with probabilities that are summed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.generation.decoding import LONGEST, Generated, Markup, generate
from retrieval.titles.title_trie import TitleTrie

FIRST, SECOND, THIRD = 1, 2, 3  # sentence identifiers
BEGIN, END = 8, 9
MARKUP = Markup(BEGIN, END)
LAMP, SONG, OPEN, CLOSE, OSLO, ANN, LEE = 10, 11, 12, 13, 14, 15, 16
VOCABULARY = 20
# "Lamp" is how "Lamp (song)" begins; two documents are called "Ann Lee".
TITLES = [
    ("lamp", [LAMP]),
    ("lamp_song", [LAMP, OPEN, SONG, CLOSE]),
    ("oslo", [OSLO]),
    ("ann_lee", [ANN, LEE]),
    ("ann_lee_2", [ANN, LEE]),
]
TRIE = TitleTrie.of([tokens for _, tokens in TITLES], [name for name, _ in TITLES])


class Told:
    """A reading whose probabilities are written down; what is not told is impossible."""

    def __init__(
        self,
        probabilities: Mapping[tuple[int, ...], Mapping[int, float]],
        identifiers: Sequence[int] = (FIRST, SECOND),
    ) -> None:
        self.identifiers = identifiers
        self._probabilities = probabilities
        self.asked: list[list[tuple[int, ...]]] = []

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        before = self.asked[-1] if self.asked else []
        assert all(prefix == () or prefix[:-1] in before for prefix in prefixes)
        self.asked.append(list(prefixes))
        scores = np.full((len(prefixes), VOCABULARY), 1e-12)
        for row, prefix in zip(scores, prefixes, strict=True):
            for token, probability in self._probabilities.get(prefix, {}).items():
                row[token] = probability
        return np.log(scores).astype(np.float32)


def of(found: list[Generated]) -> dict[str, float]:
    return {document.document_id: document.probability for document in found}


# Three ways to Oslo, by the first sentence, the second and both; one to each of the others.
WAYS = {
    (): {FIRST: 0.5, SECOND: 0.4},
    (FIRST,): {BEGIN: 0.8, SECOND: 0.2},
    (SECOND,): {BEGIN: 1.0},
    (FIRST, SECOND): {BEGIN: 1.0},
    (FIRST, BEGIN): {OSLO: 0.3, LAMP: 0.6},
    (SECOND, BEGIN): {OSLO: 0.5, ANN: 0.5},
    (FIRST, SECOND, BEGIN): {OSLO: 1.0},
    (FIRST, BEGIN, OSLO): {END: 1.0},
    (SECOND, BEGIN, OSLO): {END: 1.0},
    (FIRST, SECOND, BEGIN, OSLO): {END: 0.9},
    (FIRST, BEGIN, LAMP): {END: 0.5, OPEN: 0.5},
    (FIRST, BEGIN, LAMP, OPEN): {SONG: 0.5},
    (FIRST, BEGIN, LAMP, OPEN, SONG): {CLOSE: 1.0},
    (FIRST, BEGIN, LAMP, OPEN, SONG, CLOSE): {END: 1.0},
    (SECOND, BEGIN, ANN): {LEE: 0.9},
    (SECOND, BEGIN, ANN, LEE): {END: 1.0},
}


def test_a_document_has_the_probabilities_of_all_sentences_that_lead_to_it() -> None:
    found = generate(Told(WAYS), MARKUP, TRIE, beams=10)
    assert [document.document_id for document in found] == [
        "oslo",
        "ann_lee",
        "ann_lee_2",
        "lamp",
        "lamp_song",
    ]
    told = of(found)
    # 0.5 * 0.8 * 0.3 by the first, 0.4 * 0.5 by the second, 0.5 * 0.2 * 0.9 by both
    assert told["oslo"] == pytest.approx(0.12 + 0.2 + 0.09, rel=1e-5)
    assert told["ann_lee"] == told["ann_lee_2"] == pytest.approx(0.4 * 0.5 * 0.9, rel=1e-5)
    assert told["lamp"] == pytest.approx(0.5 * 0.8 * 0.6 * 0.5, rel=1e-5)
    assert told["lamp_song"] == pytest.approx(0.5 * 0.8 * 0.6 * 0.5 * 0.5, rel=1e-5)


def test_the_returned_sentences_are_those_of_the_most_probable_set() -> None:
    found = {d.document_id: d.sentences for d in generate(Told(WAYS), MARKUP, TRIE, beams=10)}
    assert found["oslo"] == (1,)
    assert found["lamp"] == (0,)


def test_of_two_sentences_the_one_with_the_greater_part_comes_first() -> None:
    both = {
        (): {FIRST: 0.8, SECOND: 0.2},
        (FIRST,): {SECOND: 0.9},
        (SECOND,): {BEGIN: 1.0},
        (FIRST, SECOND): {BEGIN: 1.0},
        (FIRST, SECOND, BEGIN): {OSLO: 1.0},
        (SECOND, BEGIN): {OSLO: 1.0},
        (FIRST, SECOND, BEGIN, OSLO): {END: 1.0},
        (SECOND, BEGIN, OSLO): {END: 1.0},
    }
    found = generate(Told(both), MARKUP, TRIE, beams=2)[0]
    # The first has 0.72 of it, the second 0.72 and 0.2.
    assert (found.document_id, found.sentences) == ("oslo", (1, 0))
    assert found.probability == pytest.approx(0.92, rel=1e-5)


def test_a_narrow_search_follows_the_best_beginnings_alone() -> None:
    found = generate(Told(WAYS), MARKUP, TRIE, beams=1)
    # FIRST (0.5), BEGIN (0.4), LAMP (0.24), END (0.12); no other beginning was kept.
    assert [document.document_id for document in found] == ["lamp"]
    assert found[0].probability == pytest.approx(0.12, rel=1e-5)


def test_the_search_ends_when_nothing_better_can_come() -> None:
    reading = Told(WAYS)
    generate(reading, MARKUP, TRIE, beams=1)
    # After "Lamp" ended with 0.12, "Lamp (" has 0.12 too and can only become less.
    assert [len(prefixes[0]) for prefixes in reading.asked] == [0, 1, 2, 3]


def test_documents_that_were_read_before_make_room_for_others() -> None:
    found = generate(Told(WAYS), MARKUP, TRIE, beams=1, unwanted={"lamp"})
    assert [document.document_id for document in found] == ["lamp_song"]
    found = generate(Told(WAYS), MARKUP, TRIE, beams=10, unwanted={"oslo", "ann_lee"})
    assert [document.document_id for document in found] == ["ann_lee_2", "lamp", "lamp_song"]


def test_sentences_come_in_ascending_order_and_two_at_most() -> None:
    reading = Told({}, identifiers=(FIRST, SECOND, THIRD))
    generate(reading, MARKUP, TRIE, beams=1000)
    asked = {prefix for prefixes in reading.asked for prefix in prefixes}
    named = {prefix[: prefix.index(BEGIN)] for prefix in asked if BEGIN in prefix}
    assert named == {
        (FIRST,),
        (SECOND,),
        (THIRD,),
        (FIRST, SECOND),
        (FIRST, THIRD),
        (SECOND, THIRD),
    }


def test_only_titles_that_exist_follow_the_sentences() -> None:
    reading = Told({}, identifiers=(FIRST,))
    generate(reading, MARKUP, TRIE, beams=1000)
    asked = {prefix for prefixes in reading.asked for prefix in prefixes}
    titles = {prefix[prefix.index(BEGIN) + 1 :] for prefix in asked if BEGIN in prefix}
    beginnings = {tuple(tokens[:n]) for _, tokens in TITLES for n in range(len(tokens) + 1)}
    assert titles == beginnings


def test_a_model_that_names_no_sentences_begins_with_the_title() -> None:
    told = {
        (): {BEGIN: 1.0},
        (BEGIN,): {OSLO: 0.7, LAMP: 0.3},
        (BEGIN, OSLO): {END: 1.0},
        (BEGIN, LAMP): {END: 1.0},
    }
    found = generate(Told(told, identifiers=()), MARKUP, TRIE, beams=2)
    assert [(d.document_id, d.sentences) for d in found] == [("oslo", ()), ("lamp", ())]
    assert of(found)["oslo"] == pytest.approx(0.7, rel=1e-5)


def test_equally_probable_documents_come_in_order_of_their_ids() -> None:
    told = {
        (): {FIRST: 1.0},
        (FIRST,): {BEGIN: 1.0},
        (FIRST, BEGIN): {OSLO: 0.5, LAMP: 0.5},
        (FIRST, BEGIN, OSLO): {END: 1.0},
        (FIRST, BEGIN, LAMP): {END: 1.0},
    }
    found = generate(Told(told, identifiers=(FIRST,)), MARKUP, TRIE, beams=3)
    assert [document.document_id for document in found][:2] == ["lamp", "oslo"]


def test_where_there_are_no_titles_nothing_is_generated() -> None:
    empty = TitleTrie.of([], [])
    assert generate(Told(WAYS), MARKUP, empty, beams=5) == []


def test_a_title_that_is_far_too_long_is_not_generated_and_the_search_ends() -> None:
    titles = [[OSLO], [LAMP] * (LONGEST + 5)]
    trie = TitleTrie.of(titles, ["o", "l"])
    reading = Told({(BEGIN, *[LAMP] * n): {LAMP: 0.9} for n in range(LONGEST + 9)}, ())
    found = generate(reading, MARKUP, trie, beams=10)
    assert [document.document_id for document in found] == ["o"]
    assert len(reading.asked) == LONGEST + 1
