"""Codes tell inner products nearly, signs decide what a search reads; packaged vectors."""

import json
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from research.training import vital_vectors
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded import folder_version
from retrieval.index.embedded import vectors as searched
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.vectors import EncodedDocuments, NewVectors, Vectors
from retrieval.index.formats import packaged as packaged_files
from retrieval.index.formats.codes import as_bytes, codes, products, rotation, signs
from retrieval.index.formats.packaged import PACKAGED_ARRAYS, PACKAGED_CONFIG
from retrieval.index.interface import IndexInfo
from retrieval.models.encoders import MiniLMEncoder
from tests.retrieval.index.elastic.node import store_url
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.retrieval.index.test_store_contract import NotingEncoder
from tests.support.encoders import WordEncoder

COUNT = 10_000
NONE = np.zeros(0, dtype=np.int64)


def units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


@pytest.fixture(scope="module")
def whole() -> NDArray[np.float32]:
    """A vector for each document, which is that of its only sentence too."""
    return units(COUNT, 384, seed=6)


@pytest.fixture(scope="module")
def vectors(whole: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    turn = rotation(384)
    # In two parts, as a build adds them, of which the second goes on after the first.
    for some in (whole[:1234], whole[1234:]):
        new = NewVectors(path, 0)
        turned = some @ turn
        new.add(EncodedDocuments(as_bytes(some), signs(turned), codes(turned), [1] * len(some)))
        new.close()
    return Vectors(path, turn, signs(whole @ turn))


def near(whole: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """A query whose inner product with one document is about 0.7."""
    query = whole[number] + units(1, 384, seed=number)[0]
    found: NDArray[np.float32] = (query / np.linalg.norm(query))[None]
    return found


def test_the_nearest_of_many_is_found(vectors: Vectors, whole: NDArray[np.float32]) -> None:
    for number in range(0, COUNT, 400):
        (found,) = vectors.nearest(near(whole, number), 3, NONE)
        assert found.documents[0] == number
        assert found.similarities[0] == pytest.approx(
            near(whole, number)[0] @ whole[number], abs=0.15
        )
        assert len(found.documents) == 3
    # A search leaves the models their threads.
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        vectors.nearest(near(whole, 42), 3, NONE)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_a_search_looks_further_where_most_of_the_nearest_are_gone(
    vectors: Vectors, whole: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "_BY_SIGNS", 200)
    monkeypatch.setattr(searched, "_BY_SENTENCES", 50)
    query = near(whole, 42)
    turn = rotation(384)
    apart = np.bitwise_count(signs(whole @ turn) ^ signs(query @ turn)).sum(axis=1)
    order = np.argsort(apart, kind="stable")
    (found,) = vectors.nearest(query, 3, np.sort(order[:3000]))
    # The nearest 200 are gone, and so are the nearest 800; of 3200 there are 200 left.
    assert len(found.documents) == 3
    assert not np.isin(found.documents, order[:3000]).any()
    assert apart[found.documents].max() <= apart[order[3199]]
    # The last few of many are found too.
    gone = np.arange(COUNT - 10)
    (found,) = vectors.nearest(near(whole, 42), 30, gone)
    assert sorted(found.documents.tolist()) == list(range(COUNT - 10, COUNT))


def test_estimates_lie_near_the_inner_products_and_to_neither_side_of_them() -> None:
    turn = rotation(384)
    (query,) = units(1, 384, seed=1)
    vectors = units(2000, 384, seed=2)
    # From nearly the query to nearly its opposite, as words of one kind or another would lie.
    shares = np.linspace(-1, 1, 2000, dtype=np.float32)[:, None]
    mixed = shares * query + (1 - np.abs(shares)) * vectors
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    errors = products(query @ turn, codes(mixed @ turn)) - mixed @ query
    assert np.abs(errors).max() < 0.2
    assert np.sqrt((errors**2).mean()) < 0.05
    assert abs(errors.mean()) < 0.01


# --- vectors that come with the project are used where they fit, and nowhere else


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the vectors of ``PAGES``, made as those of the default corpus are."""
    folder = tmp_path / "packaged"
    monkeypatch.setattr(packaged_files, "PACKAGED", folder)
    monkeypatch.setattr(vital_vectors, "VitalCorpus", ListCorpus)
    monkeypatch.setattr(vital_vectors, "MiniLMEncoder", WordEncoder)
    vital_vectors.encode_vital(tmp_path / "run", folder, processes=1)
    return folder


def built(folder: Path, corpus: ListCorpus) -> tuple[int, IndexInfo]:
    """Build an index; return how many documents were encoded, and what it holds."""
    encoder = NotingEncoder()
    info = EmbeddedIndex(folder).build(corpus, encoder)
    return len(encoder.texts), info


def test_a_corpus_whose_vectors_are_packaged_is_not_encoded(packaged: Path, tmp_path: Path) -> None:
    asked, info = built(tmp_path / "index", ListCorpus())
    assert asked == 0
    assert info.encoder == "words"
    (packaged / PACKAGED_CONFIG).unlink()
    asked, other = built(tmp_path / "other", ListCorpus())
    assert asked == len(PAGES)
    assert other.checksum == info.checksum
    asked, _ = built(tmp_path / "fewer", ListCorpus(PAGES[1:]))
    assert asked == len(PAGES) - 1


@pytest.mark.elasticsearch
@pytest.mark.rare
def test_nor_is_it_in_elasticsearch(packaged: Path, tmp_path: Path) -> None:
    def encoded(corpus: ListCorpus) -> tuple[int, str]:
        encoder, name = NotingEncoder(), f"v-{uuid.uuid4().hex}"
        info = ElasticIndex(ElasticLocation.read(store_url(name)), tmp_path).build(corpus, encoder)
        return len(encoder.texts), info.checksum

    default = replace(ListCorpus(), source="vital")
    asked, checksum = encoded(default)
    assert asked == 0
    for other in (ListCorpus(), replace(default, pages=PAGES[1:])):
        assert encoded(other)[0] == len(other.pages)
    assert encoded(ListCorpus())[1] == checksum


def test_damaged_or_other_vectors_are_not_used(packaged: Path, tmp_path: Path) -> None:
    config = json.loads((packaged / PACKAGED_CONFIG).read_text())
    changes = ({"weights": "x"}, {"encoder": "x"}, {"format": 0})
    for number, content in enumerate(
        [*(json.dumps(config | change) for change in changes), "", "[]", "{}"]
    ):
        (packaged / PACKAGED_CONFIG).write_text(content)
        assert built(tmp_path / f"index {number}", ListCorpus())[0] == len(PAGES)
    (packaged / PACKAGED_CONFIG).write_text(json.dumps(config))
    assert built(tmp_path / "whole", ListCorpus())[0] == 0
    for content in ("", "not vectors"):
        (packaged / PACKAGED_ARRAYS).write_text(content)
        assert built(tmp_path / f"arrays {content}", ListCorpus())[0] == len(PAGES)


@pytest.mark.models
def test_the_vectors_that_come_with_the_project_are_those_of_the_default_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encoded(*_: object) -> None:
        raise AssertionError("the default corpus was encoded")

    index, encoder = EmbeddedIndex(tmp_path / "index", processes=2), MiniLMEncoder()
    with monkeypatch.context() as patch:
        patch.setattr(folder_version, "encode", encoded)
        index.build(VitalCorpus(), encoder)
    store = index.open(MiniLMEncoder.name)
    for name in ("Ottawa", "Perth", "Guernica (Picasso)"):
        (document,) = store.documents([name])
        similar = store.similarities([name], encoder.encode([f"{document.title}. {document.text}"]))
        assert similar[0, 0] > 0.99
        (near,) = store.nearest_sentences(encoder.encode([document.sentences[0].text]), 5)
        assert any(match.key.document_id == name for match in near)
