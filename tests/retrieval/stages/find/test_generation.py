from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from retrieval.models.papers.decoding import Markup
from retrieval.models.title_trie import TitleTrie
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.generation import TitleGenerator
from retrieval.types import Candidate, Evidence, SentenceKey
from tests.retrieval.models.test_decoding import (
    FIRST,
    MARKUP,
    SECOND,
    TITLES,
    TRIE,
    WAYS,
    Scripted,
)
from tests.support.evidence import evidence

CLAIM = "The lamp was made in a town."
LEADS = [
    evidence("Pier", "It has a lamp.", sentence_id=4),
    evidence("Lamp", "It was made in Oslo by Ann Lee.", sentence_id=2),
]


class Named:
    """Sentences that name these documents."""

    def __init__(self, *documents: str) -> None:
        self._documents = documents

    def warm_up(self) -> None:
        """Nothing to load."""

    def titled(self, evidence: Sequence[Evidence]) -> list[tuple[str, str]]:
        return [(document, document) for document in self._documents]


class ScriptedModel:
    """A model that says of every text what is written down; it remembers what it read."""

    markup: Markup = MARKUP

    def __init__(self) -> None:
        self.read_last: tuple[str, Sequence[tuple[str, str]]] | None = None

    def warm_up(self) -> None:
        """Nothing to load."""

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        tokens = dict(TITLES)
        ids = [document_id for document_id, _ in titles]
        return TitleTrie.of([tokens[document_id] for document_id in ids], ids)

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> Scripted:
        self.read_last = (claim, sentences)
        return Scripted(WAYS, (FIRST, SECOND)[: len(sentences)])


def generator(model: ScriptedModel, **settings: Any) -> TitleGenerator:
    settings = {"generation_beams": 10, "generation_named_beams": 0, **settings}
    return TitleGenerator(model, TRIE, Named("oslo", "ann_lee"), RetrievalConfig(**settings))


def test_documents_come_with_their_probability_and_the_sentence_that_led_there() -> None:
    found = generator(ScriptedModel()).generate(CLAIM, LEADS, (), 3)
    assert found[:2] == [
        Candidate(
            "oslo", ("generation",), pytest.approx(0.41, rel=1e-5), 3, SentenceKey("Lamp", 2)
        ),
        Candidate(
            "ann_lee", ("generation",), pytest.approx(0.18, rel=1e-5), 3, SentenceKey("Lamp", 2)
        ),
    ]


def test_what_was_read_before_is_not_generated_again() -> None:
    found = generator(ScriptedModel()).generate(CLAIM, LEADS, {"oslo", "ann_lee"}, 2)
    assert [candidate.document_id for candidate in found] == ["ann_lee_2", "lamp", "lamp_song"]
    assert found[1].led_by == SentenceKey("Pier", 4)


def test_without_evidence_no_title_is_generated() -> None:
    model = ScriptedModel()
    assert generator(model).generate(CLAIM, [], (), 2) == []
    assert model.read_last is None


def test_the_five_best_sentences_are_read_with_their_titles() -> None:
    model = ScriptedModel()
    leads = [evidence(f"Pier {n}", f"It has {n} lamps.") for n in range(7)]
    generator(model).generate(CLAIM, leads, (), 2)
    assert model.read_last == (CLAIM, [(f"Pier {n}", f"It has {n} lamps.") for n in range(5)])


def test_with_joint_scores_the_documents_of_the_best_set_come_first_also_those_read_before() -> (
    None
):
    found = generator(ScriptedModel(), generation_joint=True).generate(CLAIM, LEADS, {"Pier"}, 2)
    # By decreasing probability: Oslo 0.2 and the two Ann Lees 0.18 after "Lamp", 0.12 after "Pier".
    assert [candidate.document_id for candidate in found] == [
        "Lamp",
        "oslo",
        "ann_lee",
        "ann_lee_2",
        "Pier",
        "lamp",
        "lamp_song",
    ]
    assert found[1].score == pytest.approx(0.2, rel=1e-5)
    assert found[1].led_by == SentenceKey("Lamp", 2)


def test_top_1_reads_the_best_sentence_alone() -> None:
    model = ScriptedModel()
    generator(model, generation_sentences=1).generate(CLAIM, LEADS, (), 2)
    assert model.read_last == (CLAIM, [("Pier", "It has a lamp.")])


def test_links_are_read_after_their_sentence_where_this_is_asked_for() -> None:
    item = evidence("Pier", "It was built by Ann Lee.")
    linked = replace(item, sentence=replace(item.sentence, links=("Ann Lee", "Oslo")))
    for asked, text in (
        (True, "It was built by Ann Lee. Ann Lee Oslo"),
        (False, "It was built by Ann Lee."),
    ):
        model = ScriptedModel()
        generator(model, generation_links=asked).generate(CLAIM, [linked, LEADS[1]], (), 2)
        assert model.read_last is not None
        assert model.read_last[1][0] == ("Pier", text)


def test_what_the_sentences_name_is_found_also_where_a_narrow_search_loses_it() -> None:
    def names(**settings: Any) -> list[str]:
        found = generator(ScriptedModel(), generation_beams=1, **settings)
        return [candidate.document_id for candidate in found.generate(CLAIM, LEADS, (), 2)]

    # One beam keeps the first sentence, and "Lamp" after it.
    assert names() == ["lamp"]
    # Among the named ones two beams keep both sentences, and Oslo and Ann Lee after the second.
    assert names(generation_named_beams=2) == ["oslo", "ann_lee", "lamp"]
