"""Vectors that come with the project are used where they fit, and nowhere else."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from research.training import vital_vectors
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded import folder_version
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.formats import packaged as packaged_files
from retrieval.index.formats.packaged import PACKAGED_ARRAYS, PACKAGED_CONFIG
from retrieval.index.interface import IndexInfo
from retrieval.models.encoders import MiniLMEncoder
from tests.retrieval.index.elastic.node import store_url
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.retrieval.index.test_store_contract import NotingEncoder
from tests.support.encoders import WordEncoder


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


def test_vectors_that_are_damaged_or_of_another_encoder_or_format_are_not_used(
    packaged: Path, tmp_path: Path
) -> None:
    config = json.loads((packaged / PACKAGED_CONFIG).read_text())
    changes = ({"weights": "x"}, {"encoder": "x"}, {"format": 0})
    for number, content in enumerate(
        [*(json.dumps(config | change) for change in changes), "", "[]", '"text"', "{}"]
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
        assert similar is not None
        assert similar[0, 0] > 0.99
        (near,) = store.nearest_sentences(encoder.encode([document.sentences[0].text]), 5)
        assert any(match.key.document_id == name for match in near)
