"""An encoder and a reranker that the user names, by the real loading code over small models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from retrieval.corpora.sources import open_corpus
from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.document_encoders import (
    DOCUMENT_ENCODERS,
    choice_of,
    default_choice,
    encoder_of,
)
from retrieval.models.encoders import EncodableDocument
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.own_models import OwnEncoder, OwnQueryEncoder, Reranker
from retrieval.pipeline.assembly import Retriever
from retrieval.stages.read.sentences import RelevanceClassifier
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.support.evidence import ranked
from tests.support.islands import write_source
from tests.support.states import state_of

pytestmark = pytest.mark.models

TEXTS = ["Skerrow is a small island in the north.", "Dundee is a city."]
CLAIM = "Skerrow Light was designed by Ann Lee."


def named(folder: Path, variable: str = "ESOTERIC_ENCODER") -> NamedModel:
    return NamedModel(variable, str(folder))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose vectors are the means of its tokens', 16 numbers."""
    return write_tiny_classifier(tmp_path_factory.mktemp("models") / "my-encoder")


@pytest.fixture(scope="module")
def own_index(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """An index with vectors of the model."""
    folder = tmp_path_factory.mktemp("own")
    write_source(folder / "islands.jsonl")
    folders = ModelFolders(folder, encoder=named(model))
    corpus = open_corpus(f"jsonl:{folder / 'islands.jsonl'}")
    encoder = DOCUMENT_ENCODERS[default_choice(folders)](folders)
    EmbeddedIndex(folder / "index").build(corpus, encoder)
    return folder / "index"


def retriever(index: Path, unpacked: Path, encoder: Path | None) -> Retriever:
    folders = ModelFolders(unpacked, encoder=named(encoder) if encoder else None)
    return Retriever(index, index.parent / "snapshots", threads=1, folders=folders)


def test_a_text_has_the_vector_of_its_model_a_sentence_after_its_title(model: Path) -> None:
    encoder = OwnEncoder(named(model), "own ")
    network, tokenizer = AutoModel.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    with torch.inference_mode():
        means = [
            network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
            for text in TEXTS
        ]
    wanted = np.stack([(mean / mean.norm()).numpy() for mean in means])
    assert encoder.encode(TEXTS) == pytest.approx(wanted, abs=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dimension) == (0, 16)
    # Another process can have it, which loads the model again.
    assert pickle.loads(pickle.dumps(encoder)).encode(TEXTS) == pytest.approx(wanted, abs=1e-5)
    tower = EncodableDocument("Tower", "It is red. It is tall.", ((0, 10), (11, 23)))
    lamp = EncodableDocument("Lamp", "It is lit.", ((0, 10),))
    whole, apart = encoder.encode_documents([tower, lamp])
    read = ["Tower. It is red. It is tall.", "Lamp. It is lit."]
    assert whole == pytest.approx(encoder.encode(read), abs=1e-5)
    alone = ["Tower. It is red.", "Tower. It is tall."]
    assert apart[0] == pytest.approx(encoder.encode(alone), abs=1e-5)
    assert [len(vectors) for vectors in apart] == [2, 1]
    assert encoder.encode_documents([])[1] == []
    queries = [(CLAIM, [("Lamp", "It is lit.")]), (CLAIM, [])]
    wanted = encoder.encode([f"{CLAIM} Lamp. It is lit.", CLAIM])
    assert OwnQueryEncoder(encoder).encode(queries) == pytest.approx(wanted, abs=1e-5)


def test_claims_are_checked_over_its_vectors_and_other_indexes_are_refused(
    own_index: Path, index: Path, unpacked: Path, model: Path, tmp_path: Path
) -> None:
    name = EmbeddedIndex(own_index).open(None).info().encoder
    assert (name[:15], choice_of(name)) == ("own my-encoder ", "own")
    assert encoder_of(name, ModelFolders(own_index, encoder=named(model))).name == name
    with pytest.raises(ModelUnavailable, match="ESOTERIC_ENCODER names no encoder"):
        encoder_of(name, ModelFolders(own_index))
    own = retriever(own_index, unpacked, model)
    for recipe in ("combined", "m3"):
        report = own.check(CLAIM, recipe, lambda _: None)
        assert report.evidence
        assert any("dense" in ranked.found_by for ranked in report.documents)
    other = write_tiny_classifier(tmp_path / "other", seed=1)
    for refusing, wanted, command in (
        (retriever(own_index, unpacked, None), "all-MiniLM-L6-v2", "index encode"),
        (retriever(own_index, unpacked, other), "other", "index encode --vectors own"),
        (retriever(index, unpacked, model), "my-encoder", "index encode --vectors own"),
    ):
        with pytest.raises(IndexUnavailable, match=f"has vectors of .*, not of {wanted}") as error:
            refusing.warm_up()
        assert error.value.hint.endswith(command)


def test_relevance_is_the_logistic_function_of_a_rerankers_score(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "my-reranker", labels=["x"])  # with one score
    light = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is painted red.")
    sentences = light.document.sentences
    pairs = [(CLAIM, f"Skerrow Light : {sentence.text}") for sentence in sentences]
    tokens = AutoTokenizer.from_pretrained(folder)(
        *map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        module = AutoModelForSequenceClassification.from_pretrained(folder)
        wanted = 1 / (1 + np.exp(-module(**tokens).logits[:, 0].numpy()))
    reranker = Reranker(named(folder))
    scores = reranker.probabilities(pairs)
    assert scores == pytest.approx(wanted, abs=1e-5)
    assert reranker.probabilities([]).shape == (0,)
    state = state_of(CLAIM, chosen=tuple((light, sentence) for sentence in sentences))
    found = RelevanceClassifier(reranker, cutoff=0).run(state).state.read
    assert sorted(scores.tolist(), reverse=True) == pytest.approx([item.score for item in found])
    for item in found:
        score = scores[item.sentence.sentence_id]
        assert item.opinion == pytest.approx((score / 2, score / 2, 1 - score))


def test_what_is_no_reranker_is_refused(model: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name, reason in (
        (str(model), "my-encoder gives 3 scores instead of one"),
        (str(tmp_path), "has neither modules"),
        ("nobody/nothing", "nobody/nothing is no folder, and cannot be had"),
    ):
        with pytest.raises(ModelUnavailable, match=reason) as refused:
            Reranker(NamedModel("ESOTERIC_RERANKER", name)).warm_up()
        assert refused.value.hint.startswith("Set ESOTERIC_RERANKER to a model")
