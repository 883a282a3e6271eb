"""DPR's two encoders, and what an index keeps of their inner products."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.index.formats.codes import as_bytes, from_bytes
from retrieval.models.encoders import DocumentEncoder, EncodableDocument, TextEncoder
from retrieval.models.papers.dpr import LONGEST, DprDocumentEncoder, DprQuestionEncoder
from retrieval.models.papers.report_networks import MPNetEncoder, VectorNetwork
from tests.retrieval.models.report.tiny_models import HIDDEN

LIGHT = EncodableDocument("Skerrow Light", "It is tall. It is red.", ((0, 11), (12, 22)))
DUNDEE = EncodableDocument("Dundee", "Dundee is a city.", ((0, 17),))


@pytest.fixture
def vectors(monkeypatch: pytest.MonkeyPatch) -> dict[object, list[float]]:
    """The vectors of texts as a test sets them, by their first numbers."""
    known: dict[object, list[float]] = {}

    def pooled(self: VectorNetwork, texts: Sequence[object], window: int) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), HIDDEN), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[: len(known[text])] = known[text]
        return rows

    monkeypatch.setattr(VectorNetwork, "pooled", pooled)
    return known


def test_stored_as_bytes_unit_vectors_give_back_the_inner_products(
    tiny_models: Path, vectors: dict[object, list[float]]
) -> None:
    vectors[LIGHT.title, LIGHT.text] = [24, 0]
    vectors[DUNDEE.title, DUNDEE.text] = [0, 10]
    vectors["Who?"] = [3, 4]
    documents, _ = DprDocumentEncoder(tiny_models).encode_documents([LIGHT, DUNDEE])
    assert np.linalg.norm(documents, axis=1) == pytest.approx(1)
    # 24 / 32 = 0.75; eight numbers share what is missing: sqrt((1 - 0.5625) / 8) = 0.2339.
    assert documents[0, :2] == pytest.approx([0.75, 0])
    assert documents[0, HIDDEN:] == pytest.approx([0.2339] * 8, abs=1e-4)
    questions, lengths = DprQuestionEncoder(tiny_models).measured(["Who?"])
    assert lengths == pytest.approx([5])
    assert questions[0, :3] == pytest.approx([0.6, 0.8, 0])
    products = from_bytes(as_bytes(documents)) @ questions[0] * lengths[0] * LONGEST
    assert products == pytest.approx([72, 40], abs=0.5)


def test_a_vector_longer_than_the_longest_is_refused_with_its_length(
    tiny_models: Path, vectors: dict[object, list[float]]
) -> None:
    vectors[DUNDEE.title, DUNDEE.text] = [0, 64]
    with pytest.raises(ModelUnavailable, match=r"a vector of length 64\.0") as refused:
        DprDocumentEncoder(tiny_models).encode_documents([DUNDEE])
    assert "Set LONGEST in" in refused.value.hint
    vectors[DUNDEE.title, DUNDEE.text] = [0, LONGEST]
    documents, _ = DprDocumentEncoder(tiny_models).encode_documents([DUNDEE])
    assert documents[0, 1] == pytest.approx(1)
    assert not documents[0, HIDDEN:].any()


def test_documents_have_vectors_by_title_and_text_and_sentences_have_zeros(
    tiny_models: Path,
) -> None:
    encoder = DprDocumentEncoder(tiny_models)
    whole, parts = encoder.encode_documents([LIGHT, DUNDEE])
    assert whole.shape == (2, HIDDEN + 8)
    assert [part.shape for part in parts] == [(2, HIDDEN + 8), (1, HIDDEN + 8)]
    assert not np.concatenate(parts).any()
    (alone, _) = encoder.encode_documents([DUNDEE])
    assert whole[1] == pytest.approx(alone[0], abs=1e-5)
    other = EncodableDocument("Runde", DUNDEE.text, DUNDEE.sentences)
    assert encoder.encode_documents([other])[0] != pytest.approx(alone, abs=1e-5)
    assert encoder.encode_documents([])[0].shape == (0, HIDDEN + 8)


def test_an_encoder_is_named_by_its_weights_and_documents_meet_their_questions(
    tiny_models: Path,
) -> None:
    documents, questions = DprDocumentEncoder(tiny_models), DprQuestionEncoder(tiny_models)
    assert documents.query_encoder == questions.name
    assert documents.name.startswith("dpr-ctx_encoder-single-nq-base ")
    assert len({documents.name.split()[1], questions.name.split()[1]}) == 2
    assert documents.dimension == questions.dimension == HIDDEN + 8


def test_another_process_can_have_the_encoder_of_documents(tiny_models: Path) -> None:
    encoder = DprDocumentEncoder(tiny_models)
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.encode_documents([LIGHT])[0] == pytest.approx(encoder.encode_documents([LIGHT])[0])


def test_a_text_longer_than_the_window_is_cut(tiny_models: Path) -> None:
    long = EncodableDocument("Skerrow", "Skerrow is an island. " * 400, ())
    assert DprDocumentEncoder(tiny_models).encode_documents([long])[0].shape == (1, HIDDEN + 8)
    assert MPNetEncoder(tiny_models).encode([long.text]).shape == (1, HIDDEN)


def test_similar_sentences_are_compared_by_unit_vectors(tiny_models: Path) -> None:
    encoder = MPNetEncoder(tiny_models)
    found = encoder.encode(["Dundee is a city.", "Skerrow", "Dundee is a city."])
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)
    assert found[0] == pytest.approx(found[2], abs=1e-6)
    assert found[0] @ found[1] < 0.9999
    alone = encoder.encode(["Skerrow"])  # what is read beside it changes nothing
    assert alone[0] == pytest.approx(found[1], abs=1e-5)


def _(models: Path) -> tuple[DocumentEncoder, TextEncoder, TextEncoder]:
    return DprDocumentEncoder(models), DprQuestionEncoder(models), MPNetEncoder(models)
