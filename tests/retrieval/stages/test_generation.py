"""Titles that a model generates: the tree of titles, the search with beams, and the expander.

The probabilities are written down, and summed by hand.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.models import title_trie
from retrieval.models.papers.decoding import (
    LONGEST,
    DocumentSet,
    Generated,
    Markup,
    documents_alone,
    generate,
    joint_sets,
)
from retrieval.models.title_trie import TitleNode, TitleTrie, build_run
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import TitleGenerator
from retrieval.types import Candidate, Evidence, SentenceKey
from tests.support.cases import rows
from tests.support.evidence import evidence, ranked
from tests.support.states import state_of

# --- titles as a tree: what leads to a document is in the contract of all stores

# Sorted they stand 0: (1,), 1: (1, 2), 2: (1, 2), 3: (1, 300), 4: (7, 1, 1), 5: (30521,).
NUMBERS = [(7, 1, 1), (1, 2), (30_521,), (1,), (1, 300), (1, 2), ()]


def test_titles_are_sorted_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    run = build_run((title, number) for number, title in enumerate(NUMBERS))
    assert run.tokens.tolist() == [1, 1, 2, 1, 2, 1, 300, 7, 1, 1, 30_521]
    assert run.starts.tolist() == [0, 1, 3, 5, 7, 10, 11]
    assert run.documents.tolist() == [3, 1, 5, 4, 0, 2]  # without the one that has no token
    with pytest.raises(OverflowError):
        build_run([((65_535,), 0)])
    titles = TitleTrie.of(NUMBERS, [f"document {number}" for number in range(len(NUMBERS))])
    for block in (1, 3, 1 << 20):
        monkeypatch.setattr(title_trie, "_BLOCK", block)
        assert titles.children(titles.root()).tolist() == [1, 7, 30_521]
        assert titles.children(TitleNode(range(4), 1)).tolist() == [2, 300]
        assert titles.children(TitleNode(range(1, 3), 2)).tolist() == []
    for nowhere in (0, 2, 30_522, -1):
        assert titles.step(titles.root(), nowhere) is None


# --- the search with beams

FIRST, SECOND, THIRD = 1, 2, 3  # sentence identifiers
BEGIN, END = 8, 9
MARKUP = Markup(BEGIN, END)
LAMP, SONG, OPEN, CLOSE, OSLO, ANN, LEE = 10, 11, 12, 13, 14, 15, 16
IDS = {"first": FIRST, "second": SECOND, "begin": BEGIN, "end": END, "lamp": LAMP, "song": SONG}
IDS |= {"open": OPEN, "close": CLOSE, "oslo": OSLO, "ann": ANN, "lee": LEE}
VOCABULARY = 20


def numbers(names: str) -> tuple[int, ...]:
    return tuple(IDS[name] for name in names.split())


# "Lamp" is how "Lamp (song)" begins; two documents are called "Ann Lee".
TITLES = [(d, numbers(t)) for _, (d,), t in rows("generated_titles", ["document"], "title")]
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
    numbers(after): {IDS[token]: share for token, share in following.items()}
    for _, (after,), following in rows("generated_titles", ["after"], "next")
}


def test_documents_and_sets_have_the_probabilities_of_all_ways_to_them() -> None:
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
    # A set has those of all sentences of its documents.
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


def test_no_document_leads_to_itself_and_unwanted_ones_make_room() -> None:
    found = generate(Scripted(WAYS), MARKUP, TRIE, 10, ("oslo", "ann_lee"))
    documents = {one.documents for one in found}
    assert {("oslo", "lamp"), ("ann_lee", "oslo"), ("ann_lee", "ann_lee_2")} <= documents
    assert not {("oslo", "oslo"), ("ann_lee", "ann_lee")} & documents
    others = alone(Scripted(WAYS), 10, unwanted={"oslo", "ann_lee"})
    assert [one.documents[-1] for one in others] == ["ann_lee_2", "lamp", "lamp_song"]
    (other,) = alone(Scripted(WAYS), 1, unwanted={"lamp"})
    assert other.documents == ("lamp_song",)
    # A narrow search follows the best beginnings alone, and ends early.
    reading = Scripted(WAYS)
    (found,) = alone(reading, beams=1)
    # FIRST (0.5), BEGIN (0.4), LAMP (0.24), END (0.12); no other beginning was kept.
    assert found.documents == ("lamp",)
    assert found.probability == pytest.approx(0.12, rel=1e-5)
    # After "Lamp" ended with 0.12, "Lamp (" has 0.12 too and can only become less.
    assert [len(prefixes[0]) for prefixes in reading.asked] == [0, 1, 2, 3]


def test_two_sentences_at_most_and_titles_that_exist_and_end_are_generated() -> None:
    reading = Scripted({}, identifiers=(FIRST, SECOND, THIRD))
    sequences(reading, beams=1000)
    asked = {prefix for prefixes in reading.asked for prefix in prefixes if BEGIN in prefix}
    named = {prefix[: prefix.index(BEGIN)] for prefix in asked}
    pairs = {(FIRST, SECOND), (FIRST, THIRD), (SECOND, THIRD)}
    assert named == {(), (FIRST,), (SECOND,), (THIRD,), *pairs}
    titles = {prefix[prefix.index(BEGIN) + 1 :] for prefix in asked}
    assert titles == {tokens[:n] for _, tokens in TITLES for n in range(len(tokens) + 1)}
    assert sequences(Scripted(WAYS), beams=5, titles=TitleTrie.of([], [])) == []
    # A title that is far too long is not generated, and the search ends.
    trie = TitleTrie.of([[OSLO], [LAMP] * (LONGEST + 5)], ["o", "l"])
    reading = Scripted({(BEGIN, *[LAMP] * n): {LAMP: 0.9} for n in range(LONGEST + 9)}, ())
    assert {one.documents for one in sequences(reading, beams=10, titles=trie)} == {("o",)}
    assert len(reading.asked) == LONGEST + 1


# --- the expander

CLAIM = "The lamp was made in a town."
LEADS = (
    evidence("Pier", "It has a lamp.", sentence_id=4),
    evidence("Lamp", "It was made in Oslo by Ann Lee.", sentence_id=2),
)


class ScriptedModel:
    """A model that says of every text what is written down; ``texts``: what it read."""

    markup: Markup = MARKUP
    texts: Sequence[tuple[str, str]] = ()

    def warm_up(self) -> None:
        """Nothing to load."""

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        tokens = dict(TITLES)
        ids = [document_id for document_id, _ in titles]
        return TitleTrie.of([tokens[document_id] for document_id in ids], ids)

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> Scripted:
        self.texts = sentences
        return Scripted(WAYS, (FIRST, SECOND)[: len(sentences)])


def generated(
    leads: Sequence[Evidence] = LEADS,
    *seen: str,
    model: ScriptedModel | None = None,
    **settings: Any,
) -> list[Candidate]:
    config = RetrievalConfig(**{"generation_beams": 10, "generation_named_beams": 0, **settings})
    both = [("oslo", "oslo"), ("ann_lee", "ann_lee")]
    names = SimpleNamespace(titled=lambda evidence: both)
    documents = tuple(ranked(title, "text") for title in seen)
    state = state_of(CLAIM, hop=2, evidence=tuple(leads), documents=documents)
    return TitleGenerator(model or ScriptedModel(), TRIE, names, config).expand(state)


def read(leads: Sequence[Evidence], **settings: Any) -> Sequence[tuple[str, str]]:
    """The texts that the model reads."""
    model = ScriptedModel()
    generated(leads, model=model, **settings)
    return model.texts


def test_the_best_sentences_are_read_with_their_titles_and_links_where_asked_for() -> None:
    assert read([]) == ()
    leads = [evidence(f"Pier {n}", f"It has {n} lamps.") for n in range(7)]
    assert read(leads) == [(f"Pier {n}", f"It has {n} lamps.") for n in range(5)]
    assert read(LEADS, generation_sentences=1) == [("Pier", "It has a lamp.")]
    linked = replace(LEADS[0], sentence=replace(LEADS[0].sentence, links=("Ann Lee", "Oslo")))
    assert read([linked], generation_links=True) == [("Pier", "It has a lamp. Ann Lee Oslo")]
    assert read([linked]) == [("Pier", "It has a lamp.")]


def test_documents_come_with_their_probability_and_what_led_there() -> None:
    assert generated()[:2] == [
        Candidate(name, ("generation",), pytest.approx(share, rel=1e-5), 3, SentenceKey("Lamp", 2))
        for name, share in (("oslo", 0.41), ("ann_lee", 0.18))
    ]
    found = generated(LEADS, "oslo", "ann_lee")
    assert [candidate.document_id for candidate in found] == ["ann_lee_2", "lamp", "lamp_song"]
    assert found[1].led_by == SentenceKey("Pier", 4)
    # With joint scores the best set comes first, also what was read before.
    found = generated(LEADS, "Pier", generation_joint=True)
    # By decreasing probability: Oslo 0.2 and the two Ann Lees 0.18 after "Lamp", 0.12 after "Pier".
    best = ["Lamp", "oslo", "ann_lee", "ann_lee_2", "Pier", "lamp", "lamp_song"]
    assert [candidate.document_id for candidate in found] == best
    assert found[1].score == pytest.approx(0.2, rel=1e-5)
    assert found[1].led_by == SentenceKey("Lamp", 2)

    # What the sentences name is found also where a narrow search loses it.
    def names(**settings: Any) -> list[str]:
        return [one.document_id for one in generated(generation_beams=1, **settings)]

    # One beam keeps the first sentence, and "Lamp" after it.
    assert names() == ["lamp"]
    # Among the named ones two beams keep both sentences, and Oslo and Ann Lee after the second.
    assert names(generation_named_beams=2) == ["oslo", "ann_lee", "lamp"]
