"""A long document is read in passages, a short one as it always was."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page, Passage, readable_pages
from retrieval.corpora.passages import (
    APPENDICES,
    LIMIT,
    WHOLE,
    Block,
    paragraphs,
    passages,
    sections,
)
from retrieval.corpora.sources import open_corpus
from retrieval.corpora.wiki.vital import VitalCorpus
from tests.support.cases import cases
from tests.support.json_lines import write_json_lines

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


def test_a_paragraph_of_a_short_text_that_does_not_end_like_a_sentence_is_one() -> None:
    text = "Lamps of 1902\n\nIt is red. It is old.\n\nIt burns."
    assert read(*map(Block, paragraphs(text))) == [
        Page("lamps", "Lamps", None, "", ("Lamps of 1902", "It is red.", "It is old.", "It burns."))
    ]


def test_rows_that_end_with_a_number_are_sentences_of_their_own() -> None:
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


def test_no_introduction_of_the_default_corpus_would_be_cut() -> None:
    pages = list(readable_pages(VitalCorpus()))
    again = [list(passages(p.id, p.title, p.url, [Block(p.text)])) for p in pages]
    assert again == [[page] for page in pages]


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


def test_a_sentence_does_not_continue_in_the_next_paragraph() -> None:
    (page,) = read(Block("a red lamp", page=1), Block("a blue lamp", page=1))
    assert page.sentences == ("a red lamp", "a blue lamp")


def test_only_a_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    words = " ".join(["lamps"] * 600)
    pages = read(Block(f"It is old. {words}."))
    assert text_of(pages) == f"It is old. {words}."
    pieces = [sentence for page in pages for sentence in page.sentences or ()]
    assert len(pieces) == 4
    assert all(len(piece) <= LIMIT for piece in pieces)
    assert all(re.fullmatch(r"(lamps ?)+\.?", piece) for piece in pieces[1:])


def test_a_text_without_spaces_is_cut_at_the_limit() -> None:
    assert [len(page.sentences[0]) for page in read(Block("x" * 3000)) if page.sentences] == [
        1200,
        1200,
        600,
    ]


def test_a_document_of_one_page_keeps_its_id_and_knows_its_page() -> None:
    (page,) = read(Block("It is red.", page=1), url=URL)
    assert page.id == "lamps"
    assert page.url == f"{URL}#page=1"
    assert page.passage == Passage("lamps", 1, (), 1)


def test_a_passage_never_spans_two_pages_however_short() -> None:
    pages = read(Block("One.", page=1), Block("Two.", page=3), Block("Three.", page=3), url=URL)
    assert [(page.id, text_of([page]), page.url) for page in pages] == [
        ("lamps#1", "One.", f"{URL}#page=1"),
        ("lamps#2", "Two. Three.", f"{URL}#page=3"),
    ]
    assert [page.passage for page in pages] == [
        Passage("lamps", 1, (), 1),
        Passage("lamps", 2, (), 3),
    ]
    assert {page.title for page in pages} == {"Lamps"}


def test_a_section_has_passages_of_its_own_with_the_address_of_its_heading() -> None:
    long = " ".join(lamp(n) for n in range(10))
    pages = read(
        Block(long),
        Block(long, ("History",), None, "history"),
        Block(long, ("History", "Early years"), None, "early years"),
        url=f"{URL}#top",
    )
    assert [(page.passage and page.passage.section, page.url) for page in pages] == [
        ((), f"{URL}#top"),
        (("History",), f"{URL}#history"),
        (("History", "Early years"), f"{URL}#early%20years"),
    ]


def test_each_section_keeps_its_headings_however_short_it_is() -> None:
    pages = read(Block("It is red.", ("Lamps", "Red")), Block("Blue", ("Lamps", "Lost")))
    assert [(text_of([page]), page.passage and page.passage.section) for page in pages] == [
        ("It is red.", ("Lamps", "Red")),
        ("Blue", ("Lamps", "Lost")),
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


def test_a_long_document_of_json_lines_is_read_in_passages(tmp_path: Path) -> None:
    text = " ".join(lamp(n) for n in range(100))
    path = write_json_lines(
        tmp_path / "notes.jsonl",
        {"id": "1", "title": "Lamps", "text": text, "url": URL},
        {"id": "2", "title": "Lamp", "text": "It is red."},
    )
    *long, short = readable_pages(open_corpus(f"jsonl:{path}"))
    assert [page.id for page in long] == ["1#1", "1#2", "1#3", "1#4"]
    assert {page.url for page in long} == {URL}
    assert text_of(long) == text
    assert short == Page("2", "Lamp", None, "It is red.")
