"""``cirrus:PATH``: dumps of Wikimedia's search index, whole, in parts, and damaged."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.sources import of_whole_articles, open_corpus
from retrieval.corpora.wiki.cirrus import wiki_named
from tests.support.cases import cases

NAME = "enwiki-20251027-cirrussearch-content.json.gz"


def lines(*documents: Mapping[str, Any]) -> bytes:
    """Return the lines of a dump; each document has a line with its number before it."""
    written = []
    for number, document in enumerate(documents):
        written += [{"index": {"_type": "_doc", "_id": str(number)}}, {"namespace": 0} | document]
    return "".join(json.dumps(line) + "\n" for line in written).encode()


def lamp(number: int) -> dict[str, Any]:
    return {"title": f"Lamp {number}", "opening_text": f"It is lamp {number}."}


def read(path: Path) -> list[Page | BadPage]:
    return [page for chunk, _ in open_corpus(f"cirrus:{path}").chunks() for page in chunk]


def texts(path: Path) -> list[str]:
    return [page.text for page in read(path) if isinstance(page, Page)]


def test_articles_have_introductions_addresses_and_redirects(tmp_path: Path) -> None:
    path = tmp_path / NAME
    lamp = {
        "title": "Old lamp (film)?",
        "opening_text": "Old\n lamp (; ) is a film.",
        "text": "Old lamp is a film. More.",
        "redirect": [
            {"namespace": 0, "title": "The lamp"},
            {"namespace": 4, "title": "Lamps"},
            {"namespace": 0, "title": "The lamp"},
            "Lamp",
        ],
    }
    talk = {"title": "Talk:Lamp", "opening_text": "Is it?", "namespace": 1}
    path.write_bytes(gzip.compress(lines(lamp, talk)))
    corpus = open_corpus(f"cirrus:{path}")
    assert (corpus.name, corpus.date) == ("enwiki-20251027-cirrussearch-content", "2025-10-27")
    assert (corpus.language, corpus.size()) == ("en", path.stat().st_size)
    assert sum(size for _, size in corpus.chunks()) == corpus.size()
    (page,) = read(path)
    assert isinstance(page, Page)
    assert (page.id, page.title) == ("Old lamp (film)?", "Old lamp (film)?")
    assert page.url == "https://en.wikipedia.org/wiki/Old_lamp_%28film%29%3F"
    assert page.text == "Old lamp is a film."
    assert page.other_titles == ("The lamp",)


@cases("cirrus", "document", "text")
def test_without_an_introduction_the_first_paragraph_is_read(
    tmp_path: Path, document: dict[str, Any], text: list[str]
) -> None:
    path = tmp_path / NAME
    path.write_bytes(gzip.compress(lines({"title": "Lamp"} | document)))
    assert texts(path) == text


def test_whole_articles_have_the_sections_that_the_wikitext_shows(tmp_path: Path) -> None:
    path = tmp_path / NAME
    lead, lit = "Lamp is a light.", "It was first lit in 1871 by Ann Lee."
    sold, book = "In 1960 the lamp was sold to Tom Berg.", "Lamps and their makers of old."
    record = {
        "title": "Lamp",
        "opening_text": lead,
        "text": f"{lead} {lit} {sold} It is kept. {book}",
        "auxiliary_text": ["Height 41 metres", "v t e Lamps of the north"],
        "source_text": "{{Infobox lamp|height=41 metres}}\n''Lamp'' is a light.\n== History ==\n"
        "{{main|Lights}}\nIt was [[lamp lighting|first lit]] in 1871<ref>A.</ref> by Ann Lee.\n"
        "=== Sale ===\n[[File:Lamp.jpg|thumb|A lamp]]\nIn 1960 the ''lamp'' was sold.\n"
        "== Today ==\n{{kept}}\nIt {{is}} kept in a far place.\n"
        "== Further reading ==\n* Lamps and their makers of old.\n",
    }
    path.write_bytes(gzip.compress(lines(record)))
    corpus = open_corpus(of_whole_articles(f"cirrus:{path}"))
    pages = [page for chunk, _ in corpus.chunks() for page in chunk if isinstance(page, Page)]
    read = [(page.passage.section, page.sentences) for page in pages if page.passage]
    assert read == [
        ((), (lead, "Height 41 metres")),
        (("History",), (lit,)),
        ((), (sold, "It is kept.")),  # where "Today" begins is not found
    ]
    assert pages[1].url == "https://en.wikipedia.org/wiki/Lamp#History"
    assert texts(path) == [lead]


def test_a_folder_of_parts_is_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "index_name=dewiktionary_content"
    folder.mkdir()
    for number, pack in ((1, gzip.compress), (0, bz2.compress)):
        suffix = {gzip.compress: "gz", bz2.compress: "bz2"}[pack]
        name = f"dewiktionary_content-20251102-0000{number}.json.{suffix}"
        (folder / name).write_bytes(pack(lines(lamp(number))))
    (folder / "_SUCCESS").write_bytes(b"")
    corpus = open_corpus(f"cirrus:{tmp_path}")
    assert (corpus.date, corpus.language) == ("2025-11-02", "de")
    assert texts(tmp_path) == ["It is lamp 0.", "It is lamp 1."]
    again = open_corpus(f"cirrus:{tmp_path}").chunks()
    assert [(*c, size) for c, size in corpus.chunks()] == [(*c, size) for c, size in again]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_what_comes_before_the_end_of_a_cut_off_file_is_read(tmp_path: Path, pack: Any) -> None:
    suffix = {gzip.compress: "gz", bz2.compress: "bz2"}[pack]
    for number in range(2):
        path = tmp_path / f"enwiki_content-20251102-0000{number}.json.{suffix}"
        # A part of many blocks, so that whole ones come before the end.
        packed = pack(lines(*(lamp(n) for n in range(40_000 if number == 0 else 1))))
        path.write_bytes(packed[: len(packed) * 4 // 5] if number == 0 else packed)
    pages = read(tmp_path)
    (bad,) = (page for page in pages if isinstance(page, BadPage))
    whole = [page for page in pages if isinstance(page, Page)]
    assert 20_000 < len(whole) < 40_000
    assert whole[-1].text == "It is lamp 0."  # of the second file
    line = int(bad.message.split("line ")[1].split(":")[0])
    # Each whole document before it has two lines.
    assert line in {2 * (len(whole) - 1) + 1, 2 * (len(whole) - 1) + 2}
    assert bad.message.startswith(str(tmp_path / "enwiki_content-20251102-00000.json"))
    assert "cut off" in bad.message


@pytest.mark.parametrize("name", [NAME, "lamps.json", "lamps.json.bz2"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, bytes])
def test_a_file_is_unpacked_as_its_content_says_whatever_its_name_is(
    tmp_path: Path, name: str, pack: Any
) -> None:
    path = tmp_path / name
    path.write_bytes(pack(lines(lamp(1))))
    assert texts(path) == ["It is lamp 1."]
    path.write_text(json.dumps(lamp(1)), encoding="utf-8")  # without a number before it
    corpus = open_corpus(f"cirrus:{path}")
    assert texts(path) == ["It is lamp 1."]
    assert (corpus.date, corpus.language) == (("2025-10-27", "en") if name == NAME else ("", ""))


def test_a_file_of_another_format_is_reported_once_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"ZIM\x04\0\0" + b"\n" * 1000)
    (tmp_path / "b.json").write_bytes(lines(lamp(1)))
    bad, page = read(tmp_path)
    assert isinstance(bad, BadPage)
    assert bad.message == f"{path}, line 1: the file is not JSON, or is damaged."
    assert isinstance(page, Page)


def test_a_bad_line_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / NAME
    content = lines(lamp(1)) + b'{"title": \n[1]\n{"namespace": 0}\n' + lines(lamp(2))
    path.write_bytes(gzip.compress(content))
    pages = read(path)
    assert texts(path) == ["It is lamp 1.", "It is lamp 2."]
    assert [page.message for page in pages if isinstance(page, BadPage)] == [
        f"{path}, line 3: not JSON.",
        f"{path}, line 4: not a JSON object.",
        f"{path}, line 5: no text under 'title'.",
    ]


@cases("cirrus", "name", "language", "address")
def test_a_wiki_is_known_by_its_name(name: str, language: str, address: str) -> None:
    assert wiki_named(name) == (language, address)
