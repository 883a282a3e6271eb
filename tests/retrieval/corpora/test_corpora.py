"""The four kinds of corpora: what they yield, and how they refuse."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from retrieval.corpora import json_lines, records
from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page, readable_pages
from retrieval.corpora.passages import WHOLE
from retrieval.corpora.records import Fields
from retrieval.corpora.sources import KNOWN, open_corpus
from retrieval.corpora.wiki.fever import plain_title
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import BadSource
from tests.support.cases import cases
from tests.support.json_lines import write_json_lines


def fever_page(page_id: str, sentences: str) -> dict[str, str]:
    return {"id": page_id, "text": "unused", "lines": sentences}


def pages_of(source: str) -> list[Page]:
    return list(readable_pages(open_corpus(source)))


def complaints(source: str) -> list[BadPage]:
    chunks = [chunk for chunk, _ in open_corpus(source).chunks()]
    return [page for chunk in chunks for page in chunk if isinstance(page, BadPage)]


def refusal(source: str) -> str:
    with pytest.raises(BadSource) as caught:
        pages_of(source)
    return str(caught.value)


def test_vital_is_ten_thousand_introductions_with_their_addresses() -> None:
    pages = list(readable_pages(VitalCorpus()))
    assert len(pages) == VitalCorpus().size() == 10_033
    by_id = {page.id: page for page in pages}
    assert by_id["Mary Shelley"].url == "https://en.wikipedia.org/wiki/Mary_Shelley"
    assert by_id["Sputnik 1"].text.startswith("Sputnik 1")
    assert len(by_id) == 10_033
    assert max(len(page.text) for page in pages) <= WHOLE  # none is cut into passages


def test_fever_keeps_its_ids_and_leaves_out_a_page_without_one(tmp_path: Path) -> None:
    path = tmp_path / "wiki-001.jsonl"
    write_json_lines(path, fever_page("", ""), fever_page("Lamp_-LRB-song-RRB-", "0\tIt is ."))
    (page,) = pages_of(f"fever:{tmp_path}")
    assert (page.id, page.title) == ("Lamp_-LRB-song-RRB-", "Lamp (song)")
    assert page.url == "https://en.wikipedia.org/wiki/Lamp_%28song%29"


@cases("fever", "page_id", "title")
def test_a_page_of_fever_has_the_title_that_a_reader_would_write(page_id: str, title: str) -> None:
    assert plain_title(page_id) == title


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
def test_markdown_is_read_as_its_readers_see_it(
    tmp_path: Path, markdown: str, title: str, text: str
) -> None:
    (tmp_path / "a.md").write_text(markdown, encoding="utf-8")
    (page,) = pages_of(f"folder:{tmp_path}")
    assert (page.title, page.text or " ".join(page.sentences or ())) == (title, text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\u200b \u200bb", "a b"),  # a space between invisible characters is one space
        ("a \u200b b", "a b"),
        ("a\x85b\u2028c\x0cd", "a b c d"),
        ("\ufeffe\u0301\x00", "\u00e9"),
    ],
)
def test_cleaning_folds_what_is_left_when_the_invisible_is_gone(text: str, kept: str) -> None:
    assert clean(text) == kept


def test_what_is_no_web_address_is_no_link() -> None:
    for url in (
        *("javascript:x", "//example.org", "http://", 'https://a"b', "https://a\ud800", 7, None),
        *("http://[", "https://:80", "https://a.example\n"),
    ):
        assert web_address(url) is None


def test_what_cannot_be_a_source_is_refused_with_what_may_be_meant(
    tmp_path: Path,
) -> None:
    for source in ("", "vitall", "fever:", "s3://bucket", "fever"):
        assert f"Use {KNOWN}." in refusal(source)
    for name, kind in (
        ("w.zim", "zim"),
        ("w.jsonl.gz", "jsonl"),
        ("w.json.gz", "cirrus"),
        ("w.parquet", "parquet"),
    ):
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


def test_a_compression_that_is_not_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lamps.jsonl"
    path.write_bytes(b"\xfd7zXZ\0")
    assert f"{path} is compressed. Unpack it first." in refusal(f"jsonl:{path}")


LAMPS = [{"id": 1, "title": None, "text": "It is red."}, {"id": "b", "text": "It is old."}]


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize(
    "content",
    [
        "".join(json.dumps(lamp) + "\n" for lamp in LAMPS).encode(),
        "".join(json.dumps(lamp) + "\r\n" for lamp in LAMPS).encode("utf-16"),
        json.dumps(LAMPS).encode(),
        json.dumps(LAMPS, indent=2).encode("utf-8-sig"),
        b" \n" + json.dumps(LAMPS).encode(),
        json.dumps(LAMPS).encode("utf-16"),
        json.dumps(LAMPS, indent=2).encode("utf-16-le"),
        "".join(json.dumps(lamp) + "\n" for lamp in LAMPS).encode("utf-16-be"),
    ],
)
def test_lines_and_lists_are_read_packed_or_not(
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


CAFES = [{"id": str(number), "text": "Zoë owns the café: 5 €."} for number in range(2000)]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
@pytest.mark.parametrize(
    "content",
    [
        "".join(json.dumps(cafe, ensure_ascii=False) + "\n" for cafe in CAFES),
        json.dumps(CAFES, ensure_ascii=False),
    ],
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"id": "1", "text": "b"}, 7, {"id": "2"}, {"id"', "item 2: not a JSON object"),
        (b'[{"id": "1", "text": "b"}, {"id": "2", "text": ["c"]}]', "item 2: no text under 'text'"),
        ('[{"id": "1", "text": "b"}, {"id": "éé'.encode() + b'\xff"', "item 2: not JSON"),
        (
            gzip.compress(b'[{"id": "1", "text": "b"}, ' + b"[" * 99, mtime=0)[:-9],
            "item 2: the file is cut",
        ),
        (
            gzip.compress(b'{"id": "1", "text": "b"}\n', mtime=0)[:-8],
            "line 2: the file is cut off here",
        ),
    ],
)
def test_the_rest_of_a_list_that_is_damaged_is_left_out(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "lamps.json"
    path.write_bytes(content)
    first, *_ = complaints(f"jsonl:{path}")
    assert first.message.startswith(f"{path}, {said}")
    assert [page.id for page in pages_of(f"jsonl:{path}")] == ["1"]


def test_a_list_is_the_same_however_it_is_cut_into_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lamps.json"
    path.write_text(json.dumps([{"id": n, "text": "It is red. " * 99} for n in range(2000)]))
    monkeypatch.setattr(records, "BLOCK", 100_000)
    chunks = list(open_corpus(f"jsonl:{path}").chunks())
    assert len(chunks) > 10
    assert [page.id for chunk, _ in chunks for page in chunk] == [str(n) for n in range(2000)]


def test_an_item_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LONGEST", 1 << 20)
    path = tmp_path / "lamps.json"
    path.write_bytes(b'[{"id": "' + b"x" * (1 << 21))
    assert "an item is longer than 1 MiB" in refusal(f"jsonl:{path}")


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


@pytest.mark.parametrize("written", ["id", "id=", "name=x", "id=a,id=b", "id=a,", "=x"])
def test_fields_that_cannot_be_used_are_refused(written: str) -> None:
    with pytest.raises(BadSource, match=r"cannot be used\..*--fields id=_id,text=contents"):
        Fields.read(written)


def test_only_records_have_fields_and_only_folders_have_passwords(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="vital: has no encrypted files"):
        open_corpus("vital", password="secret")
    with pytest.raises(BadSource, match="folder: has no fields to name"):
        open_corpus(f"folder:{tmp_path}", Fields.read("id=_id"))


def test_a_fever_page_with_a_sentence_id_beyond_reason_is_left_out(tmp_path: Path) -> None:
    for number in ("100001", "9" * 5000):
        records = [
            {"id": "Huge", "text": "", "lines": f"{number}\tIt is huge ."},
            {"id": "Small", "text": "", "lines": "0\tIt is small ."},
        ]
        write_json_lines(tmp_path / "wiki-001.jsonl", *records)
        (complaint,) = complaints(f"fever:{tmp_path}")
        assert f"line 1: sentence id {number[:12]}." in complaint.message
        assert [page.id for page in pages_of(f"fever:{tmp_path}")] == ["Small"]


@cases("json_lines", "content", "expected")
def test_a_bad_line_is_named_with_its_file_and_number_and_the_others_are_read(
    tmp_path: Path, content: str, expected: str
) -> None:
    """``content``: one character for each byte."""
    path = tmp_path / "notes.jsonl"
    good = b'{"id": "good", "title": "a", "text": "b"}\n'
    path.write_bytes(good + content.encode("latin-1"))
    (complaint,) = complaints(f"jsonl:{path}")
    assert complaint.message.startswith(f"{path}, {expected}")
    assert complaint.hint
    assert "good" in [page.id for page in pages_of(f"jsonl:{path}")]


def test_the_lines_of_a_file_are_the_same_however_they_are_cut_into_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [{"id": str(n), "title": "a", "text": "b " * n} for n in range(200)]
    path = write_json_lines(tmp_path / "notes.jsonl", *records)
    path.write_bytes(path.read_bytes() + b"nonsense")
    whole = pages_of(f"jsonl:{path}"), complaints(f"jsonl:{path}")
    monkeypatch.setattr(json_lines, "BLOCK", 100)
    corpus = open_corpus(f"jsonl:{path}")
    sizes = [size for _, size in corpus.chunks()]
    assert len(sizes) > 50
    assert sum(sizes) == corpus.size()
    assert (pages_of(f"jsonl:{path}"), complaints(f"jsonl:{path}")) == whole
    assert "line 201: cut off before its end" in whole[1][0].message


def test_a_line_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 1 << 10)
    monkeypatch.setattr(json_lines, "LONGEST", 1 << 20)
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"x" * (1 << 21))
    assert "line 1: longer than 1 MiB" in refusal(f"jsonl:{path}")


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


@pytest.mark.parametrize("kept", [40, 500])
def test_a_zip_that_is_cut_off_or_damaged_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "wiki-pages.zip"
    content = "".join(
        json.dumps(fever_page(f"p{n}", f"0\tIt is number {n * 7919} .")) + "\n" for n in range(900)
    )
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("wiki-001.jsonl", content)
    whole = bytearray(path.read_bytes())
    if kept == 500:  # the list of files is there, what they hold is not
        whole[kept : kept + 90] = bytes(90)
        path.write_bytes(whole)
    else:
        path.write_bytes(whole[:kept])
    assert "is not a zip, or is damaged" in refusal(f"fever:{path}")


def test_a_changed_source_has_another_fingerprint(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "notes.jsonl", {"id": "1", "title": "a", "text": "b"})
    before = open_corpus(f"jsonl:{path}").fingerprint()
    assert open_corpus(f"jsonl:{path}").fingerprint() == before
    write_json_lines(path, {"id": "1", "title": "a", "text": "c"})
    assert open_corpus(f"jsonl:{path}").fingerprint() != before
