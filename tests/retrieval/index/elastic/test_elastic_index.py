"""An index in Elasticsearch: its versions, what is not one of its own, and damage to it."""

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elasticsearch import Elasticsearch

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.elastic import change_lock, elastic_store, entries, versions
from retrieval.index.elastic.change_lock import ChangeLock
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.elastic.versions import WrittenVersion
from retrieval.index.errors import IndexNotBuilt
from tests.retrieval.index.elastic.node import shared_url, store_url
from tests.retrieval.index.pages import PAGES, ListCorpus, many
from tests.retrieval.index.test_store_contract import NotingEncoder, encoded
from tests.support.encoders import WordEncoder

pytestmark = pytest.mark.elasticsearch

MORE = (Page("Buoy", "Buoy", None, "A buoy floats."),)


def index_of(name: str, folder: Path, processes: int = 1) -> ElasticIndex:
    return ElasticIndex(ElasticLocation.read(store_url(name)), folder, processes)


def new_client() -> Elasticsearch:
    return Elasticsearch(shared_url())


@pytest.fixture
def name() -> str:
    return f"v-{uuid.uuid4().hex}"


def end(change: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write all of a change, and end before it is published."""

    def publish(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WrittenVersion, "publish", publish)
        with pytest.raises(KeyboardInterrupt):
            change()


def test_an_index_leaves_alone_another_whose_name_begins_like_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = new_client()
    one, other = index_of(name, tmp_path), index_of(f"{name}-2", tmp_path)
    other.build(ListCorpus(PAGES), WordEncoder())
    more = ListCorpus(MORE, content="2")
    end(lambda: other.build(more, WordEncoder()), monkeypatch)
    with ChangeLock(client, f"{name}-2"):
        assert other.unfinished() == []  # somebody may be going on with it
    assert one.unfinished() == []
    assert one.needs_build("list")
    one.build(ListCorpus(MORE, content="2"), WordEncoder())
    assert one.open("words").info().documents == 1
    assert one.prune() == []
    assert len(other.unfinished()) == 1
    assert other.open("words").info().documents == len(PAGES)


def test_a_lock_names_its_holder_and_is_taken_over_if_it_is_not_renewed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = new_client()
    with ChangeLock(client, name) as lock:
        with pytest.raises(IndexNotBuilt, match="is being changed by another process"):
            ChangeLock(client, name).__enter__()
        holder = client.get(index=f"{name}-lock", id="lock")["_source"]
        # As if a process that has ended had it.
        dead = {**holder, "token": "another"}
        client.index(index=f"{name}-lock", id="lock", document=dead)
        with ChangeLock(client, name) as other:
            with pytest.raises(IndexNotBuilt):
                lock.held()
            other.held()
    # That of another machine is taken over if it is not renewed.
    monkeypatch.setattr(change_lock, "_RENEWED_EVERY", 0.5)
    with ChangeLock(client, name) as lock:
        # Its clock is wrong by a day, and it works.
        monkeypatch.setattr(change_lock, "_this_process", elsewhere)
        with pytest.raises(IndexNotBuilt):
            ChangeLock(client, name).__enter__()
        lock.held()
    client.index(index=f"{name}-lock", id="lock", document={**elsewhere(), "renewed_at": 1.0})
    monkeypatch.undo()
    monkeypatch.setattr(change_lock, "_RENEWED_EVERY", 0.1)
    with ChangeLock(client, name) as other:
        other.held()


def elsewhere() -> dict[str, object]:
    return {"machine": "another", "host": "elsewhere", "pid": 1, "token": "", "renewed_at": 1.0}


def test_a_builder_whose_lock_was_taken_over_undoes_no_other_change(
    index: ElasticIndex, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = new_client()
    index.build(ListCorpus(PAGES), WordEncoder())

    def overtaken(self: WrittenVersion) -> None:
        """Another process publishes a page before this one does."""
        monkeypatch.undo()
        client.delete(index=f"{index_name}-lock", id="lock")
        index.add(ListCorpus(MORE, content="3"), WordEncoder())
        self._swap_in()

    monkeypatch.setattr(WrittenVersion, "_swap_in", overtaken)
    page = Page("Late", "Late", None, "It comes too late.")
    with pytest.raises(IndexNotBuilt, match="is being changed by another process"):
        index.add(ListCorpus((page,), content="2"), WordEncoder())
    assert [d.id for d in index.open("words").documents(["Buoy"])] == ["Buoy"]


def test_a_deleted_version_is_not_made_again(index: ElasticIndex, index_name: str) -> None:
    client = new_client()

    class Deleting(ListCorpus):
        def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
            for chunk in super().chunks():
                client.indices.delete(index=",".join(client.indices.get(index=f"{index_name}-*-*")))
                yield chunk

    with pytest.raises(IndexUnavailable):
        index.build(Deleting(PAGES), WordEncoder())
    assert index.build(ListCorpus(PAGES), WordEncoder()).documents == len(PAGES)


def test_a_name_that_is_taken_is_refused(name: str, tmp_path: Path) -> None:
    client = new_client()
    index = index_of(name, tmp_path)
    client.indices.create(index=name)
    with pytest.raises(IndexNotBuilt, match="has not built"):
        index.build(ListCorpus(PAGES), WordEncoder())
    client.indices.delete(index=name)
    client.indices.create(index=f"other-{name}", aliases={name: {}})
    with pytest.raises(IndexNotBuilt, match="has not built"):
        index.build(ListCorpus(PAGES), WordEncoder())
    assert list(client.indices.get_alias(name=name)) == [f"other-{name}"]


def test_an_older_build_is_continued(index: ElasticIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_KEPT_FOR", timedelta(0))
    end(lambda: index.build(ListCorpus(PAGES), WordEncoder()), monkeypatch)
    index.build(ListCorpus(MORE, content="2"), WordEncoder())
    assert index.build(ListCorpus(PAGES), WordEncoder()).documents == len(PAGES)
    assert index.open("words").info().documents == len(PAGES)


def test_a_stopped_removal_goes_on(index: ElasticIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    end(lambda: index.remove(["Zoe", "Savage"]), monkeypatch)
    assert index.open("words").info().documents == len(PAGES)
    assert index.remove(["Zoe", "Savage"]).documents == len(PAGES) - 2


def test_a_changed_index_is_not_anew(index: ElasticIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    with monkeypatch.context() as patch:
        patch.setattr(entries, "FORMAT", 99)
        assert index.needs_build("list") == "outdated"
        assert not index.needs_build("another source")
    index.add(ListCorpus(MORE, content="2"), WordEncoder())
    index.encode(WordEncoder())
    monkeypatch.setattr(entries, "FORMAT", 99)
    assert not index.needs_build("list")


def test_odd_ids_and_titles_are_kept_apart(index: ElasticIndex) -> None:
    long = "x" * 600
    pages = (
        Page(long, "Savage", None, "A savage is a word."),
        Page(entries.key_of(long), f"Savage ({'y' * 9000})", None, "It has a long title."),
        Page("a/b c\"d'?", "_Quote", None, "It has an odd id."),
        Page("z" * 40_000, "Endless", None, "Its id is too long."),
    )
    info = index.build(ListCorpus(pages), WordEncoder())
    assert (info.documents, info.bad_pages) == (3, 1)
    assert "40000 characters" in index.bad_pages().first
    assert Path(index.bad_pages().listed_in).read_text().count("\n") == 1
    store = index.open("words")
    found = store.title_matches(["savage"])
    assert [match.document_id for match in found] == [long, entries.key_of(long)]
    assert [d.id for d in store.documents([page.id for page in pages[:3]])] == [
        page.id for page in pages[:3]
    ]
    assert {title for _, title in store.titled()} == {page.title for page in pages[:3]}


def test_lost_codes_are_made_anew(index: ElasticIndex, monkeypatch: Any, tmp_path: Path) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    monkeypatch.setattr(elastic_store, "_KEPT", 3)
    store = index.open("words")
    query = WordEncoder().encode(["Ships go."])
    ids = [page.id for page in PAGES]
    first = store.similarities(ids[:5], query)
    both = store.similarities(ids, query)
    assert np.array_equal(first, both[:5])
    (some,) = store.nearest_sentences(query, 50, among=ids[:5])
    (every,) = store.nearest_sentences(query, 50, among=ids)
    assert {match.key for match in some} < {match.key for match in every}
    # A damaged snapshot of the titles is made anew.
    (tokens,) = tmp_path.rglob("title_tokens.npy")
    tokens.write_bytes(b"")
    trie = index.open("words").titles()
    assert len(trie.children(trie.root()))
    assert tokens.stat().st_size > 0
    # A query of zeros finds nothing.
    queries = np.zeros((2, 384), dtype=np.float32)
    queries[1] = WordEncoder().encode(["Ships go."])[0]
    nothing, some = index.open("words").nearest_sentences(queries, 3)
    assert nothing == []
    assert len(some) == 3


def test_a_damaged_document_is_found_by_verify_and_made_again(index: ElasticIndex) -> None:
    encoded(index, PAGES)
    client, version = new_client(), index.version()
    client.indices.put_settings(index=version, settings={"index.blocks.write": False})
    stored: Any = client.get(index=version, id="Zoe")["_source"]
    stored["record"]["sentences"] = [[0, 0, 4], ["nonsense"]]
    client.index(index=version, id="Zoe", document={**stored, "id": "Zoe", "digest": "0" * 64})
    client.delete(index=version, id="Savage", refresh=True)
    with pytest.raises(IndexUnavailable, match="damaged"):
        index.verify()
    assert encoded(index, PAGES) == ["A savage is a word. It is old.", PAGES[5].text]
    index.verify()


def test_an_unreadable_version_is_built_from_nothing(index: ElasticIndex, caplog: Any) -> None:
    encoded(index, PAGES)
    client, version = new_client(), index.version()
    client.indices.put_settings(index=version, settings={"index.blocks.read": True})
    assert len(encoded(index, PAGES)) == len(PAGES)
    assert "Unchanged documents may be made again" in caplog.text
    index.verify()


def test_nothing_is_taken_over_from_vectors_that_were_turned_differently_or_another_format(
    index: ElasticIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = new_client()
    encoded(index, PAGES)
    version = index.version()
    meta: Any = client.indices.get_mapping(index=version)[version]["mappings"]["_meta"]
    meta["esoteric"]["rotation"][0] += 1
    client.indices.put_mapping(index=version, meta=meta)
    with pytest.raises(IndexUnavailable, match="computes the rotation of vectors differently"):
        index.open(None)
    assert len(encoded(index, PAGES)) == len(PAGES)
    monkeypatch.setattr(entries, "FORMAT", 99)
    assert len(encoded(index, PAGES)) == len(PAGES)


def test_other_processes_take_documents_over_too_and_an_update_that_ended_is_continued(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ending(ListCorpus):
        def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
            for number, chunk in enumerate(super().chunks()):
                if number == 4:
                    raise KeyboardInterrupt
                yield chunk

    monkeypatch.setattr(versions, "_SAVED_EVERY", timedelta(0))
    pages = many().pages
    index = index_of(name, tmp_path)
    before = index.build(ListCorpus(pages), WordEncoder())
    with pytest.raises(KeyboardInterrupt):
        index.build(Ending(pages, content="2"), encoder := NotingEncoder())
    (begun,) = index.unfinished()
    assert ", 1024 pages so far. " in begun
    assert encoder.texts == []
    after = index_of(name, tmp_path, 2).build(ListCorpus(pages, content="2"), WordEncoder())
    assert (after.documents, after.checksum, after.superseded) == (1400, before.checksum, 0)
