"""A build of a newer source takes unchanged documents from the current version of the index."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elasticsearch import Elasticsearch
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page, Passage
from retrieval.errors import IndexUnavailable
from retrieval.index.elastic import elastic_index, elastic_version
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.errors import IndexNotBuilt
from retrieval.index.interface import BuildProgress
from retrieval.models.encoders import EncodableDocument
from tests.retrieval.index.elastic.building import MANY
from tests.retrieval.index.elastic.node import shared_url, store_url
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.support.encoders import WordEncoder

pytestmark = pytest.mark.elasticsearch


class NotingEncoder(WordEncoder):
    """Notes the texts of the documents that it encodes."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        self.texts += [document.text for document in documents]
        return super().encode_documents(documents)


class RefusingEncoder(WordEncoder):
    """Fails if a document is to be encoded, in any process."""

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        raise AssertionError(f"{len(documents)} documents were to be encoded.")


class OtherEncoder(NotingEncoder):
    """Has another name and the same vectors."""

    name = "other words"


def a_report(*texts: str) -> tuple[Page, ...]:
    """Return a long document of these passages."""
    return tuple(
        Page(f"r#{n}", "Report", None, text, passage=Passage("r", n, ("Results",), n))
        for n, text in enumerate(texts, 1)
    )


def encoded(index: ElasticIndex, pages: Sequence[Page], **corpus: Any) -> list[str]:
    """Build an index of the pages; return the texts that were encoded."""
    encoder = NotingEncoder()
    index.build(ListCorpus(tuple(pages), content=uuid.uuid4().hex, **corpus), encoder)
    return encoder.texts


def new_index(folder: Path, version: str = "9.5", processes: int = 1) -> ElasticIndex:
    location = ElasticLocation.read(store_url(f"u-{uuid.uuid4().hex}", version))
    return ElasticIndex(location, folder, processes)


def contents(index: ElasticIndex, pages: Sequence[Page]) -> list[object]:
    """Verify an index, and return what it contains but for what differs between two builds."""
    index.verify()
    store = index.open(None)
    info = replace(store.info(), bytes=0, built_at="")
    return [info, sorted(store.titled()), store.documents([page.id for page in pages])]


OLDER = (*PAGES, *a_report("Rain fell.", "Wind blew.", "Sun shone."))
NEWER = (
    *(page for page in PAGES if page.id not in {"Zoe", "Twin_1"}),
    Page("Zoe", "Zoë", None, "Zoë is a lake."),
    Page("Buoy", "Buoy", None, "A buoy floats."),
    *a_report("Rain fell.", "Fog came."),
)


@pytest.mark.parametrize("version", ["9.5", "8.19"])
def test_only_new_and_changed_documents_are_encoded_and_the_index_is_as_one_built_from_nothing(
    tmp_path: Path, version: str
) -> None:
    index, fresh = new_index(tmp_path, version), new_index(tmp_path, version)
    encoded(index, OLDER)
    assert encoded(index, NEWER) == ["Zoë is a lake.", "A buoy floats.", "Fog came."]
    encoded(fresh, NEWER)
    assert contents(index, NEWER) == contents(fresh, NEWER)
    for gone in ("Twin_1", "r#3"):
        with pytest.raises(IndexUnavailable):
            index.open(None).documents([gone])
    query = WordEncoder().encode(["A film is long."])
    for limit in (1, 20):
        found, expected = (one.open(None).nearest_sentences(query, limit) for one in (index, fresh))
        assert found == expected


BASE = Page("p", "Pear", "https://example.org/p", "Pears are green.", other_titles=("Pears",))
SPLIT = Page("s", "Sea", None, "", sentences=("The sea is deep.", "It is salt."), links=((), ()))
PART = a_report("Rain fell.")[0]
CHANGES: list[tuple[Page, dict[str, Any]]] = [
    (BASE, {"text": "Pears are sweet."}),
    (BASE, {"title": "Pears"}),
    (BASE, {"url": "https://example.org/pear"}),
    (BASE, {"other_titles": ()}),
    (SPLIT, {"sentences": ("The sea is deep. It is salt.",), "links": ()}),
    (SPLIT, {"links": ((), ("Salt",))}),
    (PART, {"passage": Passage("r", 1, ("Summary",), 1)}),
    (PART, {"passage": Passage("r", 1, ("Results",), 2)}),
]


def test_a_document_of_which_anything_changed_is_made_again(index: ElasticIndex) -> None:
    older = [replace(page, id=str(number)) for number, (page, _) in enumerate(CHANGES)]
    newer = [replace(page, **change) for page, (_, change) in zip(older, CHANGES, strict=True)]
    same = [BASE, SPLIT, PART]
    encoded(index, [*older, *same])
    assert len(encoded(index, [*newer, *same])) == len(CHANGES)
    assert encoded(index, [*newer, *same]) == []


def test_of_two_pages_with_one_id_the_later_one_is_used_if_one_is_unchanged(
    index: ElasticIndex,
) -> None:
    first, second = Page("a", "A", None, "Red words."), Page("a", "A", None, "Blue words.")
    encoded(index, [first])
    for pages in ([second, first], [first, second]):
        # The index has the first one.
        assert encoded(index, pages) == ["Blue words."]
        store = index.open(None)
        assert [d.text for d in store.documents(["a"])] == [pages[1].text]
        assert store.info().superseded == 1


def test_a_build_of_another_kind_of_source_or_with_other_vectors_takes_nothing_over(
    index: ElasticIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(encoded(index, PAGES, source="jsonl:a")) == len(PAGES)
    assert encoded(index, PAGES, source="jsonl:b") == []
    assert len(encoded(index, PAGES, source="folder:b")) == len(PAGES)
    other = OtherEncoder()
    index.build(ListCorpus(PAGES, source="folder:c"), other)
    assert len(other.texts) == len(PAGES)
    index.build(ListCorpus(PAGES, source="folder:c"), None)
    assert len(encoded(index, PAGES, source="folder:c")) == len(PAGES)
    # As if another machine had turned the vectors differently.
    client, version = Elasticsearch(shared_url()), index.version()
    meta: Any = client.indices.get_mapping(index=version)[version]["mappings"]["_meta"]
    meta["esoteric"]["rotation"][0] += 1
    client.indices.put_mapping(index=version, meta=meta)
    assert len(encoded(index, PAGES, source="folder:c")) == len(PAGES)
    monkeypatch.setattr(elastic_index, "FORMAT", 99)
    assert len(encoded(index, PAGES, source="folder:d")) == len(PAGES)


def test_documents_are_taken_over_from_an_index_that_was_changed_or_encoded_later(
    index: ElasticIndex,
) -> None:
    index.build(ListCorpus(PAGES[:3]), None)
    assert index.build(ListCorpus(PAGES[:4], content="2"), None).documents == 4
    index.encode(WordEncoder())
    index.add(ListCorpus(PAGES[4:6], content="3"), WordEncoder())
    assert encoded(index, PAGES[:7]) == [PAGES[6].text]
    index.verify()


def test_a_damaged_document_is_made_again(index: ElasticIndex) -> None:
    encoded(index, PAGES)
    client, version = Elasticsearch(shared_url()), index.version()
    client.indices.put_settings(index=version, settings={"index.blocks.write": False})
    stored: Any = client.get(index=version, id="Zoe")["_source"]
    stored["record"]["sentences"] = [[0, 0, 4], ["nonsense"]]
    client.index(index=version, id="Zoe", document={**stored, "id": "Zoe", "digest": "0" * 64})
    client.delete(index=version, id="Savage", refresh=True)
    assert encoded(index, PAGES) == ["A savage is a word. It is old.", PAGES[5].text]
    index.verify()


def test_an_index_is_built_from_nothing_if_the_current_version_cannot_be_read(
    index: ElasticIndex, caplog: pytest.LogCaptureFixture
) -> None:
    encoded(index, PAGES)
    client, version = Elasticsearch(shared_url()), index.version()
    client.indices.put_settings(index=version, settings={"index.blocks.read": True})
    assert len(encoded(index, PAGES)) == len(PAGES)
    assert "Unchanged documents may be made again" in caplog.text
    index.verify()


def test_other_processes_take_documents_over_too(tmp_path: Path) -> None:
    index = new_index(tmp_path, processes=2)
    before = index.build(ListCorpus(MANY[:600]), WordEncoder())
    after = index.build(ListCorpus(MANY[:600], content="2"), RefusingEncoder())
    assert (after.documents, after.checksum) == (600, before.checksum)


def test_progress_counts_documents_that_were_taken_over_and_the_old_version_serves_meanwhile(
    index: ElasticIndex, tmp_path: Path
) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    served, seen = index.version(), list[BuildProgress]()

    class Pruning(ListCorpus):
        def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
            with pytest.raises(IndexNotBuilt, match="is being changed by another process"):
                index.prune()
            assert index.version() == served
            yield from super().chunks()

    index.build(Pruning(NEWER, content="2"), WordEncoder(), seen.append)
    count = len(NEWER)
    assert seen == [
        BuildProgress("reading", 0, count, 0),
        BuildProgress("reading", count, count, count),
    ]
    assert index.version() != served
    assert index.prune() == [served]


# In each chunk of 256 pages some are changed.
OLD_MANY = tuple(
    replace(page, text="Old.") if n % 100 == 7 else page for n, page in enumerate(MANY)
)


def test_an_interrupted_update_is_continued_where_it_stopped(
    index: ElasticIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ending(ListCorpus):
        def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
            for number, chunk in enumerate(super().chunks()):
                if number == 4:
                    raise KeyboardInterrupt
                yield chunk

    monkeypatch.setattr(elastic_version, "_SAVED_EVERY", timedelta(0))
    index.build(ListCorpus(OLD_MANY), WordEncoder())
    with pytest.raises(KeyboardInterrupt):
        index.build(Ending(MANY, content="2"), WordEncoder())
    encoder = NotingEncoder()
    info = index.build(ListCorpus(MANY, content="2"), encoder)
    # The chunks that were written end before page 1024.
    assert encoder.texts == [f"It is number {n} of many." for n in (1107, 1207, 1307, 1407)]
    assert (info.documents, info.superseded) == (1500, 0)
    index.verify()


def test_an_update_that_was_killed_is_made_by_the_next_try(
    index: ElasticIndex, tmp_path: Path
) -> None:
    url = store_url(f"killed-update-{time.time_ns()}")
    updated = ElasticIndex(ElasticLocation.read(url), tmp_path)
    before = updated.build(ListCorpus(OLD_MANY, content="0"), WordEncoder())
    command = [
        sys.executable,
        "-m",
        "tests.retrieval.index.elastic.building",
        url,
        str(tmp_path),
        "chunk",
    ]
    assert subprocess.run(command, check=False).returncode == 9
    assert updated.open("words").info() == before
    encoder = NotingEncoder()
    after = updated.build(ListCorpus(MANY), encoder)
    assert {f"It is number {n} of many." for n in range(1107, 1500, 100)} <= set(encoder.texts)
    assert len(encoder.texts) <= 15
    assert after.checksum == index.build(ListCorpus(MANY), WordEncoder()).checksum
    assert (after.documents, after.superseded, updated.unfinished()) == (1500, 0, [])
    updated.verify()
