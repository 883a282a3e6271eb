"""Claims checked in sources, with the real models: what stands in bodies, boxes and tables."""

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
from retrieval.sources.address import SourceAddress
from retrieval.sources.opening import Sources
from retrieval.types import SUPPORTS
from tests.retrieval.sources.fault_proxy import FAULTS, FaultProxy
from tests.retrieval.sources.test_zim_search import zim
from tests.support.cases import cases

pytestmark = [pytest.mark.models, pytest.mark.server]

LIT = "Skerrow Light was first lit in 1871."
SOLD = "Skerrow Light was sold to Tom Berg in 1960."


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


def test_files_of_kiwix_are_searched_without_building_anything(
    unpacked: Path, tmp_path: Path
) -> None:
    file = SourceAddress.read(f"zim-search:{zim(tmp_path, text_index=True)}", "file")
    by_title = replace(file, name="titles", place=str(tmp_path / "titles" / "islands.zim"))
    (tmp_path / "titles").mkdir()
    zim(tmp_path / "titles", text_index=False)
    # There is no index: a file alone needs none.
    retriever = over(tmp_path / "none", unpacked, tmp_path, file, by_title)
    found = check(retriever, SOLD, "file")
    assert found.verdict.label == SUPPORTS
    assert found.selected[0].section == "Sale"
    assert found.notices == ()
    (notice,) = check(retriever, SOLD, "titles").notices
    assert "found by their titles alone" in notice
    both = check(retriever, SOLD, "titles", "file")
    assert both.verdict.label == SUPPORTS
    assert [part.name for part in both.corpus.parts] == ["titles", "file"]
    cut = tmp_path / "cut.zim"
    cut.write_bytes((tmp_path / "islands.zim").read_bytes()[:2000])
    gone = replace(file, name="cut", place=str(cut))
    beside = over(tmp_path / "none", unpacked, tmp_path, file, gone)
    found = check(beside, SOLD, "cut", "file")
    assert found.verdict.label == SUPPORTS
    assert any("cut.zim is damaged" in one for one in found.notices)
    with pytest.raises(BadSource, match=r"cut\.zim is damaged"):
        check(beside, SOLD, "cut")
    (near, *_) = retriever.nearest("When was the tower sold?", 1, ("file",))
    assert near[1].title == "Skerrow Light"
