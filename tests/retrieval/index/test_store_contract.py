"""What every index must do, whatever holds the documents: found, built and changed."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page, Passage
from retrieval.corpora.records import USUAL, JsonlCorpus
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.errors import IndexNotBuilt
from retrieval.index.interface import BadPages, BuildProgress, DocumentStore, Index
from retrieval.index.open import IndexLocation, open_index
from retrieval.index.together import Part, TogetherStore
from retrieval.models.encoders import EncodableDocument
from retrieval.types import PhraseSearch, SentenceKey, SentenceMatch
from tests.retrieval.index.build_many import start_build
from tests.retrieval.index.elastic.node import store_url
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES, ListCorpus, documents_titled, holding, many
from tests.support.cases import rules
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines


def on_server(version: str) -> Callable[[Path], IndexLocation]:
    """A name of its own on the server that the tests share."""
    return lambda _: ElasticLocation.read(store_url(f"contract-{uuid.uuid4().hex}", version))


LOCATIONS: dict[str, Callable[[Path], IndexLocation]] = {
    "embedded": lambda folder: folder / "index",
    "elasticsearch": on_server("9.5"),
    "elasticsearch 8": on_server("8.19"),
}


def marked(name: str, *more: Any) -> Any:
    """A parameter, marked if it begins with the name of what needs a server."""
    marks = [pytest.mark.elasticsearch] if name.startswith(("elastic", "haystack")) else []
    marks += [pytest.mark.rare] if name == "elasticsearch 8" else []
    return pytest.param(name, *more, marks=marks)


NAMES = [marked(name) for name in LOCATIONS]
# How far an estimate by the bits of 384 dimensions may lie beside the inner product.
ABOUT = 0.15


def index_of(name: str, folder: Path, processes: int = 1) -> Index:
    """An index that is not there yet."""
    return open_index(LOCATIONS[name](folder), folder, processes)


def built(name: str, folder: Path, pages: tuple[Page, ...] = PAGES) -> DocumentStore:
    """A store of the pages; what looks at every page is taken for one by other tests."""
    if name == "in memory":
        return InMemoryStore(pages, WordEncoder())
    if name == "haystack":
        from tests.retrieval.index.test_haystack_store import haystack_store  # imports Haystack

        return haystack_store(pages, embedded=True)
    if name == "together":
        return TogetherStore([Part("list", "The list", "", built("embedded", folder, pages))])
    index = index_of(name, folder)
    index.build(ListCorpus(pages), WordEncoder())
    return index.open(WordEncoder.name)


@pytest.fixture(
    scope="module", params=["in memory", *NAMES, "together", marked("haystack")], name="named_store"
)
def built_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, DocumentStore]:
    return request.param, built(request.param, tmp_path_factory.mktemp("store"))


@pytest.fixture
def store(named_store: tuple[str, DocumentStore]) -> DocumentStore:
    return named_store[1]


@pytest.fixture(params=NAMES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return index_of(request.param, tmp_path)


def titles(store: DocumentStore, *names: str) -> list[str]:
    return [match.title for match in store.title_matches(names)]


def ids(matches: Sequence[Any]) -> list[str]:
    return [match.document_id for match in matches]


@rules(
    ("stores", "names", "titles", lambda store, names: titles(store, *names)),
    ("stores", "phrases", "ids", lambda store, phrases: ids(holding(store, *phrases))),
    # Words near one that is not there come with the number of their texts.
    ("stores", "word edits", "near", lambda store, word, edits: store.near_words(word, edits)),
)
def test_documents_are_found(store: DocumentStore, rule: Any, given: Any, expected: Any) -> None:
    assert rule(store, *given) == expected


def test_searches_have_their_own_answers(named_store: tuple[str, DocumentStore]) -> None:
    name, store = named_store
    if name == "haystack":  # its analyzer ignores only case
        assert (ids(holding(store, "CAFÉ")), holding(store, "cafe")) == (["Zoe"], [])
    else:
        assert ids(holding(store, "CAFE")) == ["Zoe"]
        assert store.near_words("CAFÉS", 1) == {"cafe": 1}
    asked = {("ships",): [1], (): [10], ("owners", "harbour light"): [10], ("a",): [3, 0]}
    searches = [PhraseSearch(phrases, n) for phrases, limits in asked.items() for n in limits]
    first, none, others, three, nothing = map(ids, store.phrase_matches(searches))
    assert (first, none, set(others)) == (["The_Harbour"], [], {"Harbour_light", "Zoe"})
    assert (len(three), nothing) == (3, [])
    assert store.phrase_matches([]) == []
    for name in ('*?:()"\\', "", "  ", "🚢", "a" * 5000, "\x00"):
        assert store.title_matches([name]) == []
        assert holding(store, name) == []
    with pytest.raises(IndexUnavailable):
        store.documents(["Savage", "Nowhere"])
    with pytest.raises(IndexUnavailable):
        store.similarities(["Nowhere"], WordEncoder().encode(["Ships go."]))


def nearest(store: DocumentStore, text: str, limit: int) -> list[SentenceMatch]:
    (matches,) = store.nearest_sentences(WordEncoder().encode([text]), limit)
    return matches


@pytest.mark.parametrize("name", [*NAMES, marked("haystack")])
def test_of_what_is_equally_good_the_first_is_found(name: str, tmp_path: Path) -> None:
    isles = [Page(f"{n:03}", f"Holm ({n})", None, "It is an isle.") for n in range(120)]
    pages = (*reversed(isles), Page("zz", "Holm", None, "It is a name."))
    found = built(name, tmp_path / "isles", pages).title_matches(["Holm"])
    assert [match.document_id for match in found] == ["zz", *(f"{n:03}" for n in range(99))]
    if name == "haystack":
        return
    # The pages stand in no order, and the limit cuts through what is equally near.
    pages = tuple(Page(one, one, None, "Bells ring. Bells ring.") for one in "cadb")
    matches = nearest(built(name, tmp_path / "bells", pages), "Bells ring.", 5)
    keys = [(match.key.document_id, match.key.sentence_id) for match in matches]
    assert keys == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0)]


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
    index.build(ListCorpus(PAGES[:6]), WordEncoder())
    for number, page in enumerate((*PAGES[6:], *NEW)):
        index.add(ListCorpus((page,), content=f"page {number}"), WordEncoder())
        if page.id == "Twin_1":
            index.remove(["Twin_1"])


@pytest.mark.parametrize(
    ("name", "change"),
    [("embedded", change_page_by_page), *(marked(name, change_at_once) for name in LOCATIONS)],
)
def test_a_changed_index_has_what_is_left(name: str, change: Any, tmp_path: Path) -> None:
    index = index_of(name, tmp_path)
    change(index)
    agrees(name, index.open("words"), LEFT)


def test_it_answers_as_one_that_looks_at_all(named_store: tuple[str, DocumentStore]) -> None:
    agrees(*named_store, PAGES)


def agrees(name: str, store: DocumentStore, pages: tuple[Page, ...]) -> None:
    """Compare the answers of a store of these pages with those of one that looks at each."""
    oracle = InMemoryStore(pages, WordEncoder())
    info, expected = store.info(), oracle.info()
    assert (info.documents, info.encoder) == (expected.documents, "words")
    # Haystack does not count them.
    assert info.sentences == (0 if name == "haystack" else expected.sentences)
    every = [page.id for page in reversed(pages)]
    documents = store.documents(every)
    if name == "together":  # which says of each what it is credited to
        documents = [replace(one, source=None) for one in documents]
    assert documents == oracle.documents(every)
    assert sorted(store.titled()) == sorted(oracle.titled())
    for page in pages:
        found = documents_titled(store, page.title)
        assert sorted(found) == sorted(one.id for one in pages if one.title == page.title)
    asked = ["savage", "zoe", "twin", "buoy", "harbour light"]
    assert store.title_matches(asked) == oracle.title_matches(asked)
    # Lucene counts no document without words, of which there is one.
    about = 0.15 if name.startswith(("elastic", "haystack")) else 0.05
    for phrases in (["ships"], ["a"], ["the", "harbour"], ["is a", "title"], ["band", "film"]):
        matches, others = (holding(one, *phrases, limit=20) for one in (store, oracle))
        assert set(ids(matches)) == set(ids(others))
        if pages == PAGES:  # a changed index may count documents that are no longer found
            scores = {match.document_id: match.bm25 for match in others}
            wanted = [scores[match.document_id] for match in matches]
            assert [match.bm25 for match in matches] == pytest.approx(wanted, rel=about)
    queries = WordEncoder().encode(["Ships cross the harbour.", "It is old.", "Savage Twin"])
    similar = store.similarities(every, queries)
    # Of a byte for each dimension the largest is 127.
    assert similar == pytest.approx(oracle.similarities(every, queries), abs=1 / 127)
    # One that was there before, one that may have come in the place of another.
    some = ("The_Harbour", "Savage", "Zoe")
    for limit, without, among in (
        *((3, (), None), (30, (), None), (4, ("Zoe", "Savage"), None), (30, ("Zoe",), some)),
        *((2, ("The_Harbour",), some), (1, (), some), (3, (), ()), (0, (), None)),
    ):
        for near, looked_at in zip(
            store.nearest_sentences(queries, limit, without, among),
            oracle.nearest_sentences(queries, limit, without, among),
            strict=True,
        ):
            similarities = [match.similarity for match in looked_at]
            assert [match.similarity for match in near] == pytest.approx(similarities, abs=ABOUT)
            in_them = {match.key.document_id for match in near}
            assert in_them.isdisjoint(without)
            assert among is None or in_them <= set(among)
    assert store.nearest_sentences(queries[:0], 5) == []
    for ids_asked, asked in (([], queries), (["Savage"], queries[:0])):
        nothing = store.similarities(ids_asked, asked)
        assert nothing.shape == (len(ids_asked), len(asked))


def test_what_was_opened_stays_as_it_was_while_the_index_changes(index: Index) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    old, versions = index.open("words"), {index.version()}
    index.remove(["Zoe"])
    versions.add(index.version())
    index.add(ListCorpus(NEW, content="2"), WordEncoder())
    assert len({*versions, index.version()}) == 3
    assert [document.text[:12] for document in old.documents(["Zoe"])] == ["Zoë is a giv"]
    assert {match.document_id for match in holding(old, "café")} == {"Zoe"}
    assert old.title_matches(["buoy"]) == []


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
    with pytest.raises(IndexUnavailable, match="has vectors of no encoder, not of words"):
        index.add(ListCorpus(NEW, content="2"), WordEncoder())
    index.add(ListCorpus(NEW, content="2"), None)
    told: list[BuildProgress] = []
    assert index.encode(WordEncoder(), told.append).encoder == "words"
    # Every document was encoded, that which is no longer found may be too.
    assert told[-1].step == "encoding"
    assert told[-1].done == told[-1].of >= len(PAGES) + 2
    store = index.open("words")
    assert nearest(store, "A buoy floats in the harbour.", 1)[0].key == SentenceKey("Buoy", 0)
    assert nearest(store, "Ships go.", 1)[0].key == SentenceKey("The_Harbour", 2)


def test_an_index_that_is_not_there_is_lacked_and_others_stay(index: Index) -> None:
    assert index.needs_build("list") == "missing"
    assert (index.unfinished(), index.prune()) == ([], [])
    changes = [lambda: index.add(ListCorpus(PAGES), WordEncoder()), lambda: index.remove(["Zoe"])]
    opening = [lambda: index.open("words"), lambda: index.encode(WordEncoder())]
    for use in (index.verify, index.bad_pages, *opening, *changes):
        with pytest.raises(IndexUnavailable, match="There is no index yet"):
            use()
    index.build(ListCorpus(), WordEncoder())
    index.verify()
    assert index.needs_build("list") is index.needs_build("another source") is None
    assert index.bad_pages() == BadPages("", "")
    assert (index.unfinished(), index.prune()) == ([], [])
    before = index.version()
    with pytest.raises(BadSource, match="holds no page"):
        index.build(ListCorpus(()), WordEncoder())
    with pytest.raises(BadSource, match="no document with the id 'Nowhere'; nothing was removed"):
        index.remove(["Zoe", "Nowhere"])
    # Vectors of another encoder are not mixed in.
    with pytest.raises(IndexUnavailable, match="has vectors of words, not of none"):
        index.add(ListCorpus(NEW, content="2"), None)
    with pytest.raises(IndexUnavailable, match="has vectors of words, not of sentences"):
        index.open("sentences")
    assert index.version() == before
    assert index.open(None).info().documents == len(PAGES)


def test_a_document_keeps_the_day_of_its_text_until_it_has_another(index: Index) -> None:
    mail = Page("mail", "Lamp", None, "It is red.", date="2024-03-03")
    index.build(ListCorpus((*PAGES, mail)), WordEncoder())
    documents = index.open(WordEncoder.name).documents(["mail", "Zoe"])
    assert [one.date for one in documents] == ["2024-03-03", None]
    later = replace(mail, date="2024-03-05")
    index.add(ListCorpus((later,), content="2"), WordEncoder())
    assert index.open(WordEncoder.name).documents(["mail"])[0].date == "2024-03-05"


def a_report(*passages: str, title: str = "Yearly report") -> tuple[Page, ...]:
    """A long document whose passages are a page each, below one heading each."""
    pages = []
    for number, text in enumerate(passages, 1):
        place = Passage("report.pdf", number, ("Results", f"Part {number}"), number)
        url = f"https://example.org/report.pdf#page={number}"
        pages.append(Page(f"report.pdf#{number}", title, url, text, passage=place))
    return tuple(pages)


def test_a_long_document_is_found_replaced_and_removed_with_all_its_passages(index: Index) -> None:
    other = Page("uk", "United Kingdom", None, "Wet.", other_titles=("Britain", "GB (country)"))
    pages = (*a_report("Rain fell.", "Wind blew.", "Sun shone."), other)
    info = index.build(ListCorpus((*pages, Page("gb", "GB", None, "Two letters."))), WordEncoder())
    assert (info.documents, info.passages) == (3, 5)
    store = index.open(WordEncoder.name)
    # A passage says where it stands; titles find the first, and redirects their document.
    (second,) = store.documents(["report.pdf#2"])
    assert (second.title, second.section, second.page) == ("Yearly report", "Results > Part 2", 2)
    assert second.url == "https://example.org/report.pdf#page=2"
    assert ids(holding(store, "wind")) == ["report.pdf#2"]
    matches = store.title_matches(["yearly report", "britain", "gb"])
    assert [(m.document_id, m.title, m.disambiguation) for m in matches] == [
        *(("report.pdf#1", "Yearly report", None), ("uk", "Britain", None)),
        *(("gb", "GB", None), ("uk", "GB (country)", "country")),
    ]
    assert documents_titled(store, "Britain") == ["uk"]
    assert "report.pdf#2" not in dict(store.titled())
    index.remove(["gb"])
    two, short = a_report("Hail fell.", "Fog came."), Page("report.pdf", "Report", None, "Short.")
    for content, pages, passages in (("2", two, 3), ("3", (short,), 2), ("4", two, 3)):
        info = index.add(ListCorpus(pages, content=content), WordEncoder())
        assert (info.documents, info.passages) == (2, passages)
        with pytest.raises(IndexUnavailable):
            index.open(None).documents(["report.pdf#3"])
    info = index.remove(["report.pdf"])
    assert (info.documents, info.passages) == (1, 1)
    names = [*other.other_titles, other.title]
    assert sorted(index.open(None).titled()) == sorted(("uk", name) for name in names)


class NotingEncoder(WordEncoder):
    """Notes the texts of the documents that it encodes."""

    def __init__(self, name: str = "words") -> None:
        self.name, self.texts = name, list[str]()

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        self.texts += [document.text for document in documents]
        return super().encode_documents(documents)


def encoded(index: Index, pages: Sequence[Page], name: str = "words", **corpus: Any) -> list[str]:
    """Build an index of the pages; return the texts that were encoded."""
    encoder = NotingEncoder(name)
    index.build(ListCorpus(tuple(pages), content=uuid.uuid4().hex, **corpus), encoder)
    return encoder.texts


OLDER = (*PAGES, *a_report("Rain fell.", "Wind blew.", "Sun shone."))
NEWER = (
    *(page for page in PAGES if page.id not in {"Zoe", "Twin_1"}),
    Page("Zoe", "Zoë", None, "Zoë is a lake.", other_titles=("Lake Zoë",)),
    Page("Buoy", "Buoy", None, "A buoy floats."),
    *a_report("Rain fell.", "Fog came."),
)


def contents(index: Index) -> list[object]:
    """Verify an index, and return what it contains but for what differs between two builds."""
    index.verify()
    store = index.open(None)
    info = replace(store.info(), bytes=0, built_at="", checksum="")
    return [info, sorted(store.titled()), store.documents([page.id for page in NEWER])]


@pytest.mark.parametrize("name", NAMES)
def test_a_newer_build_encodes_new_documents_alone(name: str, tmp_path: Path) -> None:
    index, fresh = index_of(name, tmp_path / "updated"), index_of(name, tmp_path / "fresh")
    encoded(index, OLDER)
    assert encoded(index, NEWER) == ["Zoë is a lake.", "A buoy floats.", "Fog came."]
    encoded(fresh, NEWER)
    assert contents(index) == contents(fresh)
    for gone in ("Twin_1", "report.pdf#3"):
        with pytest.raises(IndexUnavailable):
            index.open(None).documents([gone])
    found = index.open(None).phrase_matches([PhraseSearch(("café", "lake", "fog"), 9)])[0]
    assert set(ids(found)) == {"Zoe", "report.pdf#2"}
    query = WordEncoder().encode(["A film is long."])
    for limit in (1, 20):
        near, expected = (one.open(None).nearest_sentences(query, limit) for one in (index, fresh))
        assert near == expected


BASE = Page("p", "Pear", "https://example.org/p", "Pears are green.", other_titles=("Pears",))
SPLIT = Page("s", "Sea", None, "", sentences=("The sea is deep.", "It is salt."), links=((), ()))
PART, OTHER = (
    Page(f"{name}#1", "Report", None, "Rain fell.", passage=Passage(name, 1, ("Results",), 1))
    for name in ("part", "other")
)
CHANGES: list[tuple[Page, dict[str, Any]]] = [
    (BASE, {"text": "Pears are sweet."}),
    (BASE, {"title": "Pears"}),
    (BASE, {"url": "https://example.org/pear"}),
    (BASE, {"other_titles": ()}),
    (SPLIT, {"sentences": ("The sea is deep. It is salt.",), "links": ()}),
    (SPLIT, {"links": ((), ("Salt",))}),
    (PART, {"passage": Passage("part", 1, ("Summary",), 1)}),
    (OTHER, {"passage": Passage("other", 1, ("Results",), 2)}),
]


def test_a_document_of_which_anything_changed_is_made_again(index: Index) -> None:
    older = [replace(page, id=str(number)) for number, (page, _) in enumerate(CHANGES)]
    newer = [replace(page, **change) for page, (_, change) in zip(older, CHANGES, strict=True)]
    same = [BASE, SPLIT, a_report("Rain fell.")[0]]
    encoded(index, [*older, *same])
    assert len(encoded(index, [*newer, *same])) == len(CHANGES)
    assert encoded(index, [*newer, *same]) == []


def test_of_several_pages_with_one_id_the_last_is_used(index: Index) -> None:
    first, second = Page("a", "Old", None, "Red words."), Page("a", "New", None, "Blue words.")
    info = index.build(ListCorpus((first, *PAGES, second)), WordEncoder())
    assert (info.documents, info.superseded) == (len(PAGES) + 1, 1)
    assert titles(index.open(None), "Old") == []
    encoded(index, [first, *PAGES])
    for pages in ([second, first, *PAGES], [first, second, *PAGES]):
        # The index has the first one.
        assert encoded(index, pages) == ["Blue words."]
        assert [d.text for d in index.open(None).documents(["a"])] == [pages[1].text]


def test_only_a_build_of_the_same_kind_of_source_takes_documents_over(index: Index) -> None:
    assert len(encoded(index, PAGES, source="jsonl:a")) == len(PAGES)
    assert encoded(index, PAGES, source="jsonl:b") == []
    assert len(encoded(index, PAGES, source="folder:b")) == len(PAGES)
    assert len(encoded(index, PAGES, "other words", source="folder:c")) == len(PAGES)
    # What was changed or encoded later is taken over too.
    index.build(ListCorpus(PAGES[:3]), None)
    assert index.build(ListCorpus(PAGES[:4], content="2"), None).documents == 4
    index.encode(WordEncoder())
    index.add(ListCorpus(PAGES[4:6], content="3"), WordEncoder())
    assert encoded(index, PAGES[:7]) == [PAGES[6].text]
    index.verify()


def test_a_build_tells_what_it_reads_and_is_alone(index: Index, tmp_path: Path) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    served, seen = index.version(), list[BuildProgress]()

    class Watching(ListCorpus):
        def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
            for change in (index.prune, lambda: index.remove(["Zoe"])):
                with pytest.raises(IndexNotBuilt, match=r"Another build|by another process"):
                    change()
            assert index.version() == served
            assert index.unfinished() == []  # somebody is going on with it
            yield from super().chunks()

    index.build(Watching(NEWER, content="2"), WordEncoder(), seen.append)
    count = len(NEWER)
    begun, ended = (BuildProgress("reading", done, count, done) for done in (0, count))
    assert seen[:2] == [begun, ended]
    assert index.version() != served
    # Pages that could not be read are named in the list of all.
    buoy = {"id": "buoy", "title": "Buoy", "text": "A buoy floats."}
    path = write_json_lines(tmp_path / "pages.jsonl", buoy, "nonsense", "[]")
    info = index.build(JsonlCorpus(path, USUAL), None)
    bad = index.bad_pages()
    assert (info.documents, info.bad_pages) == (1, 2)
    assert "line 2: not JSON" in bad.first
    assert len(Path(bad.listed_in).read_text().splitlines()) == 2


@pytest.mark.server
@pytest.mark.parametrize(
    ("name", "moments"),
    [
        marked("embedded", ("reading 256", "encoding 0", "encoding 1024")),
        marked("elasticsearch", ("reading 768", "reading 1400")),
    ],
)
def test_a_build_that_is_killed_again_and_again_goes_on_and_ends_the_same(
    name: str, moments: tuple[str, ...], tmp_path: Path
) -> None:
    undisturbed = index_of(name, tmp_path / "undisturbed").build(many(), WordEncoder())
    location = LOCATIONS[name](tmp_path)
    index = open_index(location, tmp_path)
    before = index.build(ListCorpus(PAGES), WordEncoder())
    said: list[str] = []
    for moment in moments:
        with start_build(location, tmp_path) as process:
            said = [process.stdout.readline()]
            while said[-1] != moment + "\n":
                said.append(process.stdout.readline())
            process.kill()
        assert index.open("words").info() == before
        (begun,) = index.unfinished()
        assert "a build of many" in begun
    if name == "embedded":  # what was read once is not read again
        assert said == ["encoding 0\n", "encoding 512\n", "encoding 1024\n"]
    resumed = index.build(many(), WordEncoder())
    assert (resumed.documents, resumed.checksum) == (undisturbed.documents, undisturbed.checksum)
    assert (resumed.superseded, index.unfinished()) == (0, [])
    index.verify()
