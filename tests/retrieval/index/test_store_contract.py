"""What every index must do, whatever holds the documents: found, built and changed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.corpora.corpus import Page, Passage
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.elastic_store import ElasticStore
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.interface import BadPages, BuildProgress, DocumentStore, Index
from retrieval.types import PhraseSearch, SentenceKey, SentenceMatch
from tests.retrieval.index.elastic.node import store_url
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.retrieval.index.questions import documents_titled, holding
from tests.support.encoders import WordEncoder

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


def elastic_index(folder: Path, version: str = "9.5") -> ElasticIndex:
    """An index of its own on the server that the tests share."""
    url = store_url(f"contract-{uuid.uuid4().hex}", version)
    return ElasticIndex(ElasticLocation.read(url), folder)


INDEXES: dict[str, Callable[[Path], Index]] = {
    "embedded": EmbeddedIndex,
    "elasticsearch": elastic_index,
    "elasticsearch 8": lambda folder: elastic_index(folder, "8.19"),
}
ELASTIC = {"elasticsearch", "elasticsearch 8"}


def marked(*param: Any) -> Any:
    """A parameter, marked if it begins with the name of an index that needs a server."""
    marks = [pytest.mark.elasticsearch] if param[0] in ELASTIC else []
    return pytest.param(param if param[1:] else param[0], marks=marks)


NAMES = [marked(name) for name in INDEXES]
# How far an estimate by the bits of 384 dimensions may lie beside the inner product.
ABOUT = 0.15


def built(name: str, folder: Path, pages: tuple[Page, ...] = PAGES) -> DocumentStore:
    index = INDEXES[name](folder)
    index.build(ListCorpus(pages), WordEncoder())
    return index.open(WordEncoder.name)


# What looks at every page must answer as the indexes do: other tests take it for one.
@pytest.fixture(scope="module", params=["in memory", *NAMES])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DocumentStore:
    if request.param == "in memory":
        return InMemoryStore(PAGES, WordEncoder())
    return built(request.param, tmp_path_factory.mktemp("store"))


@pytest.fixture(params=NAMES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    """An index that is not there yet."""
    return INDEXES[request.param](tmp_path / "index")


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
        store.similarities(["Nowhere"], WordEncoder().encode(["Ships go."]))


@pytest.mark.parametrize(
    ("names", "found"),
    [
        # Case, article, possessive and accents do not matter.
        (["harbour"], ["The Harbour"]),
        (["a HARBOUR"], ["The Harbour"]),
        (["the harbour's"], ["The Harbour"]),
        (["Harbour\u2019s"], ["The Harbour"]),
        (["  harbour "], ["The Harbour"]),
        (["zoe"], ["Zoë"]),
        (["ZOE\u0308"], ["Zoë"]),
        # Titles full of brackets are titles; a part of one is another title.
        (["(What) a title", "(everything)"], ["(What) a title", "(Everything)"]),
        (["Harbour ligh", "Sav"], []),
        # Names are answered in the order asked, each once, with all that have the title.
        (["twin", "zoe", "twin"], ["Twin", "Twin", "Zoë"]),
    ],
)
def test_a_title_is_found_by_a_name(
    store: DocumentStore, names: list[str], found: list[str]
) -> None:
    assert titles(store, *names) == found


def test_a_title_matches_exactly_first_and_then_without_its_words_in_parentheses(
    store: DocumentStore,
) -> None:
    assert [(m.title, m.disambiguation) for m in store.title_matches(["savage"])] == [
        ("Savage", None),
        ("Savage (band)", "band"),
        ("Savage (2012 film)", "2012 film"),
    ]
    (band,) = store.title_matches(["savage (BAND)"])
    assert (band.title, band.disambiguation) == ("Savage (band)", None)


@pytest.mark.parametrize(
    ("phrases", "found"),
    [
        (["harbour light"], ["Harbour_light"]),  # its words in this order
        (["light harbour"], []),
        (["CAFE"], ["Zoe"]),
        (["pages with one title"], ["Twin_1", "Twin_2"]),  # of equal scores
    ],
)
def test_a_phrase_is_found_in_the_texts_that_hold_it(
    store: DocumentStore, phrases: list[str], found: list[str]
) -> None:
    assert [match.document_id for match in holding(store, *phrases)] == found


def test_more_of_a_rare_word_ranks_higher_and_the_limit_holds(store: DocumentStore) -> None:
    assert holding(store, "ships")[0].document_id == "The_Harbour"
    assert len(holding(store, "a", limit=3)) == 3
    assert holding(store, "a", limit=0) == []


def test_each_search_by_phrases_has_its_own_answer_and_none_has_none(store: DocumentStore) -> None:
    found = store.phrase_matches(
        [
            PhraseSearch(("ships",), 1),
            PhraseSearch((), 10),
            PhraseSearch(("CAFE", "harbour light"), 10),
            PhraseSearch(("ships",), 10),
        ]
    )
    first, none, others, again = ([match.document_id for match in matches] for matches in found)
    assert (first, none, set(others)) == (["The_Harbour"], [], {"Harbour_light", "Zoe"})
    assert again == ["The_Harbour", "Harbour_light"]
    assert store.phrase_matches([]) == []


@pytest.mark.parametrize("phrase", HOSTILE)
def test_no_character_of_a_phrase_is_query_syntax(store: DocumentStore, phrase: str) -> None:
    found = {match.document_id for match in holding(store, phrase)}
    assert found <= ({"The_Harbour"} if "ships" in phrase else set())
    assert store.title_matches([phrase]) == []


@pytest.mark.parametrize(
    ("word", "edits", "near"),
    [
        ("harbor", 1, {"harbour": 2}),
        ("Harbuor", 1, {"harbour": 2}),  # two letters swapped
        ("harbours", 1, {"harbour": 2}),
        ("harbbor", 1, {}),
        ("harbbor", 2, {"harbour": 2}),
        ("harbour", 2, {}),  # it is there
        ("CAFÉS", 1, {"cafe": 1}),
        ("arbour", 1, {}),  # another first letter
        ("savge", 1, {"savage": 3}),
        ("titls", 1, {"title": 3, "titles": 1}),
        ("ti*ls", 1, {}),
        ("", 1, {}),
        ("سفينة", 2, {}),
    ],
)
def test_words_near_one_that_is_not_there_come_with_the_number_of_their_texts(
    store: DocumentStore, word: str, edits: int, near: dict[str, int]
) -> None:
    assert store.near_words(word, edits) == near


def test_documents_are_compared_by_title_and_text(store: DocumentStore) -> None:
    queries = WordEncoder().encode(["It is old.", "One title of two pages.", "Savage Twin"])
    similar = store.similarities(["Twin_1", "Savage"], queries)
    vectors = WordEncoder().encode(
        ["Twin. The first of two pages with one title.", "Savage. A savage is a word. It is old."]
    )
    assert similar is not None
    assert similar.dtype == np.float32
    # Of a byte for each dimension the largest is 127.
    assert similar == pytest.approx(vectors @ queries.T, abs=1 / 127)


def test_no_documents_and_no_queries_compare_as_none(store: DocumentStore) -> None:
    queries = WordEncoder().encode(["It is old.", "Ships go."])
    for ids, asked in (([], queries), (["Zoe"], queries[:0])):
        similar = store.similarities(ids, asked)
        assert similar is not None
        assert similar.shape == (len(ids), len(asked))


def nearest(store: DocumentStore, text: str, limit: int) -> list[SentenceMatch]:
    (matches,) = store.nearest_sentences(WordEncoder().encode([text]), limit)
    return matches


def test_the_nearest_sentence_comes_first(store: DocumentStore) -> None:
    first, second = nearest(store, "Ships go.", 2)
    assert first.key == SentenceKey("The_Harbour", 2)
    assert first.similarity == pytest.approx(1, abs=ABOUT)
    # Of its two words one is shared: 1 / (sqrt(2) * sqrt(2)).
    assert second.key == SentenceKey("The_Harbour", 1)
    assert second.similarity == pytest.approx(0.5, abs=ABOUT)


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


def test_only_sentences_among_the_given_documents_are_found_and_all_of_them_are(
    store: DocumentStore,
) -> None:
    query = WordEncoder().encode(["Ships come to the harbour."])
    (everything,) = store.nearest_sentences(query, 1000)
    given = {"The_Harbour", "Savage"}
    (among,) = store.nearest_sentences(query, 1000, among=given)
    assert among == [match for match in everything if match.key.document_id in given]
    assert {match.key.document_id for match in among} == given
    (one,) = store.nearest_sentences(query, 1000, {"The_Harbour"}, given)
    assert one == [match for match in among if match.key.document_id == "Savage"]
    assert store.nearest_sentences(query, 1000, among=set()) == [[]]
    assert store.nearest_sentences(query, 1, among=given) == [among[:1]]


def test_no_more_sentences_are_found_than_asked_for_or_than_there_are(
    store: DocumentStore,
) -> None:
    assert nearest(store, "Ships go.", 0) == []
    assert len(nearest(store, "Ships go.", 5)) == 5
    everything = nearest(store, "Ships go.", 100)
    assert len({match.key for match in everything}) == len(everything) == 17
    assert all(-1 <= match.similarity <= 1 for match in everything)
    assert everything == sorted(everything, key=lambda match: -match.similarity)


@pytest.mark.parametrize("name", NAMES)
def test_of_a_name_that_many_share_the_exact_one_and_the_first_others_are_found(
    name: str, tmp_path: Path
) -> None:
    isles = [Page(f"{n:03}", f"Holm ({n})", None, "It is an isle.") for n in range(120)]
    pages = (*reversed(isles), Page("zz", "Holm", None, "It is a name."))
    found = built(name, tmp_path, pages).title_matches(["Holm"])
    assert [match.document_id for match in found] == ["zz", *(f"{n:03}" for n in range(99))]


@pytest.mark.parametrize("name", NAMES)
def test_equally_near_sentences_are_in_order_of_their_keys(name: str, tmp_path: Path) -> None:
    # The pages stand in no order, and the limit cuts through what is equally near.
    pages = tuple(
        Page(page_id, page_id, None, "Bells ring. Bells ring.") for page_id in ("c", "a", "d", "b")
    )
    matches = nearest(built(name, tmp_path, pages), "Bells ring.", 5)
    assert [match.key for match in matches] == [
        SentenceKey("a", 0),
        SentenceKey("a", 1),
        SentenceKey("b", 0),
        SentenceKey("b", 1),
        SentenceKey("c", 0),
    ]


def test_the_titles_lead_to_their_documents(store: DocumentStore) -> None:
    for page in PAGES:
        ids = ["Twin_1", "Twin_2"] if page.title == "Twin" else [page.id]
        assert documents_titled(store, page.title) == ids


def test_every_document_is_named_once(store: DocumentStore) -> None:
    named = list(store.titled())
    assert len(named) == len(dict(named)) == store.info().documents
    assert [(d.id, d.title) for d in store.documents([one for one, _ in named])] == named


def test_a_store_agrees_with_looking_at_every_document(store: DocumentStore) -> None:
    oracle = InMemoryStore(PAGES, WordEncoder())
    # Lucene counts no document without words, of which there is one among these twelve.
    about = 0.12 if isinstance(store, ElasticStore) else 0.05
    for phrases in (
        ["ships"],
        ["a"],
        ["the", "harbour"],
        ["is a", "title"],
        ["band", "film", "old"],
    ):
        expected, found = (holding(one, *phrases, limit=20) for one in (oracle, store))
        assert {m.document_id for m in found} == {m.document_id for m in expected}
        assert [m.bm25 for m in found] == pytest.approx([m.bm25 for m in expected], rel=about)
    queries = WordEncoder().encode(["Ships come to the harbour.", "A band is a film.", "Titles."])
    for expected, found in zip(
        oracle.nearest_sentences(queries, 17), store.nearest_sentences(queries, 17), strict=True
    ):
        near = {m.key: m.similarity for m in expected}
        assert [m.similarity for m in found] == pytest.approx(
            [near[m.key] for m in found], abs=ABOUT
        )


NEW = (
    Page("Savage_song", "Savage (song)", None, "Savage is a song. It is short."),
    Page("Zoe", "Zoë", None, "Zoë is a lake. Ships cross it."),
    Page("Buoy", "Buoy", None, "A buoy floats in the harbour."),
)
LEFT = (*(page for page in PAGES if page.id not in {"Zoe", "Twin_1"}), *NEW)


def change_at_once(index: Index) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    index.add(ListCorpus(NEW, content="2"), WordEncoder())
    index.remove(["Twin_1"])


def change_page_by_page(index: Index) -> None:
    index.build(ListCorpus(PAGES[:1]), WordEncoder())
    for number, page in enumerate((*PAGES[1:], *NEW)):
        index.add(ListCorpus((page,), content=f"page {number}"), WordEncoder())
        if page.id == "Twin_1":
            index.remove(["Twin_1"])


@pytest.fixture(
    scope="module",
    params=[
        marked(name, change) for name in INDEXES for change in (change_at_once, change_page_by_page)
    ],
    ids=lambda param: f"{param[0]}, {param[1].__name__}",
)
def changed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DocumentStore:
    """What an index holds that was built, added to and taken from."""
    name, change = request.param
    index = INDEXES[name](tmp_path_factory.mktemp("changed"))
    change(index)
    return index.open("words")


def test_a_changed_index_holds_what_is_left(changed: DocumentStore) -> None:
    info, expected = changed.info(), InMemoryStore(LEFT, WordEncoder()).info()
    assert (info.documents, info.sentences) == (expected.documents, expected.sentences)
    assert {document for document, _ in changed.titled()} == {page.id for page in LEFT}


def test_a_changed_index_answers_as_one_of_what_is_left_does(changed: DocumentStore) -> None:
    oracle = InMemoryStore(LEFT, WordEncoder())
    ids = [page.id for page in LEFT]
    assert changed.documents(ids) == oracle.documents(ids)
    queries = WordEncoder().encode(["Ships cross the harbour.", "It is old."])
    similar = oracle.similarities(ids, queries)
    assert changed.similarities(ids, queries) == pytest.approx(similar, abs=1 / 127)
    names = ["savage", "zoe", "twin", "buoy", "harbour light"]
    assert changed.title_matches(names) == oracle.title_matches(names)
    for phrases in (["ships"], ["a"], ["is a", "harbour"], ["given name"]):
        expected = {match.document_id for match in holding(oracle, *phrases, limit=20)}
        assert {match.document_id for match in holding(changed, *phrases, limit=20)} == expected
    # One that was there before, one that came, one in the place of another.
    some = ("The_Harbour", "Buoy", "Zoe")
    for limit, without, among in (
        (3, (), None),
        (30, (), None),
        (4, ("Zoe", "Savage"), None),
        (30, (), some),
        (2, ("Buoy",), some),
    ):
        for found, looked_at in zip(
            changed.nearest_sentences(queries, limit, without, among),
            oracle.nearest_sentences(queries, limit, without, among),
            strict=True,
        ):
            similar = [match.similarity for match in looked_at]
            assert [match.similarity for match in found] == pytest.approx(similar, abs=ABOUT)


def test_the_titles_of_a_changed_index_lead_to_what_is_left(changed: DocumentStore) -> None:
    assert documents_titled(changed, "Twin") == ["Twin_2"]
    assert documents_titled(changed, "Zoë") == ["Zoe"]
    assert documents_titled(changed, "Buoy") == ["Buoy"]


def test_the_last_of_several_pages_with_one_id_counts(index: Index) -> None:
    pages = (Page("a", "Old", None, "It is red."), *PAGES, Page("a", "New", None, "It is blue."))
    info = index.build(ListCorpus(pages), WordEncoder())
    assert (info.documents, info.superseded) == (len(PAGES) + 1, 1)
    store = index.open("words")
    assert [document.title for document in store.documents(["a"])] == ["New"]
    assert store.title_matches(["Old"]) == []
    assert holding(store, "red") == []


def test_nothing_is_removed_where_one_id_is_unknown(index: Index) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    before = index.version()
    with pytest.raises(BadSource, match="no document with the id 'Nowhere'; nothing was removed"):
        index.remove(["Zoe", "Nowhere"])
    assert index.version() == before
    assert index.open("words").info().documents == len(PAGES)


def test_there_must_be_an_index_to_open_or_to_change(index: Index) -> None:
    for change in (
        lambda: index.open("words"),
        lambda: index.add(ListCorpus(PAGES), WordEncoder()),
        lambda: index.encode(WordEncoder()),
        lambda: index.remove(["Zoe"]),
    ):
        with pytest.raises(IndexUnavailable, match="There is no index yet"):
            change()


def test_what_was_opened_stays_as_it_was_while_the_index_changes(index: Index) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    old = index.open("words")
    index.remove(["Zoe"])
    index.add(ListCorpus(NEW, content="2"), WordEncoder())
    assert [document.text[:12] for document in old.documents(["Zoe"])] == ["Zoë is a giv"]
    assert {match.document_id for match in holding(old, "café")} == {"Zoe"}
    assert old.title_matches(["buoy"]) == []


def test_adding_the_same_pages_again_changes_nothing_that_is_found(index: Index) -> None:
    before = index.build(ListCorpus(PAGES), WordEncoder())
    after = index.add(ListCorpus(PAGES), WordEncoder())
    assert (after.documents, after.sentences) == (before.documents, before.sentences)
    found = holding(index.open("words"), "ships")
    assert [match.document_id for match in found][:1] == ["The_Harbour"]


def test_every_change_has_a_version_of_its_own(index: Index) -> None:
    versions = []
    for change in (
        lambda: index.build(ListCorpus(PAGES), None),
        lambda: index.encode(WordEncoder()),
        lambda: index.add(ListCorpus(NEW, content="2"), WordEncoder()),
        lambda: index.remove(["Zoe"]),
    ):
        change()
        versions.append(index.version())
    assert len(set(versions)) == 4


def test_an_index_without_vectors_serves_until_it_has_some(index: Index) -> None:
    info = index.build(ListCorpus(PAGES), None)
    without = index.open("words")
    assert info.encoder == ""
    queries = WordEncoder().encode(["Ships go."])
    assert without.similarities(["Zoe"], queries) is None
    with pytest.raises(IndexUnavailable):
        without.similarities(["Nowhere"], queries)
    assert without.nearest_sentences(queries, 3) == [[]]
    assert titles(without, "zoe") == ["Zoë"]
    index.add(ListCorpus(NEW, content="2"), None)
    told: list[BuildProgress] = []
    assert index.encode(WordEncoder(), told.append).encoder == "words"
    # Every document was encoded, that which is no longer found may be too.
    assert told[-1].step == "encoding"
    assert told[-1].done == told[-1].of >= len(PAGES) + 2
    store = index.open("words")
    assert nearest(store, "A buoy floats in the harbour.", 1)[0].key == SentenceKey("Buoy", 0)
    assert nearest(store, "Ships go.", 1)[0].key == SentenceKey("The_Harbour", 2)


def test_vectors_of_another_encoder_are_not_mixed_in(index: Index) -> None:
    index.build(ListCorpus(PAGES), None)
    with pytest.raises(IndexUnavailable, match="has vectors of no encoder, not of words"):
        index.add(ListCorpus(NEW, content="2"), WordEncoder())
    index.encode(WordEncoder())
    with pytest.raises(IndexUnavailable, match="has vectors of words, not of none"):
        index.add(ListCorpus(NEW, content="2"), None)
    with pytest.raises(IndexUnavailable, match="has vectors of words, not of sentences"):
        index.open("sentences")


def test_a_source_without_pages_leaves_the_index_that_stood_before(index: Index) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    before = index.version()
    with pytest.raises(BadSource, match="holds no page"):
        index.build(ListCorpus(()), WordEncoder())
    assert index.version() == before


def test_an_index_that_is_not_there_lacks_and_cannot_be_verified(index: Index) -> None:
    assert index.needs_build("list") == "missing"
    assert index.unfinished() == []
    assert index.prune() == []
    with pytest.raises(IndexUnavailable):
        index.verify()
    with pytest.raises(IndexUnavailable):
        index.bad_pages()


def test_an_index_that_was_built_is_whole_and_has_nothing_left_over(index: Index) -> None:
    index.build(ListCorpus(), WordEncoder())
    index.verify()
    assert index.needs_build("list") is None
    assert index.needs_build("another source") is None
    assert index.bad_pages() == BadPages("", "")
    assert index.unfinished() == []
    assert index.prune() == []
    assert index.open(None).info().documents == len(PAGES)


def a_report(*passages: str, title: str = "Yearly report") -> tuple[Page, ...]:
    """A long document whose passages are a page each, below one heading each."""
    return tuple(
        Page(
            f"report.pdf#{number}",
            title,
            f"https://example.org/report.pdf#page={number}",
            text,
            passage=Passage("report.pdf", number, ("Results", f"Part {number}"), number),
        )
        for number, text in enumerate(passages, 1)
    )


def test_a_passage_says_where_it_stands_in_its_document(index: Index) -> None:
    info = index.build(ListCorpus(a_report("Rain fell.", "Wind blew.")), WordEncoder())
    assert (info.documents, info.passages) == (1, 2)
    store = index.open(WordEncoder.name)
    (second,) = store.documents(["report.pdf#2"])
    assert (second.title, second.section, second.page) == ("Yearly report", "Results > Part 2", 2)
    assert second.url == "https://example.org/report.pdf#page=2"


def test_a_title_finds_only_the_first_passage_of_a_document(index: Index) -> None:
    index.build(ListCorpus(a_report("Rain fell.", "Wind blew.")), WordEncoder())
    store = index.open(WordEncoder.name)
    assert [m.document_id for m in store.title_matches(["yearly report"])] == ["report.pdf#1"]
    assert list(store.titled()) == [("report.pdf#1", "Yearly report")]
    found = store.phrase_matches([PhraseSearch(("wind",), 5)])
    assert [match.document_id for match in found[0]] == ["report.pdf#2"]


def test_a_document_is_found_by_the_titles_of_redirects(index: Index) -> None:
    pages = (
        Page("uk", "United Kingdom", None, "An island.", other_titles=("Britain", "GB (country)")),
        Page("gb", "GB", None, "Two letters."),
    )
    index.build(ListCorpus(pages), WordEncoder())
    store = index.open(WordEncoder.name)
    matches = store.title_matches(["britain", "gb"])
    assert [(m.document_id, m.title, m.disambiguation) for m in matches] == [
        ("uk", "Britain", None),
        ("gb", "GB", None),
        ("uk", "GB (country)", "country"),
    ]
    assert documents_titled(store, "Britain") == ["uk"]


def test_a_long_document_is_replaced_and_removed_with_all_its_passages(index: Index) -> None:
    other = Page("note.txt", "Note", None, "Snow fell.")
    long = a_report("Rain fell.", "Wind blew.", "Sun shone.")
    index.build(ListCorpus((*long, other)), WordEncoder())
    info = index.add(ListCorpus(a_report("Hail fell.", "Fog came."), content="2"), WordEncoder())
    assert (info.documents, info.passages) == (2, 3)
    with pytest.raises(IndexUnavailable):
        index.open(None).documents(["report.pdf#3"])
    short = Page("report.pdf", "Yearly report", None, "It was short.")
    info = index.add(ListCorpus((short,), content="3"), WordEncoder())
    assert (info.documents, info.passages) == (2, 2)
    index.add(ListCorpus(a_report("Hail fell.", "Fog came."), content="4"), WordEncoder())
    info = index.remove(["report.pdf"])
    assert (info.documents, info.passages) == (1, 1)
    assert list(index.open(None).titled()) == [("note.txt", "Note")]


def test_a_build_of_a_newer_source_has_just_its_documents(index: Index) -> None:
    same = Page("same", "Same", None, "It stays as it was.", other_titles=("Equal",))
    older = (
        same,
        Page("changed", "Changed", None, "Old words."),
        Page("gone", "Gone", None, "Was."),
    )
    newer = (
        Page("new", "New", None, "Fresh."),
        Page("changed", "Changed", None, "New words."),
        same,
    )
    index.build(ListCorpus((*older, *a_report("Rain fell.", "Wind blew."))), WordEncoder())
    later = (*newer, *a_report("Rain fell.", "Fog came.", "Sun shone."))
    info = index.build(ListCorpus(later, content="2"), WordEncoder())
    assert (info.documents, info.passages) == (4, 6)
    store = index.open(WordEncoder.name)
    assert sorted(store.titled()) == [
        ("changed", "Changed"),
        ("new", "New"),
        ("report.pdf#1", "Yearly report"),
        ("same", "Equal"),
        ("same", "Same"),
    ]
    asked = ["changed", "same", "new", "report.pdf#1", "report.pdf#2", "report.pdf#3"]
    texts = [document.text for document in store.documents(asked)]
    assert texts == [
        "New words.", "It stays as it was.", "Fresh.", "Rain fell.", "Fog came.", "Sun shone.",
    ]  # fmt: skip
    for wanted, query in (("changed", "New words."), ("same", "It stays as it was.")):
        (near,) = store.nearest_sentences(WordEncoder().encode([query]), 1)
        assert near[0].key.document_id == wanted
    found = store.phrase_matches([PhraseSearch(("old", "was", "words"), 9)])[0]
    assert {match.document_id for match in found} == {"changed", "same"}


def test_of_pages_with_one_id_a_newer_build_uses_the_last_one_too(index: Index) -> None:
    first = Page("a", "A", None, "Red words.")
    second = Page("a", "A", None, "Blue words.")
    index.build(ListCorpus((first,)), WordEncoder())
    index.build(ListCorpus((second, first), content="2"), WordEncoder())
    assert [d.text for d in index.open(None).documents(["a"])] == ["Red words."]
    index.build(ListCorpus((first, second), content="3"), WordEncoder())
    assert [d.text for d in index.open(None).documents(["a"])] == ["Blue words."]
