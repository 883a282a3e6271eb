from __future__ import annotations

import pytest

from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.shipped import relevance_model
from retrieval.stages.read.relevance import CrossEncoderRelevanceClassifier
from retrieval.stages.stage import Stage
from retrieval.types import Evidence, RankedDocument
from tests.support.evidence import ranked
from tests.support.states import state_of

pytestmark = pytest.mark.models

LIGHT = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
DUNDEE = ranked("Dundee", "It is a city in Scotland.", "It lies on the River Tay.")
CLAIM = "Skerrow Light was designed by Ann Lee."


def relevant(stage: Stage, *documents: RankedDocument) -> tuple[Evidence, ...]:
    chosen = tuple((ranked, s) for ranked in documents for s in ranked.document.sentences)
    return stage.run(state_of(CLAIM, chosen=chosen)).state.relevant


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return relevance_model()


def test_the_sentence_that_says_so_is_most_relevant_and_supports(
    model: CrossEncoder,
) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0)
    evidence = relevant(classifier, DUNDEE, LIGHT)
    assert len(evidence) == 5
    assert (evidence[0].title, evidence[0].sentence.sentence_id) == ("Skerrow Light", 0)
    assert evidence[0].stance == "SUPPORTS"


def test_the_cutoff_drops_what_does_not_bear_on_the_claim(model: CrossEncoder) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.5)
    assert {e.title for e in relevant(classifier, DUNDEE, LIGHT)} == {"Skerrow Light"}


def test_a_sentence_is_read_with_its_context_and_no_text_is_read_twice(
    model: CrossEncoder,
) -> None:
    page = ranked("Skerrow Light", "Did Ann Lee design it?", "Yes.", "The tower is red.")
    answer, tower = relevant(CrossEncoderRelevanceClassifier(model, cutoff=0.0), page)
    assert (answer.sentence.text, answer.context_before) == ("Yes.", "Did Ann Lee design it?")
    assert answer.in_context == "Did Ann Lee design it? Yes."
    assert (tower.sentence.text, tower.in_context) == ("The tower is red.", "The tower is red.")


def test_without_sentences_there_is_no_evidence(model: CrossEncoder) -> None:
    assert relevant(CrossEncoderRelevanceClassifier(model, cutoff=0.0)) == ()


def test_of_copies_only_the_most_relevant_one_is_kept(model: CrossEncoder) -> None:
    said = "Skerrow Light was designed by Ann Lee."
    copies = [ranked(f"Paper {n}", said.upper() if n else f"“{said}”") for n in range(3)]
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0)
    first = classifier.run(
        state_of(CLAIM, chosen=tuple((c, c.document.sentences[0]) for c in copies))
    )
    (kept,) = first.state.relevant
    assert first.state.read == (kept,)
    assert kept == classifier.read(CLAIM, first.state.chosen)[0]


def test_a_copy_of_what_an_earlier_hop_read_is_dropped(model: CrossEncoder) -> None:
    old, new = ranked("Paper", "Ann Lee designed it."), ranked("Book", "ANN LEE DESIGNED IT")
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0)
    read = classifier.read(CLAIM, [(old, old.document.sentences[0])])
    state = state_of(
        CLAIM, documents=(old,), read=tuple(read), chosen=((new, new.document.sentences[0]),)
    )
    found = classifier.run(state).state
    assert (found.relevant, found.read) == ((), tuple(read))
