"""Corpora in JSON, FEVER's pages and dumps of wikis: what they yield, and how they refuse."""

import bz2
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from retrieval.corpora import json_lines, records
from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page, readable_pages
from retrieval.corpora.passages import WHOLE
from retrieval.corpora.records import Fields
from retrieval.corpora.sources import KNOWN, of_whole_articles, open_corpus
from retrieval.corpora.wiki.cirrus import Wiki
from retrieval.corpora.wiki.fever import plain_title
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import BadSource
from tests.support.cases import cases, rules
from tests.support.json_lines import write_json_lines


def fever_page(page_id: str, sentences: str) -> dict[str, str]:
    return {"id": page_id, "text": "unused", "lines": sentences}


def all_of(source: str) -> list[Page | BadPage]:
    return [page for chunk, _ in open_corpus(source).chunks() for page in chunk]


def pages_of(source: str) -> list[Page]:
    return list(readable_pages(open_corpus(source)))


def complaints(source: str) -> list[BadPage]:
    return [page for page in all_of(source) if isinstance(page, BadPage)]


def refusal(source: str) -> str:
    with pytest.raises(BadSource) as caught:
        pages_of(source)
    return str(caught.value)


def test_vital_is_ten_thousand_introductions_with_their_addresses() -> None:
    by_id = {page.id: page for page in readable_pages(VitalCorpus())}
    assert len(by_id) == VitalCorpus().size() == 10_033
    assert by_id["Mary Shelley"].url == "https://en.wikipedia.org/wiki/Mary_Shelley"
    assert by_id["Sputnik 1"].text.startswith("Sputnik 1")
    assert max(len(page.text) for page in by_id.values()) <= WHOLE  # none is cut into passages


def test_fever_keeps_its_ids_and_leaves_out_a_page_without_one(tmp_path: Path) -> None:
    path = tmp_path / "wiki-001.jsonl"
    write_json_lines(path, fever_page("", ""), fever_page("Lamp_-LRB-song-RRB-", "0\tIt is ."))
    (page,) = pages_of(f"fever:{tmp_path}")
    assert (page.id, page.title) == ("Lamp_-LRB-song-RRB-", "Lamp (song)")
    assert page.url == "https://en.wikipedia.org/wiki/Lamp_%28song%29"
    for number in ("100001", "9" * 5000):  # a sentence id beyond reason
        huge, small = fever_page("Huge", f"{number}\tIt ."), fever_page("Small", "0\tIt is small .")
        write_json_lines(path, huge, small)
        (complaint,) = complaints(f"fever:{tmp_path}")
        assert f"line 1: sentence id {number[:12]}." in complaint.message
        assert [page.id for page in pages_of(f"fever:{tmp_path}")] == ["Small"]


@cases("fever", "lines", "sentences", "links")
def test_a_page_of_fever_has_the_sentences_that_a_reader_would_write(
    tmp_path: Path, lines: str, sentences: list[str], links: list[list[str]]
) -> None:
    write_json_lines(tmp_path / "wiki-001.jsonl", fever_page("Lamp", lines))
    (page,) = pages_of(f"fever:{tmp_path}")
    assert list(page.sentences or ()) == sentences
    assert [[*titles] for titles in page.links] == links


def test_json_lines_give_documents_and_only_web_addresses_are_links(tmp_path: Path) -> None:
    long = "The lamp of the old town is red. " * 80
    path = write_json_lines(
        tmp_path / "notes.jsonl",
        {"id": "1", "title": "Zoe\u0308", "text": "A \n name.", "url": "https://example.org/z"},
        {"id": "2", "title": "", "text": "No\u0000thing.", "url": "javascript:alert(1)"},
        {"id": "3", "title": "Lamps", "text": long, "url": "https://example.org/l"},
    )
    corpus = open_corpus(f"jsonl:{path}")
    first, second, *passages = readable_pages(corpus)
    assert [(page.id, page.url) for page in passages] == [
        (f"3#{number}", "https://example.org/l") for number in (1, 2, 3)
    ]
    assert " ".join(" ".join(page.sentences or ()) for page in passages) == long.strip()
    assert (corpus.name, corpus.size()) == ("notes", path.stat().st_size)
    assert (first.title, first.text, first.url) == ("Zoë", "A name.", "https://example.org/z")
    assert (second.title, second.text, second.url) == ("2", "Nothing.", None)


@cases("markdown", "markdown", "title", "text")
def test_markdown_is_read_as_seen(tmp_path: Path, markdown: str, title: str, text: str) -> None:
    (tmp_path / "a.md").write_text(markdown, encoding="utf-8")
    (page,) = pages_of(f"folder:{tmp_path}")
    assert (page.title, page.text or " ".join(page.sentences or ())) == (title, text)


def refused_fields(written: str) -> bool:
    with pytest.raises(BadSource, match=r"cannot be used\..*--fields id=_id,text=contents"):
        Fields.read(written)
    return True


@rules(
    ("corpora", "text", "cleaned", clean),
    ("corpora", "no_address", "", lambda url: web_address(url) is None),
    ("corpora", "no_fields", "", refused_fields),
    ("fever", "page_id", "title", plain_title),
    ("cirrus", "name", "language address", lambda name: [*astuple(Wiki.named(name))]),
)
def test_texts_and_addresses_are_clean(rule: Any, given: list[Any], expected: object) -> None:
    assert rule(*given) == expected


def test_what_cannot_be_a_source_is_refused_with_what_may_be_meant(tmp_path: Path) -> None:
    for source in ("", "vitall", "fever:", "s3://bucket", "fever"):
        assert f"Use {KNOWN}." in refusal(source)
    names = {"zim": "w.zim", "jsonl": "w.jsonl.gz", "cirrus": "w.json.gz", "parquet": "w.parquet"}
    for kind, name in names.items():
        assert f"Use {kind}:{name}." in refusal(name)
    assert f"Use folder:{tmp_path}." in refusal(str(tmp_path))
    path = tmp_path / "none.zim"
    for kind in ("fever", "jsonl", "folder", "zim", "cirrus", "parquet"):
        assert f"{path} does not exist. Check the path." in refusal(f"{kind}:{path}")
    for kind in ("jsonl", "zim"):
        assert f"{tmp_path} is a folder. Give a file: {kind}:FILE." in refusal(f"{kind}:{tmp_path}")
    for kind, lacks in (
        ("fever", ".jsonl files"),
        ("folder", "text, Markdown, HTML, PDF or Word files"),
        ("cirrus", ".json.gz or .json.bz2 or .json files"),
        ("parquet", ".parquet or .arrow files"),
    ):
        assert f"contains no {lacks}" in refusal(f"{kind}:{tmp_path}")
    path.write_text("It is red.", encoding="utf-8")
    assert f"{path} is not a folder. Give a folder: folder:DIR." in refusal(f"folder:{path}")
    path.write_bytes(b"\xfd7zXZ\0")
    assert f"{path} is compressed. Unpack it first." in refusal(f"jsonl:{path}")
    with pytest.raises(BadSource, match="vital: has no encrypted files"):
        open_corpus("vital", password="secret")
    with pytest.raises(BadSource, match="folder: has no fields to name"):
        open_corpus(f"folder:{tmp_path}", Fields.read("id=_id"))


LAMPS = [{"id": 1, "title": None, "text": "It is red."}, {"id": "b", "text": "It is old."}]


LINES, LIST = "".join(json.dumps(lamp) + "\n" for lamp in LAMPS), json.dumps(LAMPS)
INDENTED = json.dumps(LAMPS, indent=2)
WRITTEN = [
    *(LINES.encode(), LINES.replace("\n", "\r\n").encode("utf-16"), LINES.encode("utf-16-be")),
    *(LIST.encode(), LIST.encode("utf-16"), b" \n" + LIST.encode()),
    *(INDENTED.encode("utf-8-sig"), INDENTED.encode("utf-16-le")),
]


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("content", WRITTEN)
def test_lines_and_lists_may_be_packed(
    tmp_path: Path, content: bytes, packed: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "lamps.jsonl.gz"
    path.write_bytes(packed(content))
    corpus = open_corpus(f"jsonl:{path}")
    chunks = list(corpus.chunks())
    assert [(page.id, page.title, page.text) for chunk, _ in chunks for page in chunk] == [
        ("1", "1", "It is red."),
        ("b", "b", "It is old."),
    ]
    assert (corpus.name, sum(size for _, size in chunks)) == ("lamps", corpus.size())


_written = partial(json.dumps, ensure_ascii=False)
CAFES = [{"id": str(number), "text": "Zoë owns the café: 5 €."} for number in range(2000)]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
@pytest.mark.parametrize(
    "content",
    ["".join(f"{_written(one)}\n" for one in CAFES), _written(CAFES)],
    ids=["lines", "list"],
)
def test_records_may_be_in_windows_1252_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, encoding: str
) -> None:
    monkeypatch.setattr(records, "BLOCK", 1000)
    monkeypatch.setattr(json_lines, "BLOCK", 1000)
    (tmp_path / "cafes.jsonl").write_bytes(content.encode(encoding))
    pages = list(pages_of(f"jsonl:{tmp_path / 'cafes.jsonl'}"))
    assert [(page.id, page.text) for page in pages] == [
        (cafe["id"], cafe["text"]) for cafe in CAFES
    ]


@cases("corpora", "damaged", "said")
def test_the_rest_of_a_damaged_list_is_left_out(tmp_path: Path, damaged: str, said: str) -> None:
    reads_the_first_alone(tmp_path / "lamps.json", damaged.encode(), said)


def reads_the_first_alone(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    first, *_ = complaints(f"jsonl:{path}")
    assert first.message.startswith(f"{path}, {said}")
    assert [page.id for page in pages_of(f"jsonl:{path}")] == ["1"]


def test_a_file_that_is_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    one, path = b'{"id": "1", "text": "b"}', tmp_path / "lamps.json"
    reads_the_first_alone(path, b"[" + one + ', {"id": "éé'.encode() + b"\xff", "item 2: not JSON")
    packed = gzip.compress(b"[" + one + b", " + b"[" * 99, mtime=0)
    reads_the_first_alone(path, packed[:-9], "item 2: the file is cut")
    packed = gzip.compress(one + b"\n", mtime=0)
    reads_the_first_alone(path, packed[:-8], "line 2: the file is cut off here")


def test_records_are_the_same_however_they_are_cut_and_none_may_be_endless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lamps.json"
    path.write_text(json.dumps([{"id": n, "text": "It is red. " * 99} for n in range(2000)]))
    notes = ({"id": str(n), "text": "b " * n} for n in range(200))
    lines = write_json_lines(tmp_path / "notes.jsonl", *notes, "nonsense")
    lines.write_bytes(lines.read_bytes().removesuffix(b"\n"))
    whole = all_of(f"jsonl:{lines}")
    assert "line 201: cut off before its end" in whole[-1].message
    monkeypatch.setattr(records, "BLOCK", 100_000)
    chunks = list(open_corpus(f"jsonl:{path}").chunks())
    assert len(chunks) > 10
    assert [page.id for chunk, _ in chunks for page in chunk] == [str(n) for n in range(2000)]
    monkeypatch.setattr(json_lines, "BLOCK", 100)
    corpus = open_corpus(f"jsonl:{lines}")
    sizes = [size for _, size in corpus.chunks()]
    assert len(sizes) > 50
    assert sum(sizes) == corpus.size()
    assert all_of(f"jsonl:{lines}") == whole
    monkeypatch.setattr(records, "LONGEST", 1 << 20)
    monkeypatch.setattr(json_lines, "LONGEST", 1 << 20)
    monkeypatch.setattr(json_lines, "BLOCK", 1 << 10)
    path.write_bytes(b'[{"id": "' + b"x" * (1 << 21))
    assert "an item is longer than 1 MiB" in refusal(f"jsonl:{path}")
    lines.write_bytes(b"x" * (1 << 21))
    assert "line 1: longer than 1 MiB" in refusal(f"jsonl:{lines}")


def test_fields_name_the_keys_of_other_programs(tmp_path: Path) -> None:
    path = write_json_lines(
        tmp_path / "lamps.jsonl", {"_id": 7, "headline": 1984, "contents": "It is red."}
    )
    fields = Fields.read("id=_id, title=headline,text=contents")
    (page,) = readable_pages(open_corpus(f"jsonl:{path}", fields))
    assert (page.id, page.title, page.text) == ("7", "1984", "It is red.")
    usual = open_corpus(f"jsonl:{path}")
    assert usual.fingerprint() != open_corpus(f"jsonl:{path}", fields).fingerprint()
    (complaint,) = complaints(f"jsonl:{path}")
    assert complaint.hint.startswith("If one of '_id', 'headline', 'contents' holds it, add: --fi")


@cases("json_lines", "content", "expected")
def test_a_bad_line_is_named_others_are_read(tmp_path: Path, content: str, expected: str) -> None:
    """``content``: one character for each byte."""
    path = tmp_path / "notes.jsonl"
    good = b'{"id": "good", "title": "a", "text": "b"}\n'
    path.write_bytes(good + content.encode("latin-1"))
    (complaint,) = complaints(f"jsonl:{path}")
    assert complaint.message.startswith(f"{path}, {expected}")
    assert complaint.hint
    assert "good" in [page.id for page in pages_of(f"jsonl:{path}")]


def test_fevers_zip_gives_the_pages_of_its_files_in_order_of_their_names(tmp_path: Path) -> None:
    path = tmp_path / "wiki-pages.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name in ("wiki-pages/wiki-002.jsonl", "wiki-pages/wiki-001.jsonl"):
            archive.writestr(name, json.dumps(fever_page(name[-9:-6], "0\tIt is red .")) + "\n")
        archive.writestr("__MACOSX/wiki-pages/._wiki-001.jsonl", b"\x00\x05")
        archive.writestr("wiki-pages/readme.txt", "It is red.")
    corpus = open_corpus(f"fever:{path}")
    assert [page.id for page in readable_pages(corpus)] == ["001", "002"]
    assert corpus.name == "wiki-pages"
    assert sum(size for _, size in corpus.chunks()) == corpus.size()


def test_a_zip_that_is_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wiki-pages.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        pages = (fever_page(f"p{n}", f"0\tIt is number {n * 7919} .") for n in range(900))
        archive.writestr("wiki-001.jsonl", "".join(json.dumps(page) + "\n" for page in pages))
    whole = path.read_bytes()
    # In the second the list of files is there, what they hold is not.
    for damaged in (whole[:40], whole[:500] + bytes(90) + whole[590:]):
        path.write_bytes(damaged)
        assert "is not a zip, or is damaged" in refusal(f"fever:{path}")


def test_a_changed_source_has_another_fingerprint(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "notes.jsonl", {"id": "1", "title": "a", "text": "b"})
    before = open_corpus(f"jsonl:{path}").fingerprint()
    assert open_corpus(f"jsonl:{path}").fingerprint() == before
    write_json_lines(path, {"id": "1", "title": "a", "text": "c"})
    assert open_corpus(f"jsonl:{path}").fingerprint() != before


# --- dumps of Wikimedia's search index, whole, in parts, and damaged

NAME = "enwiki-20251027-cirrussearch-content.json.gz"


def dump(*documents: Mapping[str, Any]) -> bytes:
    """Return the lines of a dump; each document has a line with its number before it."""
    written = []
    for number, document in enumerate(documents):
        written += [{"index": {"_type": "_doc", "_id": str(number)}}, {"namespace": 0} | document]
    return "".join(json.dumps(line) + "\n" for line in written).encode()


def lamp(number: int) -> dict[str, Any]:
    return {"title": f"Lamp {number}", "opening_text": f"It is lamp {number}."}


def cirrus(path: Path) -> list[str]:
    return [page.text for page in pages_of(f"cirrus:{path}")]


def test_articles_have_introductions_addresses_and_redirects(tmp_path: Path) -> None:
    path = tmp_path / NAME
    names = [(0, "The lamp"), (4, "Lamps"), (0, "The lamp")]
    redirects = [{"namespace": space, "title": title} for space, title in names]
    lamp = {"title": "Old lamp (film)?", "text": "Old lamp is a film. More."}
    lamp |= {"opening_text": "Old\n lamp (; ) is a film.", "redirect": [*redirects, "Lamp"]}
    talk = {"title": "Talk:Lamp", "opening_text": "Is it?", "namespace": 1}
    path.write_bytes(gzip.compress(dump(lamp, talk)))
    corpus = open_corpus(f"cirrus:{path}")
    assert (corpus.name, corpus.date) == ("enwiki-20251027-cirrussearch-content", "2025-10-27")
    assert (corpus.language, corpus.size()) == ("en", path.stat().st_size)
    assert sum(size for _, size in corpus.chunks()) == corpus.size()
    (page,) = all_of(f"cirrus:{path}")
    assert (page.id, page.title) == ("Old lamp (film)?", "Old lamp (film)?")
    assert page.url == "https://en.wikipedia.org/wiki/Old_lamp_%28film%29%3F"
    assert page.text == "Old lamp is a film."
    assert page.other_titles == ("The lamp",)


@cases("cirrus", "document", "text")
def test_without_an_introduction_the_first_paragraph_is_read(
    tmp_path: Path, document: dict[str, Any], text: list[str]
) -> None:
    path = tmp_path / NAME
    path.write_bytes(gzip.compress(dump({"title": "Lamp"} | document)))
    assert cirrus(path) == text


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
    path.write_bytes(gzip.compress(dump(record)))
    corpus = open_corpus(of_whole_articles(f"cirrus:{path}"))
    pages = list(readable_pages(corpus))
    read = [(page.passage.section, page.sentences) for page in pages if page.passage]
    assert read == [
        ((), (lead, "Height 41 metres")),
        (("History",), (lit,)),
        ((), (sold, "It is kept.")),  # where "Today" begins is not found
    ]
    assert pages[1].url == "https://en.wikipedia.org/wiki/Lamp#History"
    assert cirrus(path) == [lead]


def test_a_folder_of_parts_is_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "index_name=dewiktionary_content"
    folder.mkdir()
    for number, pack in ((1, gzip.compress), (0, bz2.compress)):
        suffix = {gzip.compress: "gz", bz2.compress: "bz2"}[pack]
        name = f"dewiktionary_content-20251102-0000{number}.json.{suffix}"
        (folder / name).write_bytes(pack(dump(lamp(number))))
    (folder / "_SUCCESS").write_bytes(b"")
    corpus = open_corpus(f"cirrus:{tmp_path}")
    assert (corpus.date, corpus.language) == ("2025-11-02", "de")
    assert cirrus(tmp_path) == ["It is lamp 0.", "It is lamp 1."]
    again = open_corpus(f"cirrus:{tmp_path}").chunks()
    assert [(*c, size) for c, size in corpus.chunks()] == [(*c, size) for c, size in again]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_what_comes_before_the_end_of_a_cut_off_file_is_read(tmp_path: Path, pack: Any) -> None:
    suffix = {gzip.compress: "gz", bz2.compress: "bz2"}[pack]
    first, second = (tmp_path / f"enwiki_content-20251102-0000{n}.json.{suffix}" for n in range(2))
    # The first part has many blocks, so that whole ones come before the end.
    packed = pack(dump(*(lamp(n) for n in range(20_000))))
    first.write_bytes(packed[: len(packed) * 4 // 5])
    second.write_bytes(pack(dump(lamp(0))))
    *read, bad, last = all_of(f"cirrus:{tmp_path}")
    whole = [*(page.text for page in read), last.text]
    assert 8_000 < len(whole) < 20_000
    assert whole[-1] == "It is lamp 0."  # of the second file
    line = int(bad.message.split("line ")[1].split(":")[0])
    # Each whole document before it has two lines.
    assert line in {2 * (len(whole) - 1) + 1, 2 * (len(whole) - 1) + 2}
    assert bad.message.startswith(str(tmp_path / "enwiki_content-20251102-00000.json"))
    assert "cut off" in bad.message


@pytest.mark.parametrize("name", [NAME, "lamps.json", "lamps.json.bz2"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, bytes])
def test_a_file_is_unpacked_whatever_its_name_is(tmp_path: Path, name: str, pack: Any) -> None:
    path = tmp_path / name
    path.write_bytes(pack(dump(lamp(1))))
    assert cirrus(path) == ["It is lamp 1."]
    path.write_text(json.dumps(lamp(1)), encoding="utf-8")  # without a number before it
    corpus = open_corpus(f"cirrus:{path}")
    assert cirrus(path) == ["It is lamp 1."]
    assert (corpus.date, corpus.language) == (("2025-10-27", "en") if name == NAME else ("", ""))


def test_what_is_of_another_format_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"ZIM\x04\0\0" + b"\n" * 1000)
    (tmp_path / "b.json").write_bytes(dump(lamp(1)))
    bad, page = all_of(f"cirrus:{tmp_path}")
    assert bad.message == f"{path}, line 1: the file is not JSON, or is damaged."
    assert page.text == "It is lamp 1."
    content = dump(lamp(1)) + b'{"title": \n[1]\n{"namespace": 0}\n' + dump(lamp(2))
    path.write_bytes(content)
    assert cirrus(path) == ["It is lamp 1.", "It is lamp 2."]
    assert [page.message for page in complaints(f"cirrus:{path}")] == [
        f"{path}, line 3: not JSON.",
        f"{path}, line 4: not a JSON object.",
        f"{path}, line 5: no text under 'title'.",
    ]
