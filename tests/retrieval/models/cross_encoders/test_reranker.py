"""A reranker that the user names, by the real loading code over small models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from retrieval.errors import ModelUnavailable
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.own_models import Reranker
from retrieval.models.shipped import models_digest
from retrieval.stages.read.relevance import ScoredRelevance
from tests.retrieval.models.cross_encoders.tiny_classifiers import write_tiny_classifier
from tests.support.evidence import ranked
from tests.support.states import state_of

CLAIM = "Skerrow Light was designed by Ann Lee."
LIGHT = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is painted red.")


def named(folder: Path) -> NamedModel:
    return NamedModel("ESOTERIC_RERANKER", str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with one score."""
    return write_tiny_classifier(tmp_path_factory.mktemp("models") / "my-reranker", labels=["x"])


def test_relevance_is_the_logistic_function_of_the_models_score(folder: Path) -> None:
    pairs = [(CLAIM, "Skerrow : About forty people live there."), (CLAIM, "Dundee is a city.")]
    tokens = AutoTokenizer.from_pretrained(folder)(
        [claim for claim, _ in pairs],
        [text for _, text in pairs],
        padding=True,
        return_tensors="pt",
    )
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.inference_mode():
        scores = model(**tokens).logits[:, 0].numpy()
    found = Reranker(named(folder)).probabilities(pairs)
    assert found == pytest.approx(1 / (1 + np.exp(-scores)), abs=1e-5)
    assert Reranker(named(folder)).probabilities([]).shape == (0,)


def test_it_ranks_sentences_and_says_nothing_of_a_stance(folder: Path) -> None:
    reranker = Reranker(named(folder))
    sentences = [(LIGHT, sentence) for sentence in LIGHT.document.sentences]
    found = ScoredRelevance(reranker, cutoff=0).run(state_of(CLAIM, chosen=tuple(sentences))).state
    texts = [f"Skerrow Light : {sentence.text}" for sentence in LIGHT.document.sentences]
    first, second = reranker.probabilities([(CLAIM, text) for text in texts]).tolist()
    assert sorted((first, second), reverse=True) == pytest.approx([i.score for i in found.read])
    for item in found.read:
        score = (first, second)[item.sentence.sentence_id]
        assert item.opinion == pytest.approx((score / 2, score / 2, 1 - score))


def test_a_model_with_several_scores_is_refused(tmp_path: Path) -> None:
    reranker = Reranker(named(write_tiny_classifier(tmp_path / "nli")))
    with pytest.raises(ModelUnavailable, match="nli gives 3 scores instead of one") as refused:
        reranker.warm_up()
    assert refused.value.hint.startswith("Set ESOTERIC_RERANKER to a model")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="has neither modules"):
        Reranker(named(tmp_path)).warm_up()


def test_a_model_that_the_hub_does_not_give_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match="nobody/nothing is no folder, and cannot be had"):
        Reranker(NamedModel("ESOTERIC_RERANKER", "nobody/nothing")).warm_up()


def test_results_with_another_reranker_have_another_digest(folder: Path, tmp_path: Path) -> None:
    other = named(write_tiny_classifier(tmp_path / "other", labels=["x"], seed=1))
    digests = {
        models_digest(ModelFolders(tmp_path, reranker=one)) for one in (None, named(folder), other)
    }
    assert len(digests) == 3
    assert named(folder).version().startswith("my-reranker ")
