"""Adding, replacing and removing: what is found then is what a new index would find."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.builder import add_to_index, build_index, remove_from_index
from retrieval.index.embedded_store import EmbeddedStore
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore
from tests.index.pages import PAGES, ListCorpus, alone

NEW = (
    Page("Savage_song", "Savage (song)", None, "Savage is a song. It is short."),
    Page("Zoe", "Zoë", None, "Zoë is a lake. Ships cross it."),
    Page("Buoy", "Buoy", None, "A buoy floats in the harbour."),
)
LEFT = (*(page for page in PAGES if page.id not in {"Zoe", "Twin_1"}), *NEW)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that was built, added to and taken from."""
    folder = tmp_path_factory.mktemp("changed")
    build_index(ListCorpus(PAGES), alone(folder, WordEncoder()))
    add_to_index(ListCorpus(NEW, content="2"), alone(folder, WordEncoder()))
    remove_from_index(["Twin_1"], folder, "words")
    return folder


@pytest.fixture(scope="module")
def store(changed: Path) -> EmbeddedStore:
    return EmbeddedStore.open(changed, "words")


def test_it_holds_what_is_left(store: EmbeddedStore) -> None:
    info, expected = store.info(), InMemoryStore(LEFT, WordEncoder()).info()
    assert (info.documents, info.sentences) == (expected.documents, expected.sentences)
    assert {document for document, _ in store.titled()} == {page.id for page in LEFT}
    store.verify()


def test_it_answers_as_an_index_of_what_is_left_does(store: EmbeddedStore) -> None:
    oracle = InMemoryStore(LEFT, WordEncoder())
    ids = [page.id for page in LEFT]
    assert store.documents(ids) == oracle.documents(ids)
    assert store.vectors(ids) == pytest.approx(oracle.vectors(ids), abs=1e-3)
    names = ["savage", "zoe", "twin", "buoy", "harbour light"]
    assert store.title_matches(names) == oracle.title_matches(names)
    for phrases in (["ships"], ["a"], ["is a", "harbour"], ["given name"]):
        expected = {match.document_id for match in oracle.phrase_matches(phrases, 20)}
        assert {match.document_id for match in store.phrase_matches(phrases, 20)} == expected
    queries = WordEncoder().encode(["Ships cross the harbour.", "It is old."])
    for limit, without in ((3, ()), (30, ()), (4, ("Zoe", "Savage"))):
        for found, expected_matches in zip(
            store.nearest_sentences(queries, limit, without),
            oracle.nearest_sentences(queries, limit, without),
            strict=True,
        ):
            similar = [match.similarity for match in expected_matches]
            assert [match.similarity for match in found] == pytest.approx(similar, abs=1e-3)


def test_titles_lead_to_what_is_left(store: EmbeddedStore) -> None:
    def ends(title: str) -> list[str]:
        trie = store.titles()
        from retrieval.titles.title_tokenizer import TitleTokenizer

        node = trie.root()
        for token in TitleTokenizer().tokens([title])[0]:
            following = trie.step(node, token)
            assert following is not None
            node = following
        return trie.ends(node)

    assert ends("Twin") == ["Twin_2"]
    assert ends("Zoë") == ["Zoe"]
    assert ends("Buoy") == ["Buoy"]


def test_the_last_of_several_pages_with_one_id_counts(tmp_path: Path) -> None:
    pages = (Page("a", "Old", None, "It is red."), *PAGES, Page("a", "New", None, "It is blue."))
    info = build_index(ListCorpus(pages), alone(tmp_path, WordEncoder()))
    store = EmbeddedStore.open(tmp_path, "words")
    assert info.documents == len(PAGES) + 1
    assert [document.title for document in store.documents(["a"])] == ["New"]
    assert store.title_matches(["Old"]) == []
    assert store.phrase_matches(["red"], 5) == []


def test_nothing_is_removed_where_one_id_is_unknown(tmp_path: Path) -> None:
    before = build_index(ListCorpus(PAGES), alone(tmp_path, WordEncoder()))
    with pytest.raises(BadSource, match="no document with the id 'Nowhere'; nothing was removed"):
        remove_from_index(["Zoe", "Nowhere"], tmp_path, "words")
    assert EmbeddedStore.open(tmp_path, "words").info() == before


def test_there_must_be_an_index_to_add_to(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="There is no index yet"):
        add_to_index(ListCorpus(PAGES), alone(tmp_path, WordEncoder()))


def test_a_reader_keeps_what_it_opened_while_the_index_changes(tmp_path: Path) -> None:
    build_index(ListCorpus(PAGES), alone(tmp_path, WordEncoder()))
    old = EmbeddedStore.open(tmp_path, "words")
    remove_from_index(["Zoe"], tmp_path, "words")
    add_to_index(ListCorpus(NEW, content="2"), alone(tmp_path, WordEncoder()))
    assert [document.text[:12] for document in old.documents(["Zoe"])] == ["Zoë is a giv"]
    assert {match.document_id for match in old.phrase_matches(["café"], 5)} == {"Zoe"}
    assert old.title_matches(["buoy"]) == []


def test_adding_the_same_pages_again_changes_nothing_that_is_found(tmp_path: Path) -> None:
    before = build_index(ListCorpus(PAGES), alone(tmp_path, WordEncoder()))
    after = add_to_index(ListCorpus(PAGES), alone(tmp_path, WordEncoder()))
    assert (after.documents, after.sentences) == (before.documents, before.sentences)
    found = EmbeddedStore.open(tmp_path, "words").phrase_matches(["ships"], 5)
    assert [match.document_id for match in found][:1] == ["The_Harbour"]
