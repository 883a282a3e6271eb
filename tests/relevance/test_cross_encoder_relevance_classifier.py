from __future__ import annotations

import pytest

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.models import reader
from retrieval.relevance.cross_encoder_relevance_classifier import CrossEncoderRelevanceClassifier
from retrieval.types import RankedDocument, Sentence
from tests.evidence import ranked

pytestmark = pytest.mark.models

LIGHT = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
DUNDEE = ranked("Dundee", "It is a city in Scotland.", "It lies on the River Tay.")
CLAIM = "Skerrow Light was designed by Ann Lee."


def sentences_of(*documents: RankedDocument) -> list[tuple[RankedDocument, Sentence]]:
    return [(ranked, sentence) for ranked in documents for sentence in ranked.document.sentences]


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return reader()


def test_the_sentence_that_says_so_is_most_relevant_and_supports(
    model: CrossEncoder,
) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0)
    evidence = classifier.run(CLAIM, sentences_of(DUNDEE, LIGHT))["evidence"]
    assert len(evidence) == 5
    assert (evidence[0].title, evidence[0].sentence.sentence_id) == ("Skerrow Light", 0)
    assert evidence[0].stance == "SUPPORTS"


def test_the_cutoff_drops_what_does_not_bear_on_the_claim(model: CrossEncoder) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.5)
    assert {e.title for e in classifier.run(CLAIM, sentences_of(DUNDEE, LIGHT))["evidence"]} == {
        "Skerrow Light"
    }


def test_without_sentences_there_is_no_evidence(model: CrossEncoder) -> None:
    assert CrossEncoderRelevanceClassifier(model).run(CLAIM, []) == {"evidence": [], "read": []}
