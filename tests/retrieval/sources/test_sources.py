"""Sources: how they are named, wikis and files of Kiwix, and claims that are checked in them."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from lxml import html

from retrieval.corpora.folder.tree import words
from retrieval.errors import BadSource
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import OwnCorpus, Retriever
from retrieval.result import ClaimResult, claim_result
from retrieval.sources.address import SourceAddress, given_source, read_sources
from retrieval.sources.interface import SourceAway
from retrieval.sources.kept import KeptArticles
from retrieval.sources.mediawiki import AT_ONCE, MediaWiki
from retrieval.sources.opening import Sources
from retrieval.types import SUPPORTS
from tests.retrieval.corpora.zim_files import Entry, write_zim
from tests.retrieval.sources.fault_proxy import FAULTS, FaultProxy, answers, fault_proxy
from tests.support.cases import cases, rows

LIT = "Skerrow Light was first lit in 1871."
SOLD = "Skerrow Light was sold to Tom Berg in 1960."


# --- addresses


def test_an_address_says_where_a_source_is_or_is_refused() -> None:
    for why, (written,), place in rows("source_addresses", ["written"], "place"):
        assert SourceAddress.read(written).place == place, why
    for _, (written,), refused in rows("source_addresses", ["written"], "refused"):
        with pytest.raises(ValueError, match=refused):
            SourceAddress.read(written)


def test_a_setting_names_several_sources_and_a_wiki_may_have_a_day(tmp_path: Path) -> None:
    file = tmp_path / "small wiki.zim"
    file.touch()
    found = read_sources(f"wikipedia=mediawiki:en 'small=zim-search:{file}'")
    assert list(found) == ["wikipedia", "small"]
    assert (found["wikipedia"].title, found["small"].title) == ("Wikipedia", "small wiki")
    assert found["wikipedia"].sent == "Words and names of the claim are sent to en.wikipedia.org."
    assert found["small"].sent == ""
    for wrong in ("mediawiki:en", "a=mediawiki:en a=mediawiki:de", "default=mediawiki:en", "'a"):
        with pytest.raises(ValueError, match="cannot be used"):
            read_sources(wrong)
    older = given_source("wikipedia@2024-05-01", found)
    assert (older.before, older.title) == ("2024-05-01", "Wikipedia before 2024-05-01")
    assert given_source("papers", found) is None
    for wrong, why in (("wikipedia@2024-13-01", "is no day"), ("small@2024-05-01", "of one day")):
        with pytest.raises(ValueError, match=why):
            given_source(wrong, found)


# --- claims checked with the real models: what stands in bodies, boxes and tables


def over(index: Path, unpacked: Path, home: Path, *addresses: SourceAddress) -> Retriever:
    """Return a retriever over the islands of all tests and these sources."""
    by_name = {one.name: one for one in addresses}
    return Retriever(
        *(index, home, 2, ModelFolders(unpacked)),
        own_corpus=lambda name: OwnCorpus(name, by_name[name].title, by_name[name]),
        sources=Sources(home),
    )


def check(retriever: Retriever, claim: str, *corpora: str) -> ClaimResult:
    return claim_result(retriever.check(claim, "combined", lambda _: None, corpora))


@pytest.fixture(scope="module")
def in_wiki(
    wiki_address: str, index: Path, unpacked: Path, tmp_path_factory: pytest.TempPathFactory
) -> Retriever:
    wiki = SourceAddress.read(f"mediawiki:{wiki_address}", "wiki")
    return over(index, unpacked, tmp_path_factory.mktemp("home"), wiki)


@pytest.mark.models
@pytest.mark.server
@cases("source_claims", "claim", "label", "section")
def test_what_stands_deep_decides(in_wiki: Retriever, claim: str, label: str, section: Any) -> None:
    result = check(in_wiki, claim, "wiki")
    assert result.verdict.label == label
    best = result.selected[0]
    assert best.section == section
    assert best.date == "2024-11-12"
    assert result.credits[best.document] == "Test wiki, revision of 12 November 2024"
    with urlopen(best.url) as page:  # where the evidence can be read for good
        shown = words(html.document_fromstring(unescape(page.read().decode())))
    said = best.sentence if section != "Population" else "4,807"
    assert said.removesuffix(".").split(": ")[-1] in shown


@pytest.mark.models
@pytest.mark.server
def test_a_source_and_the_index_are_searched_as_one_also_without_the_network(
    proxy: FaultProxy, index: Path, unpacked: Path, tmp_path: Path
) -> None:
    wiki = SourceAddress.read(f"mediawiki:{proxy.address}", "wiki")
    joined = over(index, unpacked, tmp_path, wiki)
    both = check(joined, SOLD, "default", "wiki")
    assert both.verdict.label == SUPPORTS
    assert {one.id.partition(":")[0] for one in both.documents} >= {"wiki", "Skerrow_Light"}
    assert [part.kind for part in both.corpus.parts] == ["mediawiki", "index"]
    assert len(proxy.asked) <= 8  # with the one that asks the wiki about itself

    proxy.always = FAULTS["cut"]
    again = check(over(index, unpacked, tmp_path, wiki), SOLD, "default", "wiki")
    assert again.verdict.label == SUPPORTS  # from what was kept
    (notice,) = (one for one in again.notices if "could not be searched" in one)
    assert notice.endswith("Its articles that are stored here were read.")

    elsewhere = tmp_path / "new"
    alone = check(over(index, unpacked, elsewhere, wiki), LIT, "default", "wiki")
    assert alone.verdict.label == SUPPORTS
    assert any("could not be searched" in one for one in alone.notices)


LIGHT = (
    "<html><head><title>Skerrow Light</title></head><body><h1>Skerrow Light</h1>"
    '<table class="infobox"><tr><th>Height</th><td>41 metres</td></tr>'
    "<tr><th>Keeper</th><td>Ann Lee</td></tr></table>"
    '<p>Skerrow Light is a lighthouse on <a href="Skerrow">the island</a>.</p>'
    '<div class="hatnote">For the ferry see there.</div>'
    "<h2>Sale</h2><p>In 1960 the tower was sold to Tom Berg for 900 pounds.</p></body></html>"
)
SKERROW = "<html><body><h1>Skerrow</h1><p>Skerrow is an island. It has few sheep.</p></body></html>"


def zim(folder: Path, *, text_index: bool) -> Path:
    pages = {"Skerrow Light": LIGHT, "Skerrow": SKERROW}
    entries = [Entry(title.replace(" ", "_"), title, page) for title, page in pages.items()]
    redirects = [("The_Light", "The Light", "Skerrow_Light")]
    return write_zim(folder / "islands.zim", entries, redirects, text_index=text_index)


@pytest.mark.models
@pytest.mark.server
def test_files_of_kiwix_are_searched_as_they_are(unpacked: Path, tmp_path: Path) -> None:
    path = zim(tmp_path, text_index=True)
    file = SourceAddress.read(f"zim-search:{path}", "file")
    source = Sources(tmp_path).open(file)
    found = source.search(["the Light", "The Light", "Skerrow", "None"], "tower sold Berg", 4)
    assert found.named == dict.fromkeys(("the Light", "The Light"), "Skerrow_Light") | {
        "Skerrow": "Skerrow"
    }
    assert found.by_words == ("Skerrow_Light",)
    (light,) = source.articles(["Skerrow_Light", "None"])
    assert [block.text for block in light.blocks] == [
        "Skerrow Light is a lighthouse on the island.",
        *("Height: 41 metres.", "Keeper: Ann Lee."),
        "In 1960 the tower was sold to Tom Berg for 900 pounds.",
    ]
    assert light.links == {"the island": "Skerrow"}
    assert light.url == "https://en.wikipedia.org/wiki/Skerrow_Light"
    assert light.credit == "Wikipedia, file of 27 October 2025"
    assert source.about().notice == ""

    by_title = replace(file, name="titles", place=str(tmp_path / "titles" / "islands.zim"))
    (tmp_path / "titles").mkdir()
    zim(tmp_path / "titles", text_index=False)
    cut = tmp_path / "cut.zim"
    cut.write_bytes(path.read_bytes()[:2000])
    gone = replace(file, name="cut", place=str(cut))
    # There is no index: a file alone needs none.
    retriever = over(tmp_path / "none", unpacked, tmp_path, file, by_title, gone)
    result = check(retriever, SOLD, "file")
    assert result.verdict.label == SUPPORTS
    assert result.selected[0].section == "Sale"
    assert result.notices == ()
    (notice,) = check(retriever, SOLD, "titles").notices
    assert "found by their titles alone" in notice
    both = check(retriever, SOLD, "titles", "file")
    assert both.verdict.label == SUPPORTS
    assert [part.name for part in both.corpus.parts] == ["titles", "file"]
    beside = check(retriever, SOLD, "cut", "file")
    assert beside.verdict.label == SUPPORTS
    assert any("cut.zim is damaged" in one for one in beside.notices)
    with pytest.raises(BadSource, match=r"cut\.zim is damaged or cut off") as caught:
        check(retriever, SOLD, "cut")
    assert "\n" not in str(caught.value)
    (near, *_) = retriever.nearest("When was the tower sold?", 1, ("file",))
    assert near[1].title == "Skerrow Light"


# --- a real MediaWiki: searched, read whole, stored, and on bad days


@pytest.fixture
def proxy(wiki_address: str) -> Iterator[FaultProxy]:
    """A real MediaWiki after a proxy that can fail."""
    with fault_proxy(wiki_address) as proxy:
        yield proxy


SALE = "In 1960 the tower was sold to Tom Berg for 900 pounds."


def patient(address: str, home: Path, *contact: str, **limits: float) -> MediaWiki:
    """Return the source of a process that begins now."""
    given = SourceAddress.read(f"mediawiki:{address}")
    return MediaWiki(given, KeptArticles(home / "articles.db"), *(contact or ("",)), **limits)


def opened(address: str, home: Path) -> MediaWiki:
    return patient(address, home, "ida@example.org", seconds=1)


@pytest.mark.server
def test_one_request_finds_titles_redirects_and_words(wiki_address: str, tmp_path: Path) -> None:
    source = patient(wiki_address, tmp_path)
    names = ["The Skerrow lighthouse", "Ann Lee", "ann Lee", "No such page", "x [y]"]
    found = source.search(names, "ferry pier 1911", 4)
    light = {"The Skerrow lighthouse": "Skerrow Light"}
    assert found.named == {**light, "Ann Lee": "Ann Lee", "ann Lee": "Ann Lee"}
    assert found.by_words == ("Mercury (ferry)",)
    assert source.requests == 1
    assert source.about().name == "Test wiki"


@pytest.mark.server
def test_an_article_is_read_whole_from_a_revision(wiki_address: str, tmp_path: Path) -> None:
    source = patient(wiki_address, tmp_path)
    (light,) = source.articles(["Skerrow Light", "No such page"])
    assert [block.text for block in light.blocks] == [
        "Skerrow Light is a lighthouse on the island of Skerrow.",  # without the mark of its note
        *("Height: 41 metres.", "Keeper: Ann Lee."),  # the box comes after the introduction
        "The tower was first lit in 1871. Its lamp came from Dundee.",
        SALE,
    ]
    assert light.blocks[-1].section == ("Sale",)
    assert light.links == {name: name for name in ("Ann Lee", "Skerrow", "Dundee", "Ohre parish")}
    assert (light.credit, light.date) == ("Test wiki, revision of 12 November 2024", "2024-11-12")
    with urlopen(light.url) as page:
        assert SALE in unescape(page.read().decode())
    # Other pages lead on, end or have another script.
    titles = ["Mercury", "Loop", "Нева", "The Skerrow lighthouse"]
    found = {one.title: one for one in source.articles(titles)}
    ferry_and_paper = ("Mercury (ferry)", "Skerrow", "Mercury (newspaper)", "Varnby")
    assert found["Mercury"].leads_to == ferry_and_paper
    assert found["Loop"].blocks[0].text == "Loop is a page with a table that never ends."
    assert found["Нева"].blocks[-1].text == "Длина реки — 74 километра."
    assert "Skerrow Light" in found  # where a redirect leads


@pytest.mark.server
def test_a_wiki_can_be_read_as_it_was_before_a_day(wiki_address: str, tmp_path: Path) -> None:
    today = SourceAddress.read(f"mediawiki:{wiki_address}")
    said = {}
    for day in ("2019-03-01", "2020-05-31", "2020-06-02"):
        source = MediaWiki(today.seen_before(day), KeptArticles(tmp_path / "kept.db"), "")
        said[day] = [one.blocks[-1].text for one in source.articles(["Skerrow bridge"])]
        before = source.requests
        source.articles(["Skerrow bridge"])
        assert not said[day] or source.requests == before  # the past stays as it was
    assert said == {
        "2019-03-01": [],
        "2020-05-31": ["The bridge is open to carts."],
        "2020-06-02": ["The bridge was closed in 2020."],
    }


@pytest.mark.server
def test_what_was_read_is_kept_without_a_network(proxy: FaultProxy, tmp_path: Path) -> None:
    first = patient(proxy.address, tmp_path)
    first.search(["The Skerrow lighthouse"], "", 4)
    read = first.articles(["Skerrow Light"])
    again = patient(proxy.address, tmp_path)
    again.search(["The Skerrow lighthouse"], "", 4)
    assert again.articles(["Skerrow Light"]) == read
    assert again.requests == 1  # which said that the kept revision is the newest

    proxy.always = FAULTS["cut"]
    offline = opened(proxy.address, tmp_path)
    found = offline.search(["The Skerrow lighthouse", "Ann Lee"], "tower", 4)
    assert found.named == {"The Skerrow lighthouse": "Skerrow Light"}
    assert "could not be searched" in found.problem
    assert offline.articles(["Skerrow Light"]) == read
    asked = len(proxy.asked)
    with pytest.raises(SourceAway, match="a moment ago"):
        offline.search(["Ann Lee"], "", 4)  # is not asked again at once
    assert len(proxy.asked) == asked

    kept = KeptArticles(tmp_path / "articles.db")
    assert [one.articles for one in kept.holdings()] == [1]
    kept.clear()
    with pytest.raises(SourceAway):
        opened(proxy.address, tmp_path).articles(["Skerrow Light"])


@pytest.mark.server
def test_articles_that_were_not_used_make_room(wiki_address: str, tmp_path: Path) -> None:
    read = {one.id: one for one in patient(wiki_address, tmp_path).articles(["Dundee", "Varnby"])}
    kept = KeptArticles(tmp_path / "few.db", most_bytes=600)
    kept.keep("a", read["Dundee"])
    kept.keep("b", read["Varnby"])
    assert kept.article("a", "Dundee") is None or kept.article("b", "Varnby") is not None
    assert sum(one.bytes for one in kept.holdings()) <= 600
    (tmp_path / "damaged.db").write_bytes(b"no database" * 100)
    damaged = KeptArticles(tmp_path / "damaged.db")
    damaged.keep("a", read["Dundee"])
    assert damaged.article("a", "Dundee") is None


@pytest.mark.server
@cases("source_faults", "fault", "said")
def test_a_bad_day_is_told(proxy: FaultProxy, tmp_path: Path, fault: str, said: str) -> None:
    proxy.faults.append(FAULTS[fault])
    source = opened(proxy.address, tmp_path)
    if not said:
        assert source.search(["Ann Lee"], "", 4).named == {"Ann Lee": "Ann Lee"}
        assert len(proxy.asked) == 2
        return
    with pytest.raises(SourceAway) as caught:
        source.search(["Ann Lee"], "", 4)
    assert said in caught.value.message
    assert "\n" not in str(caught.value)


@pytest.mark.server
def test_at_most_three_requests_say_who_asks(proxy: FaultProxy, tmp_path: Path) -> None:
    titles = ["Ann Lee", "Ida Holm", "Varnby", "Dundee", "Skerrow", "Mercury"]

    def ask(half: int) -> None:
        patient(proxy.address, tmp_path).articles(titles[half::2])

    with ThreadPoolExecutor() as pool:
        list(pool.map(ask, (0, 1)))
    assert proxy.most <= AT_ONCE
    opened(proxy.address, tmp_path).search(["Ann Lee"], "", 4)
    path, headers = proxy.asked[-1]
    assert "maxlag=5" in path
    assert headers["Accept-Encoding"] == "gzip"
    assert headers["User-Agent"].startswith("ESOTERIC")
    assert "ida@example.org" in headers["User-Agent"]
    # An article that is gone or too long is left out.
    for fault in (answers(b"{}", 404), answers(b'{"html": "' + b"x" * 9_000_000)):
        proxy.faults.append(fault)
        assert patient(proxy.address, tmp_path / "new").articles(["Ann Lee"]) == []
    # A slow wiki is not waited for twice.
    proxy.always = FAULTS["slow"]
    source, began = opened(proxy.address, tmp_path / "slow"), time.monotonic()
    for _ in range(3):
        with pytest.raises(SourceAway):
            source.search(["Ann Lee"], "", 4)
    assert time.monotonic() - began < 2


@pytest.mark.server
def test_wikimedia_is_asked_only_with_a_contact_and_at_public_addresses(tmp_path: Path) -> None:
    wikipedia = SourceAddress.read("mediawiki:http://localhost.wikipedia.org")
    kept = KeptArticles(tmp_path / "kept.db")
    with pytest.raises(BadSource, match="ESOTERIC_CONTACT"):
        MediaWiki(wikipedia, kept, "")
