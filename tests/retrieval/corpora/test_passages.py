"""A long document is read in passages, a short one as it always was."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import pytest

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page, Passage
from retrieval.corpora.passages import (
    APPENDICES,
    LIMIT,
    WHOLE,
    Block,
    paragraphs,
    passages,
    sections,
)
from tests.support.cases import cases

URL = "https://example.org/lamps"


def read(*blocks: Block, url: str | None = None) -> list[Page]:
    return list(passages("lamps", "Lamps", url, blocks))


def lamp(number: int) -> str:
    """Return a sentence of 40 characters."""
    return f"Lamp number {number:04} stands in the old town."


def text_of(pages: Sequence[Page]) -> str:
    return " ".join(" ".join(page.sentences or ()) for page in pages)


def test_a_short_text_stays_one_page() -> None:
    text = "It is red. \n \n\n\nIt is\nold.\r\n\r\nIt burns "
    assert read(*map(Block, paragraphs(text))) == [
        Page("lamps", "Lamps", None, "It is red. It is old. It burns")
    ]


def test_lines_without_a_mark_at_their_end_or_with_a_number_there_are_sentences() -> None:
    text = "Lamps of 1902\n\nIt is red. It is old.\n\nIt burns."
    assert read(*map(Block, paragraphs(text))) == [
        Page("lamps", "Lamps", None, "", ("Lamps of 1902", "It is red.", "It is old.", "It burns."))
    ]
    rows = ("Town: Varn, 1901: 4, 1902: 2.", "Town: Orrel, 1901: 7, 1902: 5.", "It is so.")
    (page,) = read(*map(Block, rows))
    assert page.sentences == rows


@pytest.mark.parametrize("text", ["", " \n\n ", "a.\u200b\n\n\u0301b", "\n\nx.\n \t\n\u2028\n\ny"])
def test_a_text_without_passages_is_what_cleaning_makes_of_it(text: str) -> None:
    (page,) = read(*map(Block, paragraphs(text)))
    assert (page.text, page.sentences, page.passage) == (clean(text), None, None)


def test_a_text_is_cut_only_beyond_twice_the_limit() -> None:
    sentences = [lamp(n) for n in range(WHOLE // 41 + 1)]
    longest = " ".join(sentences)[:WHOLE]
    (whole,) = read(Block(longest))
    assert (len(whole.text), whole.passage) == (WHOLE, None)
    cut = read(Block(f"{longest} More."))
    assert [page.id for page in cut] == [f"lamps#{n + 1}" for n in range(len(cut))]
    assert len(cut) > 1
    assert [page.passage for page in cut] == [Passage("lamps", n + 1) for n in range(len(cut))]


def test_passages_hold_every_sentence_once_and_none_is_cut() -> None:
    sentences = [lamp(n) for n in range(200)]
    pages = read(Block(" ".join(sentences)))
    assert [s for page in pages for s in page.sentences or ()] == sentences
    sizes = [len(text_of([page])) for page in pages]
    assert max(sizes) <= LIMIT
    # 200 sentences of 40 characters and a space: 7 passages of about the same size.
    assert len(sizes) == 7
    assert min(sizes) > LIMIT // 2


def test_a_passage_ends_with_a_paragraph_where_one_is_near() -> None:
    paragraph = " ".join(lamp(n) for n in range(20))  # 819 characters
    pages = read(*[Block(paragraph)] * 4)
    assert [text_of([page]) for page in pages] == [paragraph] * 4


def test_only_a_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    words = " ".join(["lamps"] * 600)
    pages = read(Block(f"It is old. {words}."))
    assert text_of(pages) == f"It is old. {words}."
    pieces = [sentence for page in pages for sentence in page.sentences or ()]
    assert len(pieces) == 4
    assert all(len(piece) <= LIMIT for piece in pieces)
    assert all(re.fullmatch(r"(lamps ?)+\.?", piece) for piece in pieces[1:])


@cases("passages", "blocks", "url", "pages")
def test_a_document_is_cut_into_passages_of_its_pages_and_sections(
    blocks: list[Any], url: str | None, pages: list[dict[str, Any]]
) -> None:
    """``blocks``: text, section, page and anchor of each."""
    found = read(*(Block(each[0], tuple(each[1]), *each[2:]) for each in blocks), url=url)
    assert [(page.id, page.sentences, page.url) for page in found] == [
        (page["id"], tuple(page["sentences"]), page["url"]) for page in pages
    ]
    assert [page.passage for page in found] == [
        Passage("lamps", number, tuple(page["section"]), page["page"])
        for number, page in enumerate(pages, start=1)
    ]


@cases("headings", "lines", "blocks")
def test_headings_that_nothing_marks_but_a_line_of_their_own(
    lines: list[str], blocks: list[list[str]]
) -> None:
    found = sections(lines, APPENDICES)
    assert [[block.text, " > ".join(block.section)] for block in found] == blocks
    headed = [block for block in found if block.section]
    assert all(block.anchor == block.section[-1].replace(" ", "_") for block in headed)


def test_the_time_is_linear_in_the_length() -> None:
    def seconds(count: int) -> float:
        text = [Block(" ".join(lamp(n) for n in range(50))) for _ in range(count)]
        started = time.process_time()
        assert sum(1 for _ in passages("lamps", "Lamps", None, text)) > count
        return time.process_time() - started

    def least(count: int) -> float:  # a single time is sometimes far too long
        return min(seconds(count) for _ in range(3))

    assert least(1200) < 8 * least(300)  # linear: 4 times; quadratic: 16 times
