"""Headings that nothing marks but a line of their own."""

from __future__ import annotations

from retrieval.corpora.headings import sections
from retrieval.corpora.passages import Block

PORT = "The harbour was enlarged in 1902."
SHIPS = "Forty ships a week sailed to the islands."


def test_a_short_line_before_a_sentence_is_its_heading() -> None:
    assert sections([PORT, "", "Ships", SHIPS, PORT]) == [
        Block(PORT),
        Block(SHIPS, ("Ships",), anchor="Ships"),
        Block(PORT, ("Ships",), anchor="Ships"),
    ]


def test_of_two_headings_the_nearer_one_counts() -> None:
    (block,) = sections(["History", "Early years", PORT])
    assert (block.section, block.anchor) == (("Early years",), "Early_years")


def test_items_of_a_list_stay_but_are_no_headings() -> None:
    items = ["Harbours of the north", "- Ports of the south", "a third long item"]
    assert sections([PORT, *items]) == [Block(PORT), *map(Block, items)]


def test_a_line_that_ends_like_part_of_a_sentence_is_no_heading() -> None:
    lines = ["The harbour has three parts:", "It was built by,"]
    assert sections([lines[0], PORT, lines[1], SHIPS]) == list(
        map(Block, [lines[0], PORT, lines[1], SHIPS])
    )


def test_fragments_below_the_references_are_left_out_and_sentences_stay() -> None:
    fragments = ["See also", "List of ports", "References", "A book on ports", "Ports"]
    assert sections([PORT, *fragments]) == [Block(PORT)]
    assert sections([PORT, "References", SHIPS, "A book on ports", "Trade", PORT]) == [
        Block(PORT),
        Block(SHIPS, ("References",), anchor="References"),
        Block(PORT, ("Trade",), anchor="Trade"),
    ]


def test_a_text_of_short_lines_only_is_kept() -> None:
    assert sections(["Ships", "Harbours"]) == [Block("Ships"), Block("Harbours")]


def test_a_heading_has_at_most_eighty_characters() -> None:
    assert [block.section for block in sections(["A" * 80, PORT])] == [("A" * 80,)]
    assert sections(["A" * 81, PORT]) == [Block("A" * 81), Block(PORT)]


def test_the_link_that_edits_a_section_of_a_wiki_is_no_part_of_its_heading() -> None:
    (block,) = sections(["Lamps[edit | edit source]", "The lamp is red."])
    assert block.section == ("Lamps",)
