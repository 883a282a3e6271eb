"""Beam search over five titles, with probabilities that are summed by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.models.papers.decoding import (
    LONGEST,
    DocumentSet,
    Generated,
    Markup,
    documents_alone,
    generate,
    joint_sets,
)
from retrieval.models.title_trie import TitleTrie

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


class Scripted:
    """A reading whose probabilities are written down; what is not reading is impossible."""

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


def sequences(
    reading: Scripted, beams: int, unwanted: Collection[str] = (), titles: TitleTrie = TRIE
) -> list[Generated]:
    """What is generated; the first two sentences are of the pages "pier" and "quay"."""
    return generate(reading, MARKUP, titles, beams, ("pier", "quay", "pier"), unwanted)


def alone(reading: Scripted, beams: int, unwanted: Collection[str] = ()) -> list[DocumentSet]:
    return documents_alone(sequences(reading, beams, unwanted))


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
    found = alone(Scripted(WAYS), beams=10)
    # To Oslo 0.5 * 0.8 * 0.3 by the first, 0.4 * 0.5 by the second, 0.5 * 0.2 * 0.9 by both.
    assert [(one.documents[-1], one.probability) for one in found] == [
        ("oslo", pytest.approx(0.12 + 0.2 + 0.09, rel=1e-5)),
        ("ann_lee", pytest.approx(0.4 * 0.5 * 0.9, rel=1e-5)),
        ("ann_lee_2", pytest.approx(0.4 * 0.5 * 0.9, rel=1e-5)),
        ("lamp", pytest.approx(0.5 * 0.8 * 0.6 * 0.5, rel=1e-5)),
        ("lamp_song", pytest.approx(0.5 * 0.8 * 0.6 * 0.5 * 0.5, rel=1e-5)),
    ]
    # Its sentences are those of the most probable way.
    assert (found[0].sentences, found[3].sentences) == ((1,), (0,))


def test_a_set_has_the_probabilities_of_all_sentences_of_its_documents() -> None:
    found = joint_sets(sequences(Scripted(WAYS), beams=10))
    reading = {one.documents: one.probability for one in found}
    # To Oslo lead the first sentence, the second, and both; each is another set.
    assert reading["pier", "oslo"] == pytest.approx(0.5 * 0.8 * 0.3, rel=1e-5)
    assert reading["quay", "oslo"] == pytest.approx(0.4 * 0.5, rel=1e-5)
    assert reading["pier", "quay", "oslo"] == pytest.approx(0.5 * 0.2 * 0.9, rel=1e-5)
    assert [one.documents for one in found][:3] == [
        ("quay", "oslo"),  # 0.2
        ("quay", "ann_lee"),  # 0.18
        ("quay", "ann_lee_2"),
    ]
    # If both sentences are of one page, its three ways are one set.
    (best, *_) = joint_sets(generate(Scripted(WAYS), MARKUP, TRIE, 10, ("pier", "pier")))
    assert (best.documents, best.sentences) == (("pier", "oslo"), (1,))
    assert best.probability == pytest.approx(0.12 + 0.2 + 0.09, rel=1e-5)


def test_a_document_does_not_lead_to_itself_and_unwanted_ones_make_room_for_others() -> None:
    found = generate(Scripted(WAYS), MARKUP, TRIE, 10, ("oslo", "ann_lee"))
    documents = {one.documents for one in found}
    assert {("oslo", "lamp"), ("ann_lee", "oslo"), ("ann_lee", "ann_lee_2")} <= documents
    assert not {("oslo", "oslo"), ("ann_lee", "ann_lee")} & documents
    others = alone(Scripted(WAYS), 10, unwanted={"oslo", "ann_lee"})
    assert [one.documents[-1] for one in others] == ["ann_lee_2", "lamp", "lamp_song"]
    (other,) = alone(Scripted(WAYS), 1, unwanted={"lamp"})
    assert other.documents == ("lamp_song",)


def test_a_narrow_search_follows_the_best_beginnings_alone_and_ends_early() -> None:
    reading = Scripted(WAYS)
    (found,) = alone(reading, beams=1)
    # FIRST (0.5), BEGIN (0.4), LAMP (0.24), END (0.12); no other beginning was kept.
    assert found.documents == ("lamp",)
    assert found.probability == pytest.approx(0.12, rel=1e-5)
    # After "Lamp" ended with 0.12, "Lamp (" has 0.12 too and can only become less.
    assert [len(prefixes[0]) for prefixes in reading.asked] == [0, 1, 2, 3]


def test_sentences_are_ascending_and_two_at_most_and_only_titles_that_exist_follow() -> None:
    reading = Scripted({}, identifiers=(FIRST, SECOND, THIRD))
    sequences(reading, beams=1000)
    asked = {prefix for prefixes in reading.asked for prefix in prefixes if BEGIN in prefix}
    named = {prefix[: prefix.index(BEGIN)] for prefix in asked}
    pairs = {(FIRST, SECOND), (FIRST, THIRD), (SECOND, THIRD)}
    assert named == {(), (FIRST,), (SECOND,), (THIRD,), *pairs}
    titles = {prefix[prefix.index(BEGIN) + 1 :] for prefix in asked}
    assert titles == {tuple(tokens[:n]) for _, tokens in TITLES for n in range(len(tokens) + 1)}
    assert sequences(Scripted(WAYS), beams=5, titles=TitleTrie.of([], [])) == []


def test_a_title_that_is_far_too_long_is_not_generated_and_the_search_ends() -> None:
    trie = TitleTrie.of([[OSLO], [LAMP] * (LONGEST + 5)], ["o", "l"])
    reading = Scripted({(BEGIN, *[LAMP] * n): {LAMP: 0.9} for n in range(LONGEST + 9)}, ())
    assert {one.documents for one in sequences(reading, beams=10, titles=trie)} == {("o",)}
    assert len(reading.asked) == LONGEST + 1
