from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.models.papers.report_networks import PairClassifier
from retrieval.stages.read.relevance import DistilBertRelevanceClassifier
from tests.support.evidence import ranked
from tests.support.states import state_of

LIGHT = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
CLAIM = "Skerrow Light was designed by Ann Lee."


def test_sentences_labelled_relevant_are_kept_and_say_nothing_of_a_stance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def probabilities(self: PairClassifier, pairs: list[tuple[str, str]]) -> np.ndarray:
        asked.extend(pairs)
        return np.array([0.5, 0.25, 0.75], dtype=np.float32)

    monkeypatch.setattr(PairClassifier, "probabilities", probabilities)
    sentences = [(LIGHT, sentence) for sentence in LIGHT.document.sentences]
    stage = DistilBertRelevanceClassifier(tmp_path, cutoff=0.5)
    found = stage.run(state_of(CLAIM, chosen=tuple(sentences))).state
    assert asked == [(CLAIM, sentence.text) for sentence in LIGHT.document.sentences]
    assert [item.sentence.sentence_id for item in found.read] == [2, 0, 1]
    assert [item.sentence.sentence_id for item in found.relevant] == [2, 0]
    assert found.relevant[0].opinion == (0.375, 0.375, 0.25)
    assert found.relevant[0].score == 0.75


def test_a_sentence_is_read_without_the_one_that_it_needs_to_be_understood(
    tiny_models: Path,
) -> None:
    asked = ranked("Skerrow Light", "Was it designed by Ann Lee?", "No, by Bo Ek.")
    sentences = [(asked, sentence) for sentence in asked.document.sentences]
    read = DistilBertRelevanceClassifier(tiny_models, cutoff=0.5).read(CLAIM, sentences)
    assert {item.in_context for item in read} == {"Was it designed by Ann Lee?", "No, by Bo Ek."}


def test_the_second_label_is_the_relevant_one(tiny_models: Path) -> None:
    sentences = [(LIGHT, sentence) for sentence in LIGHT.document.sentences]
    classifier = DistilBertRelevanceClassifier(tiny_models, cutoff=0.5)
    scores = [item.score for item in classifier.read(CLAIM, sentences)]
    # Its biases are 0 and 3, and its other weights next to nothing: 1 / (1 + exp(-3)) = 0.953.
    assert scores == pytest.approx([0.953] * 3, abs=0.01)
    assert classifier.read(CLAIM, []) == []
