"""What every document store must do, whatever holds the documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.builder import build_index
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.index.store import DocumentStore
from retrieval.titles.title_tokenizer import TitleTokenizer
from retrieval.types import SentenceKey, SentenceMatch
from tests.encoders import WordEncoder
from tests.index.in_memory_store import InMemoryStore
from tests.index.pages import PAGES, ListCorpus, alone

HOSTILE = [
    '*?:()"\\',
    "text:ships",
    "ships AND harbour",
    "",
    "  ",
    "🚢",
    "سفينة",
    "a" * 5000,
    "\x00",
]


def in_memory(folder: Path, pages: tuple[Page, ...] = PAGES) -> DocumentStore:
    return InMemoryStore(pages, WordEncoder())


def embedded(folder: Path, pages: tuple[Page, ...] = PAGES) -> DocumentStore:
    build_index(ListCorpus(pages), alone(folder, WordEncoder()))
    return EmbeddedStore.open(folder, WordEncoder.name)


STORES = {"in memory": in_memory, "embedded": embedded}


@pytest.fixture(scope="module", params=list(STORES))
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DocumentStore:
    return STORES[request.param](tmp_path_factory.mktemp("store"))


def titles(store: DocumentStore, *names: str) -> list[str]:
    return [match.title for match in store.title_matches(names)]


def test_it_says_what_it_holds(store: DocumentStore) -> None:
    info = store.info()
    # 2 + 1 + 2 + 3 + 1 + 2 + 1 + 1 + 0 + 1 + 1 + 2
    assert (info.documents, info.sentences, info.encoder) == (12, 17, "words")


def test_documents_come_in_the_order_asked(store: DocumentStore) -> None:
    assert [d.title for d in store.documents(["Zoe", "Savage"])] == ["Zoë", "Savage"]


def test_every_sentence_is_cut_out_of_its_text_by_its_offsets(store: DocumentStore) -> None:
    for document in store.documents([page.id for page in PAGES]):
        for number, sentence in enumerate(document.sentences):
            assert document.text[sentence.start : sentence.end] == sentence.text
            assert sentence.sentence_id == number
            assert sentence.document_id == document.id


def test_an_unknown_id_is_an_error(store: DocumentStore) -> None:
    with pytest.raises(IndexUnavailable):
        store.documents(["Savage", "Nowhere"])
    with pytest.raises(IndexUnavailable):
        store.vectors(["Nowhere"])


@pytest.mark.parametrize(
    "name", ["harbour", "The Harbour", "the harbour's", "a HARBOUR", "Harbour\u2019s", "  harbour "]
)
def test_case_article_and_possessive_do_not_matter_to_a_title(
    store: DocumentStore, name: str
) -> None:
    assert titles(store, name) == ["The Harbour"]


def test_accents_do_not_matter_to_a_title(store: DocumentStore) -> None:
    assert titles(store, "zoe") == titles(store, "Zoë") == titles(store, "ZOE\u0308") == ["Zoë"]


def test_a_title_matches_exactly_first_and_then_without_its_words_in_parentheses(
    store: DocumentStore,
) -> None:
    assert [(m.title, m.disambiguation) for m in store.title_matches(["savage"])] == [
        ("Savage", None),
        ("Savage (band)", "band"),
        ("Savage (2012 film)", "2012 film"),
    ]


def test_a_title_with_its_words_in_parentheses_is_exact(store: DocumentStore) -> None:
    assert [(m.title, m.disambiguation) for m in store.title_matches(["savage (BAND)"])] == [
        ("Savage (band)", None)
    ]


def test_two_documents_of_one_title_are_both_found(store: DocumentStore) -> None:
    assert [m.document_id for m in store.title_matches(["twin"])] == ["Twin_1", "Twin_2"]


def test_titles_full_of_brackets_are_titles(store: DocumentStore) -> None:
    assert titles(store, "(What) a title", "(everything)") == ["(What) a title", "(Everything)"]


def test_a_prefix_of_a_title_is_another_title(store: DocumentStore) -> None:
    assert titles(store, "Harbour ligh", "Sav") == []


def test_names_are_answered_in_the_order_asked(store: DocumentStore) -> None:
    assert titles(store, "twin", "zoe", "twin") == ["Twin", "Twin", "Zoë"]


def test_a_phrase_is_its_words_in_order(store: DocumentStore) -> None:
    found = [match.document_id for match in store.phrase_matches(["harbour light"], 10)]
    assert found == ["Harbour_light"]


def test_documents_with_any_of_the_phrases_are_found(store: DocumentStore) -> None:
    found = {m.document_id for m in store.phrase_matches(["harbour light", "CAFE"], 10)}
    assert found == {"Harbour_light", "Zoe"}


def test_more_of_a_rare_word_ranks_higher_and_the_limit_holds(store: DocumentStore) -> None:
    assert store.phrase_matches(["ships"], 10)[0].document_id == "The_Harbour"
    assert len(store.phrase_matches(["a"], 3)) == 3
    assert store.phrase_matches(["a"], 0) == []


def test_equal_scores_are_in_order_of_ids(store: DocumentStore) -> None:
    found = [m.document_id for m in store.phrase_matches(["pages with one title"], 10)]
    assert found == ["Twin_1", "Twin_2"]


@pytest.mark.parametrize("phrase", HOSTILE)
def test_no_character_of_a_phrase_is_query_syntax(store: DocumentStore, phrase: str) -> None:
    found = {match.document_id for match in store.phrase_matches([phrase], 10)}
    assert found <= ({"The_Harbour"} if "ships" in phrase else set())
    assert store.title_matches([phrase]) == []


def test_vectors_are_those_of_title_and_text(store: DocumentStore) -> None:
    vectors = store.vectors(["Savage", "Twin_1"])
    expected = WordEncoder().encode(
        ["Savage. A savage is a word. It is old.", "Twin. The first of two pages with one title."]
    )
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected, abs=1e-3)


def nearest(store: DocumentStore, text: str, limit: int) -> list[SentenceMatch]:
    (matches,) = store.nearest_sentences(WordEncoder().encode([text]), limit)
    return matches


def test_the_nearest_sentence_comes_first(store: DocumentStore) -> None:
    first, second = nearest(store, "Ships go.", 2)
    assert first.key == SentenceKey("The_Harbour", 2)
    assert first.similarity == pytest.approx(1, abs=1e-3)
    # Of its two words one is shared: 1 / (sqrt(2) * sqrt(2)).
    assert second.key == SentenceKey("The_Harbour", 1)
    assert second.similarity == pytest.approx(0.5, abs=1e-3)


def test_each_query_has_its_own_answer_and_none_has_none(store: DocumentStore) -> None:
    queries = WordEncoder().encode(["Ships come.", "It is old."])
    found = store.nearest_sentences(queries, 1)
    keys = [[match.key for match in matches] for matches in found]
    assert keys == [[SentenceKey("The_Harbour", 1)], [SentenceKey("Savage", 1)]]
    assert store.nearest_sentences(queries[:0], 5) == []


def test_sentences_of_documents_that_are_left_out_are_not_found(store: DocumentStore) -> None:
    query = WordEncoder().encode(["Ships come to the harbour."])
    (everything,) = store.nearest_sentences(query, 1000)
    first = everything[0].key.document_id
    (others,) = store.nearest_sentences(query, 1000, {first})
    assert others == [match for match in everything if match.key.document_id != first]
    assert len(others) < len(everything)


def test_no_more_sentences_are_found_than_asked_for_or_than_there_are(
    store: DocumentStore,
) -> None:
    assert nearest(store, "Ships go.", 0) == []
    assert len(nearest(store, "Ships go.", 5)) == 5
    everything = nearest(store, "Ships go.", 100)
    assert len({match.key for match in everything}) == len(everything) == 17
    assert all(-1 <= match.similarity <= 1 for match in everything)
    assert everything == sorted(everything, key=lambda match: -match.similarity)


@pytest.mark.parametrize("name", list(STORES))
def test_of_a_name_that_many_share_the_exact_one_and_the_first_others_are_found(
    name: str, tmp_path: Path
) -> None:
    isles = [Page(f"{n:03}", f"Holm ({n})", None, "It is an isle.") for n in range(120)]
    pages = (*reversed(isles), Page("zz", "Holm", None, "It is a name."))
    found = STORES[name](tmp_path, pages).title_matches(["Holm"])
    assert [match.document_id for match in found] == ["zz", *(f"{n:03}" for n in range(99))]


@pytest.mark.parametrize("name", list(STORES))
def test_equally_near_sentences_are_in_order_of_their_keys(name: str, tmp_path: Path) -> None:
    # The pages stand in no order, and the limit cuts through what is equally near.
    pages = tuple(
        Page(page_id, page_id, None, "Bells ring. Bells ring.") for page_id in ("c", "a", "d", "b")
    )
    matches = nearest(STORES[name](tmp_path, pages), "Bells ring.", 5)
    assert [match.key for match in matches] == [
        SentenceKey("a", 0),
        SentenceKey("a", 1),
        SentenceKey("b", 0),
        SentenceKey("b", 1),
        SentenceKey("c", 0),
    ]


def test_the_titles_lead_to_their_documents(store: DocumentStore) -> None:
    trie = store.titles()
    tokens = TitleTokenizer().tokens([page.title for page in PAGES])
    for page, title in zip(PAGES, tokens, strict=True):
        node = trie.root()
        for token in title:
            assert token in trie.children(node)
            step = trie.step(node, token)
            assert step is not None
            node = step
        assert trie.ends(node) == (["Twin_1", "Twin_2"] if page.title == "Twin" else [page.id])


def test_every_document_is_named_once(store: DocumentStore) -> None:
    named = list(store.titled())
    assert len(named) == len(dict(named)) == store.info().documents
    assert [(d.id, d.title) for d in store.documents([one for one, _ in named])] == named


def test_the_embedded_store_agrees_with_looking_at_every_document(tmp_path: Path) -> None:
    oracle, store = in_memory(tmp_path), embedded(tmp_path)
    for phrases in (
        ["ships"],
        ["a"],
        ["the", "harbour"],
        ["is a", "title"],
        ["band", "film", "old"],
    ):
        expected, found = oracle.phrase_matches(phrases, 20), store.phrase_matches(phrases, 20)
        assert {m.document_id for m in found} == {m.document_id for m in expected}
        assert [m.bm25 for m in found] == pytest.approx([m.bm25 for m in expected], rel=0.05)
    queries = WordEncoder().encode(["Ships come to the harbour.", "A band is a film.", "Titles."])
    for expected, found in zip(
        oracle.nearest_sentences(queries, 17), store.nearest_sentences(queries, 17), strict=True
    ):
        near = {m.key: m.similarity for m in expected}
        assert [m.similarity for m in found] == pytest.approx(
            [near[m.key] for m in found], abs=1e-3
        )
