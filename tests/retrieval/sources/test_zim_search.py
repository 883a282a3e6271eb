"""Files of Kiwix, written by libzim, searched by the indexes that they have in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import BadSource
from retrieval.sources.address import SourceAddress
from retrieval.sources.interface import Source
from retrieval.sources.opening import Sources
from tests.retrieval.corpora.zim_files import Entry, write_zim

pytestmark = pytest.mark.server

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


def opened(path: Path) -> Source:
    return Sources(path.parent).open(SourceAddress.read(f"zim-search:{path}"))


def test_words_titles_and_redirects_are_found_and_an_article_is_read_whole(tmp_path: Path) -> None:
    source = opened(zim(tmp_path, text_index=True))
    found = source.search(["the Light", "The Light", "Skerrow", "None"], "tower sold Berg", 4)
    assert found.named == dict.fromkeys(("the Light", "The Light"), "Skerrow_Light") | {
        "Skerrow": "Skerrow"
    }
    assert found.by_words == ("Skerrow_Light",)
    (light,) = source.articles(["Skerrow_Light", "None"])
    assert [block.text for block in light.blocks] == [
        "Skerrow Light is a lighthouse on the island.",
        "Height: 41 metres.",
        "Keeper: Ann Lee.",
        "In 1960 the tower was sold to Tom Berg for 900 pounds.",
    ]
    assert light.links == {"the island": "Skerrow"}
    assert light.url == "https://en.wikipedia.org/wiki/Skerrow_Light"
    assert light.credit == "Wikipedia, file of 27 October 2025"
    assert source.about().notice == ""


def test_a_file_without_a_full_text_index_is_searched_by_titles_and_this_is_said(
    tmp_path: Path,
) -> None:
    source = opened(zim(tmp_path, text_index=False))
    assert source.search(["Skerrow Light"], "tower sold", 4).named == {
        "Skerrow Light": "Skerrow_Light"
    }
    assert "found by their titles alone" in source.about().notice


def test_a_file_that_is_cut_is_said_to_be_damaged_in_one_line(tmp_path: Path) -> None:
    path = zim(tmp_path, text_index=True)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(BadSource, match=r"islands\.zim is damaged or cut off") as caught:
        opened(path)
    assert "\n" not in str(caught.value)
