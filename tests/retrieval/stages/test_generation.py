"""Documents whose titles a model generates, with a model that says what is written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from retrieval.models.papers.decoding import Markup
from retrieval.models.title_trie import TitleTrie
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import TitleGenerator
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
from tests.support.evidence import evidence, ranked
from tests.support.states import state_of

CLAIM = "The lamp was made in a town."
LEADS = (
    evidence("Pier", "It has a lamp.", sentence_id=4),
    evidence("Lamp", "It was made in Oslo by Ann Lee.", sentence_id=2),
)


class Named:
    """Sentences that name these documents."""

    def __init__(self, *documents: str) -> None:
        self._documents = documents

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


def generated(
    leads: Sequence[Evidence] = LEADS,
    *seen: str,
    model: ScriptedModel | None = None,
    **settings: Any,
) -> list[Candidate]:
    config = RetrievalConfig(**{"generation_beams": 10, "generation_named_beams": 0, **settings})
    names = Named("oslo", "ann_lee")
    documents = tuple(ranked(title, "text") for title in seen)
    state = state_of(CLAIM, hop=2, evidence=tuple(leads), documents=documents)
    return TitleGenerator(model or ScriptedModel(), TRIE, names, config).expand(state)


def read(leads: Sequence[Evidence], **settings: Any) -> Sequence[tuple[str, str]]:
    """The texts that the model reads."""
    model = ScriptedModel()
    generated(leads, model=model, **settings)
    return model.read_last[1] if model.read_last else ()


def test_documents_come_with_their_probability_and_the_sentence_that_led_there() -> None:
    lead, probability = SentenceKey("Lamp", 2), (0.41, 0.18)
    assert generated()[:2] == [
        Candidate(name, ("generation",), pytest.approx(share, rel=1e-5), 3, lead)
        for name, share in zip(("oslo", "ann_lee"), probability, strict=True)
    ]


def test_what_was_read_before_is_not_generated_again() -> None:
    found = generated(LEADS, "oslo", "ann_lee")
    assert [candidate.document_id for candidate in found] == ["ann_lee_2", "lamp", "lamp_song"]
    assert found[1].led_by == SentenceKey("Pier", 4)


def test_the_best_sentences_are_read_with_their_titles_and_links_where_this_is_asked_for() -> None:
    assert read([]) == ()
    leads = [evidence(f"Pier {n}", f"It has {n} lamps.") for n in range(7)]
    assert read(leads) == [(f"Pier {n}", f"It has {n} lamps.") for n in range(5)]
    assert read(LEADS, generation_sentences=1) == [("Pier", "It has a lamp.")]
    linked = replace(LEADS[0], sentence=replace(LEADS[0].sentence, links=("Ann Lee", "Oslo")))
    assert read([linked], generation_links=True) == [("Pier", "It has a lamp. Ann Lee Oslo")]
    assert read([linked]) == [("Pier", "It has a lamp.")]


def test_with_joint_scores_the_documents_of_the_best_set_come_first_also_those_read_before() -> (
    None
):
    found = generated(LEADS, "Pier", generation_joint=True)
    # By decreasing probability: Oslo 0.2 and the two Ann Lees 0.18 after "Lamp", 0.12 after "Pier".
    best = ["Lamp", "oslo", "ann_lee", "ann_lee_2", "Pier", "lamp", "lamp_song"]
    assert [candidate.document_id for candidate in found] == best
    assert found[1].score == pytest.approx(0.2, rel=1e-5)
    assert found[1].led_by == SentenceKey("Lamp", 2)


def test_what_the_sentences_name_is_found_also_where_a_narrow_search_loses_it() -> None:
    def names(**settings: Any) -> list[str]:
        return [one.document_id for one in generated(generation_beams=1, **settings)]

    # One beam keeps the first sentence, and "Lamp" after it.
    assert names() == ["lamp"]
    # Among the named ones two beams keep both sentences, and Oslo and Ann Lee after the second.
    assert names(generation_named_beams=2) == ["oslo", "ann_lee", "lamp"]
