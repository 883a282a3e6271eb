"""A real MediaWiki as a source: searched, read whole, kept, and on bad days."""

from __future__ import annotations

import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import pytest

from retrieval.errors import BadSource
from retrieval.sources.address import SourceAddress
from retrieval.sources.interface import SourceAway
from retrieval.sources.kept import KeptArticles
from retrieval.sources.mediawiki import AT_ONCE, MediaWiki
from tests.retrieval.sources.fault_proxy import FAULTS, FaultProxy, answers
from tests.support.cases import cases

pytestmark = pytest.mark.server

SALE = "In 1960 the tower was sold to Tom Berg for 900 pounds."


def opened(address: str, home: Path, contact: str = "ida@example.org") -> MediaWiki:
    """Return the source of a process that begins now."""
    given = SourceAddress.read(f"mediawiki:{address}")
    return MediaWiki(given, KeptArticles(home / "articles.db"), contact, seconds=1)


def patient(address: str, home: Path) -> MediaWiki:
    given = SourceAddress.read(f"mediawiki:{address}")
    return MediaWiki(given, KeptArticles(home / "articles.db"), "")


def test_one_request_finds_titles_redirects_and_words(wiki_address: str, tmp_path: Path) -> None:
    source = patient(wiki_address, tmp_path)
    names = ["The Skerrow lighthouse", "Ann Lee", "ann Lee", "No such page", "x [y]"]
    found = source.search(names, "ferry pier 1911", 4)
    light = {"The Skerrow lighthouse": "Skerrow Light"}
    assert found.named == {**light, "Ann Lee": "Ann Lee", "ann Lee": "Ann Lee"}
    assert found.by_words == ("Mercury (ferry)",)
    assert source.requests == 1
    assert source.about().name == "Test wiki"


def test_an_article_is_read_whole_and_quoted_from_a_revision(
    wiki_address: str, tmp_path: Path
) -> None:
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
    assert light.url is not None
    with urllib.request.urlopen(light.url) as page:
        assert SALE in unescape(page.read().decode())
    # Other pages lead on, end or have another script.
    titles = ["Mercury", "Loop", "Нева", "The Skerrow lighthouse"]
    found = {one.title: one for one in source.articles(titles)}
    ferry_and_paper = ("Mercury (ferry)", "Skerrow", "Mercury (newspaper)", "Varnby")
    assert found["Mercury"].leads_to == ferry_and_paper
    assert found["Loop"].blocks[0].text == "Loop is a page with a table that never ends."
    assert found["Нева"].blocks[-1].text == "Длина реки — 74 километра."
    assert "Skerrow Light" in found  # where a redirect leads


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


def test_what_was_read_is_kept_and_read_without_the_network(
    proxy: FaultProxy, tmp_path: Path
) -> None:
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


def test_the_articles_that_were_used_least_recently_make_room(
    wiki_address: str, tmp_path: Path
) -> None:
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


@cases("source_faults", "fault", "said")
def test_a_bad_day_costs_little_and_is_said(
    proxy: FaultProxy, tmp_path: Path, fault: str, said: str
) -> None:
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


def test_requests_say_who_asks_and_at_most_three_are_there_at_once(
    proxy: FaultProxy, tmp_path: Path
) -> None:
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


def test_wikimedia_is_asked_only_with_a_contact_and_at_public_addresses(tmp_path: Path) -> None:
    wikipedia = SourceAddress.read("mediawiki:http://localhost.wikipedia.org")
    kept = KeptArticles(tmp_path / "kept.db")
    with pytest.raises(BadSource, match="ESOTERIC_CONTACT"):
        MediaWiki(wikipedia, kept, "")
