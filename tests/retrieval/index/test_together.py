"""Several indexes that are searched as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.together import Part, TogetherStore
from retrieval.types import PhraseSearch
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.retrieval.index.questions import documents_titled
from tests.support.encoders import WordEncoder

NOTES = (
    Page("harbour.pdf", "Harbour", None, "The new pier of the harbour cost 4 million. Ships go."),
    Page("savage.txt", "Savage (band)", None, "Savage were a choir from the town of Ostrea."),
    Page("zoe.md", "Zoë", "https://example.org/zoe", "Zoë is a ship."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TogetherStore:
    folder = tmp_path_factory.mktemp("together")
    for name, pages in (("default", PAGES), ("notes", NOTES)):
        EmbeddedIndex(folder / name).build(ListCorpus(pages, name=name), WordEncoder())
    return TogetherStore(
        [
            Part("list", "The list", "", EmbeddedIndex(folder / "default").open("words")),
            Part("notes", "My notes", "notes:", EmbeddedIndex(folder / "notes").open("words")),
        ]
    )


def test_it_says_what_all_contain_and_what_each_does(store: TogetherStore) -> None:
    info = store.info()
    assert (info.name, info.documents, info.sentences) == ("list, notes", 15, 21)
    parts = [(part.name, part.title, part.documents) for part in info.as_corpus().parts]
    assert parts == [("list", "The list", 12), ("notes", "My notes", 3)]
    assert documents_titled(store, "Zoë") == ["Zoe", "notes:zoe.md"]
    assert len(list(store.titled())) == 15


def test_documents_of_both_come_in_the_order_asked_under_their_own_ids(
    store: TogetherStore,
) -> None:
    found = store.documents(["notes:zoe.md", "Zoe", "notes:harbour.pdf"])
    assert [one.text[:8] for one in found] == ["Zoë is a", "Zoë is a", "The new "]
    assert [one.id for one in found] == ["notes:zoe.md", "Zoe", "notes:harbour.pdf"]
    assert found[2].sentences[1].document_id == "notes:harbour.pdf"
    # What has an address is credited to its site; the rest to its own corpus.
    assert [one.source for one in found] == [None, "The list", "My notes"]
    with pytest.raises(IndexUnavailable):
        store.documents(["notes:Savage"])


def test_exact_titles_of_both_come_before_those_with_words_in_parentheses(
    store: TogetherStore,
) -> None:
    found = [(one.document_id, one.name) for one in store.title_matches(["Savage", "zoe"])]
    assert found == [
        ("Savage", "Savage"),
        ("Savage_band", "Savage"),
        ("Savage_film", "Savage"),
        ("notes:savage.txt", "Savage"),
        ("Zoe", "zoe"),
        ("notes:zoe.md", "zoe"),
    ]


def test_the_best_of_each_by_words_come_first_whatever_their_scores(store: TogetherStore) -> None:
    found, three = store.phrase_matches([PhraseSearch(("ships",), 9), PhraseSearch(("ships",), 2)])
    ids = [match.document_id for match in found]
    assert ids == ["The_Harbour", "notes:harbour.pdf", "Harbour_light"]
    assert [match.document_id for match in three] == ids[:2]


def test_a_word_of_one_of_them_is_not_misspelt(store: TogetherStore) -> None:
    assert store.near_words("pier", 1) == {}
    assert store.near_words("harbor", 1) == {"harbour": 3}


def test_vectors_of_both_are_compared_alike(store: TogetherStore) -> None:
    queries = WordEncoder().encode(["Ships go."])
    (found,) = store.nearest_sentences(queries, 2)
    keys = [tuple(match.key) for match in found]
    assert keys == [("The_Harbour", 2), ("notes:harbour.pdf", 1)]
    (others,) = store.nearest_sentences(queries, 1, without=["The_Harbour"])
    assert others == found[1:]
    (among,) = store.nearest_sentences(queries, 9, among=["notes:zoe.md"])
    assert {match.key.document_id for match in among} == {"notes:zoe.md"}
    similar = store.similarities(["notes:zoe.md", "Zoe"], WordEncoder().encode(["Zoë is a ship."]))
    assert similar is not None
    assert similar[0, 0] > similar[1, 0] > 0


def test_one_index_alone_answers_under_its_prefix(tmp_path: Path) -> None:
    EmbeddedIndex(tmp_path).build(ListCorpus(NOTES), None)
    alone = TogetherStore([Part("notes", "My notes", "notes:", EmbeddedIndex(tmp_path).open(None))])
    assert [one for one, _ in alone.titled()] == [f"notes:{page.id}" for page in NOTES]
    assert alone.nearest_sentences(WordEncoder().encode(["Ships go."]), 3) == [[]]
    assert alone.similarities(["notes:zoe.md"], WordEncoder().encode(["Ships."])) is None
