"""Sources: how they are named, files of Kiwix, and claims that are checked in them."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.request import urlopen

import pytest
from lxml import html

from retrieval.corpora.folder.tree import words
from retrieval.errors import BadSource
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import OwnCorpus, Retriever
from retrieval.result import ClaimResult, claim_result
from retrieval.sources.address import SourceAddress, given_source, read_sources
from retrieval.sources.opening import Sources
from retrieval.types import SUPPORTS
from tests.retrieval.corpora.zim_files import Entry, write_zim
from tests.retrieval.sources.fault_proxy import FAULTS, FaultProxy
from tests.support.cases import cases

LIT = "Skerrow Light was first lit in 1871."
SOLD = "Skerrow Light was sold to Tom Berg in 1960."


# --- addresses


@cases("source_addresses", "written", "place")
def test_an_address_says_where_a_source_is(written: str, place: str) -> None:
    assert SourceAddress.read(written).place == place


@cases("source_addresses", "written", "refused")
def test_what_is_no_address_is_refused(written: str, refused: str) -> None:
    with pytest.raises(ValueError, match=refused):
        SourceAddress.read(written)


def test_a_setting_names_several_sources_and_a_wiki_may_be_named_with_a_day(
    tmp_path: Path,
) -> None:
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
def test_a_claim_is_decided_by_what_stands_deep_in_an_article(
    in_wiki: Retriever, claim: str, label: str, section: str | None
) -> None:
    result = check(in_wiki, claim, "wiki")
    assert result.verdict.label == label
    best = result.selected[0]
    assert best.section == section
    assert best.date == "2024-11-12"
    assert result.credits[best.document] == "Test wiki, revision of 12 November 2024"
    assert best.url is not None
    with urlopen(best.url) as page:  # where the evidence can be read for good
        shown = words(html.document_fromstring(unescape(page.read().decode())))
    said = best.sentence if section != "Population" else "4,807"
    assert said.removesuffix(".").split(": ")[-1] in shown


@pytest.mark.models
@pytest.mark.server
def test_a_source_and_the_index_are_searched_as_one_and_without_the_network_the_index_answers(
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
    entries = [
        Entry("Skerrow_Light", "Skerrow Light", LIGHT),
        Entry("Skerrow", "Skerrow", SKERROW),
    ]
    redirects = [("The_Light", "The Light", "Skerrow_Light")]
    return write_zim(folder / "islands.zim", entries, redirects, text_index=text_index)


@pytest.mark.models
@pytest.mark.server
def test_files_of_kiwix_are_searched_without_building_anything(
    unpacked: Path, tmp_path: Path
) -> None:
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
