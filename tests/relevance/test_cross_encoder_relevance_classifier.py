from __future__ import annotations

import pytest

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
from retrieval.models import READER
from retrieval.relevance.cross_encoder_relevance_classifier import CrossEncoderRelevanceClassifier
from tests.evidence import ranked

pytestmark = pytest.mark.models

LIGHT = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
DUNDEE = ranked("Dundee", "It is a city in Scotland.", "It lies on the River Tay.")
CLAIM = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return CrossEncoder(READER, FoldedMiniLM())


def test_the_sentence_that_says_so_is_most_relevant_and_supports(
    model: CrossEncoder,
) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0)
    evidence = classifier.run(CLAIM, [DUNDEE, LIGHT])["evidence"]
    assert len(evidence) == 5
    assert (evidence[0].title, evidence[0].sentence.sentence_id) == ("Skerrow Light", 0)
    assert evidence[0].stance == "SUPPORTS"


def test_the_cutoff_drops_what_does_not_bear_on_the_claim(model: CrossEncoder) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.5)
    assert {e.title for e in classifier.run(CLAIM, [DUNDEE, LIGHT])["evidence"]} == {
        "Skerrow Light"
    }


def test_with_too_many_sentences_the_first_of_each_document_is_read_and_then_the_best_ones(
    model: CrossEncoder,
) -> None:
    classifier = CrossEncoderRelevanceClassifier(model, cutoff=0.0, limit=5)
    long = ranked("Runde", "It is an isle.", "It is green.")
    evidence = classifier.run(CLAIM, [LIGHT, DUNDEE, long])["evidence"]
    read = {(e.title, e.sentence.sentence_id) for e in evidence}
    # The second sentence of the best document counts 2, that of the next 3, its third one 4.
    first = {("Skerrow Light", 0), ("Dundee", 0), ("Runde", 0)}
    assert read == first | {("Skerrow Light", 1), ("Dundee", 1)}


def test_without_documents_there_is_no_evidence(model: CrossEncoder) -> None:
    assert CrossEncoderRelevanceClassifier(model).run(CLAIM, []) == {"evidence": [], "read": []}
