"""What is read of files of every format, as their readers mean it: a file in, its sentences out."""

from __future__ import annotations

import re
from pathlib import Path
from unicodedata import normalize

import pytest

from retrieval.corpora.corpus import Page
from retrieval.corpora.folder.tables import row_sentences
from retrieval.corpora.sources import open_corpus
from retrieval.corpora.superscripts import exponent, lowered, marked, unmarked
from retrieval.index.formats.records import record_of
from tests.support.cases import cases

pytestmark = pytest.mark.server

_LOWERED, _RAISED = re.compile(r"_\{([^{}]*)\}"), re.compile(r"\{([^{}]*)\}")


def sentences(folder: Path) -> list[str]:
    """Return the sentences of a folder, each below its headings; those of a short text together."""
    found: list[str] = []
    for chunk, _ in open_corpus(f"folder:{folder}").chunks():
        for page in chunk:
            assert isinstance(page, Page) or "does not see" in page.message
            if isinstance(page, Page):
                above = " > ".join(page.passage.section) + " | " if page.passage else ""
                lines = (page.text,) if page.sentences is None else page.sentences
                found += (f"{above}{line}".removeprefix(" | ") for line in lines)
    return found


@cases("reading", "name", "text", "read")
def test_a_file_is_read_as_its_reader_means_it(
    tmp_path: Path, name: str, text: str, read: list[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert " ".join(sentences(tmp_path)) == " ".join(read)


def test_what_stands_behind_an_empty_box_is_text_and_no_sentence_of_the_index() -> None:
    page = Page("a", "Mill", None, "", ("☐ It has a lift.", "It has a gate."))
    record = record_of(page, ())
    assert record["text"] == "☐ It has a lift. It has a gate."
    assert record["sentences"] == [(1, 17, 31)]


@pytest.mark.parametrize("name", ["Oste\u0301r.txt", "a  b.txt"])
def test_a_file_has_an_id_of_its_own_whatever_form_its_name_has(tmp_path: Path, name: str) -> None:
    for one in (name, "a b.txt"):
        (tmp_path / one).write_text("It is red.", encoding="utf-8")
    found = [page for chunk, _ in open_corpus(f"folder:{tmp_path}").chunks() for page in chunk]
    ids = [page.id for page in found if isinstance(page, Page)]
    assert sorted(ids) == sorted([normalize("NFC", name), "a b.txt"])


@cases("reading", "name", "text", "day")
def test_a_document_is_of_the_day_that_it_says(
    tmp_path: Path, name: str, text: str, day: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (page,) = (page for chunk, _ in open_corpus(f"folder:{tmp_path}").chunks() for page in chunk)
    assert isinstance(page, Page)
    assert page.source.partition(", ")[2].startswith(day)
    assert day in ("modified on", f"as of {page.date}")
    assert (day == "modified on") == (page.date == "")


@cases("reading", "name", "text", "days")
def test_each_text_of_a_file_is_of_its_own_day(
    tmp_path: Path, name: str, text: str, days: list[list[str]]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    pages = [page for chunk, _ in open_corpus(f"folder:{tmp_path}").chunks() for page in chunk]
    found = [page for page in pages if isinstance(page, Page)]
    said = [" ".join(page.sentences or [page.text]) for page in found]
    assert [[text, page.date] for text, page in zip(said, found, strict=True)] == days
    assert [f"{page.source}," in f"{name}, as of {page.date}," for page in found] == [
        bool(day) for _, day in days
    ]


@cases("superscripts", "line", "read")
def test_a_line_is_read_with_what_stands_above_and_below_it(line: str, read: str) -> None:
    """In ``line``, what is above it is in {}, and what is below it in _{}."""
    line = _LOWERED.sub(lambda found: lowered(found[1]), line)
    while "{" in line:
        line = _RAISED.sub(lambda found: marked(found[1]), line)
    assert unmarked(line) == read


def test_exponents_of_formulas_have_plain_characters() -> None:
    assert [exponent(text) for text in ("2", "n", "k", "a/b")] == ["²", "ⁿ", "^k", "^(a/b)"]


@cases("tables", "rows", "sentences")
def test_the_first_row_names_the_columns_if_it_looks_like_it(
    rows: list[str], sentences: list[str]
) -> None:
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert list(row_sentences(cells)) == sentences
