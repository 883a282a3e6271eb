from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.corpora.folder import ocr, pdf
from retrieval.corpora.folder.document import Unreadable
from retrieval.corpora.folder.letters import Letter
from retrieval.corpora.folder.segments import segments
from retrieval.words import BY_OCR, OCR_NOTE
from tests.retrieval.corpora.pdf_files import drawn, form_of, pdf_of, scanned_of, with_characters


def grid(
    columns: Sequence[float], rows: Sequence[Sequence[str]], top: float, height: float
) -> list[tuple[float, float, float, str]]:
    """Return the pieces of a table whose columns begin at these places; empty cells are none."""
    return [
        (x, top - height * number, 10, cell)
        for number, row in enumerate(rows)
        for x, cell in zip(columns, row, strict=True)
        if cell
    ]


def paragraphs(folder: Path, *pages: bytes) -> list[str]:
    """Return the paragraphs of a PDF with these content streams."""
    (folder / "a.pdf").write_bytes(pdf_of([], more=pages))
    return [block.text for block in pdf.read(folder / "a.pdf").blocks]


def test_an_exponent_stays_raised_and_the_mark_of_a_note_goes(tmp_path: Path) -> None:
    page = drawn(
        (50, 700, 10, "The lamp cost $45"),
        (131, 704, 6, "3"),
        (138, 700, 10, "in the year of the storm."),
        (50, 650, 10, "It burned 7 x 10"),
        (121, 654, 6, "5"),
        (128, 700 - 50, 10, "litres of oil."),
        (50, 100, 7, "3"),
        (56, 97, 8, "Before the tax of that year."),
    )
    one, two, note = paragraphs(tmp_path, page)
    assert one == "The lamp cost $45 in the year of the storm."
    assert two == "It burned 7 x 10⁵ litres of oil."
    assert note.endswith("Before the tax of that year.")


def test_numbers_above_and_below_the_line_stay_apart_whatever_their_size(tmp_path: Path) -> None:
    page = drawn(
        (50, 700, 10, "It burned 7 x 10"),
        (120, 704, 10, "5"),
        (125.6, 700, 10, " litres of oil."),
        (50, 650, 10, "It has the code 101"),
        (135.1, 648, 6, "2"),
        (141, 650, 10, "in the book of the lamps."),
    )
    assert paragraphs(tmp_path, page) == [
        "It burned 7 x 10⁵ litres of oil.",
        "It has the code 101₂ in the book of the lamps.",
    ]


@pytest.mark.parametrize(("size", "upper", "lower"), [(7, 644, 636), (10, 647, 633)])
def test_a_fraction_in_two_lines_is_read_in_the_line_that_it_stands_in(
    tmp_path: Path, size: float, upper: float, lower: float
) -> None:
    text = ((50, 640, 10, "Of 6"), (78, 640, 10, "lamps were lit."))
    numbers = ((70, upper, size, "3"), (70, lower, size, "4"))
    page = drawn(*text, *numbers) + b" 70 643 m 74 643 l S"
    assert paragraphs(tmp_path, page) == ["Of 6 3/4 lamps were lit."]


def test_a_number_above_a_sum_is_no_fraction(tmp_path: Path) -> None:
    towns = [(50, 670, 10, "Rowan has"), (50, 658, 10, "Alder has"), (50, 644, 10, "Both have")]
    lamps = [(110, 670, 10, "12"), (110, 658, 10, "15"), (110, 644, 10, "27")]
    page = drawn(*towns, *lamps) + b" 109 655 m 122 655 l S"
    assert " ".join(paragraphs(tmp_path, page)) == "Rowan has, 12. Alder has, 15. Both have, 27."


def test_words_with_a_line_through_them_are_not_read(tmp_path: Path) -> None:
    page = drawn(
        (50, 700, 10, "The storm put out"),
        (130, 700, 10, "12"),
        (145, 700, 10, "15 of the lamps of Rowan."),
        (50, 650, 10, "The other lamps burned on until the morning."),
    )
    through, under = b" 0.5 w 130 703 m 141.2 703 l S", b" 50 648 m 250 648 l S"
    chart = b" 20 653 m 500 653 l S"  # a line that goes on where there are no words
    assert paragraphs(tmp_path, page + through + under + chart) == [
        "The storm put out 15 of the lamps of Rowan.",
        "The other lamps burned on until the morning.",
    ]


def test_digits_that_only_the_font_knows_are_read_or_seen_to_be_missing(tmp_path: Path) -> None:
    page = drawn((50, 700, 10, "* It has 15 lamps, 26 taps and 7 doors in the old mill."))
    known = {"1": 0xF731, "2": 0xE001, "6": 0xE002, "7": 0xE003, "*": 0xE004}
    (tmp_path / "a.pdf").write_bytes(with_characters(page, known))
    (block,) = pdf.read(tmp_path / "a.pdf").blocks
    read = "It has 15 lamps, \ufffd\ufffd taps and \ufffd doors in the old mill."
    assert block.text == f"\uf8ff {read}"  # a bullet, which is left out later


def test_a_text_that_is_spaced_out_is_read_by_its_words(tmp_path: Path) -> None:
    page = b"BT /F 11 Tf 4 Tc 50 700 Td (The lamp of Rowan was made in 1931 by Ann.) Tj ET"
    assert paragraphs(tmp_path, page) == ["The lamp of Rowan was made in 1931 by Ann."]


def test_figures_that_stand_apart_are_not_one_number(tmp_path: Path) -> None:
    figures = ((200 + 8 * at, 700, 10, str(at)) for at in range(1, 10))
    page = drawn((50, 700, 10, "The lamps have the numbers"), *figures)
    assert paragraphs(tmp_path, page) == ["The lamps have the numbers 1 2 3 4 5 6 7 8 9"]


def test_rows_of_a_table_are_read_with_their_years(tmp_path: Path) -> None:
    rows = [("House", "1901", "1902"), ("Mill", "3", "12"), ("Old inn of Rowan", "0", "5")]
    page = drawn(
        (50, 750, 10, "The table shows the lamps of the houses:"),
        *grid((50, 200, 300), rows, top=720, height=14),
        (50, 660, 10, "All of them burned oil in those years, and none of them burned gas."),
    )
    assert paragraphs(tmp_path, page) == [
        "The table shows the lamps of the houses:",
        "House: Mill, 1901: 3, 1902: 12.",
        "House: Old inn of Rowan, 1901: 0, 1902: 5.",
        "All of them burned oil in those years, and none of them burned gas.",
    ]


TOWNS = [
    ("Town", "Oil", "Gas", "Oil", "Gas"),
    ("Rowan", "1", "2", "3", "4"),
    ("Elm", "5", "6", "7", "8"),
]
COLUMNS = (50, 200, 260, 330, 390)  # where they begin


def of_towns(*above: tuple[float, float, float, str]) -> bytes:
    """Return a table with texts above the names of its columns, which are at the height 686."""
    rows = grid(COLUMNS, TOWNS, top=686, height=14)
    end = (50, 600, 10, "All of them burned oil in those years, and none of them burned gas.")
    return drawn(*above, *rows, end)


@pytest.mark.parametrize(
    ("places", "rules"),
    [
        ((226, 356), b""),  # in the middle of the columns
        ((200, 330), b""),  # at their left
        ((210, 375), b" 198 696 m 278 696 l S 328 696 m 408 696 l S"),
    ],
)
def test_a_name_over_several_columns_of_a_table_is_part_of_their_names(
    tmp_path: Path, places: tuple[float, float], rules: bytes
) -> None:
    years = [(x, 700, 10, year) for x, year in zip(places, ("1901", "1902"), strict=True)]
    assert paragraphs(tmp_path, of_towns(*years) + rules)[:2] == [
        "Town: Rowan, 1901 Oil: 1, 1901 Gas: 2, 1902 Oil: 3, 1902 Gas: 4.",
        "Town: Elm, 1901 Oil: 5, 1901 Gas: 6, 1902 Oil: 7, 1902 Gas: 8.",
    ]


def test_a_line_above_a_table_is_no_part_of_the_names_of_its_columns(tmp_path: Path) -> None:
    above = (50, 706, 10, "The lamps of the towns")
    assert paragraphs(tmp_path, of_towns(above))[:2] == [
        "The lamps of the towns",
        "Town: Rowan, Oil: 1, Gas: 2, Oil: 3, Gas: 4.",
    ]


def test_numbers_that_are_no_sentences_are_counted_and_named_and_labels_are_not(
    tmp_path: Path,
) -> None:
    lines = ("12 14 15", "Table 3", "1 Introduction", "May 9", "2.1 Lamps", "7", "Fig. 2.", "Rowan")
    text = (50, 750, 10, "All of them burned oil in those years.")
    page = drawn(text, *((50, 700 - 40 * at, 10, line) for at, line in enumerate(lines)))
    (tmp_path / "a.pdf").write_bytes(pdf_of(["It is red."], more=[page]))
    (part,) = pdf.read(tmp_path / "a.pdf").unread
    assert part.where == "page 2"
    assert part.message.startswith("not read: 2 short lines or rows with numbers")
    assert '"12 14 15"' in part.message


def test_names_of_columns_in_two_lines_are_one(tmp_path: Path) -> None:
    lines = [("", "Number of", "Share of"), ("Town", "lamps", "houses"), ("Rowan", "4", "7%")]
    lines += [("Alder", "5", "8%"), ("Elm", "6", "9%")]
    heights = (697, 686, 670, 654, 638)
    page = drawn(
        *(
            (x, y, 10, cell)
            for y, line in zip(heights, lines, strict=True)
            for x, cell in zip((50, 200, 330), line, strict=True)
            if cell
        )
    )
    assert paragraphs(tmp_path, page)[0] == "Town: Rowan, Number of lamps: 4, Share of houses: 7%."


def test_a_cell_of_several_lines_is_one_where_rules_part_the_rows(tmp_path: Path) -> None:
    rows = [
        [("House",), ("What was seen there",)],
        [("The old mill", "of Rowan"), ("A lamp that burned", "on 12 days")],
        [("The inn",), ("Nothing at all", "in that year")],
        [("The harbour",), ("Two red lamps",)],
    ]
    pieces, rules, height = [], b"", 700
    for row in rows:
        for x, cell in zip((50, 200), row, strict=True):
            pieces += [(x, height - 11 * n, 10, line) for n, line in enumerate(cell)]
        height -= 11 * max(map(len, row)) + 2
        rules += f" 45 {height + 8} m 320 {height + 8} l S".encode()
    assert paragraphs(tmp_path, drawn(*pieces) + rules) == [
        "House: The old mill of Rowan, What was seen there: A lamp that burned on 12 days.",
        "House: The inn, What was seen there: Nothing at all in that year.",
        "House: The harbour, What was seen there: Two red lamps.",
    ]


def test_the_letters_of_a_ligature_are_parts_of_one_word() -> None:
    # PDFium gives each of them the place of the whole.
    places = [("o", 50, 55), ("f", 55, 63.5), ("f", 55, 63.5), ("i", 55, 63.5), ("ce", 63.5, 74)]
    (segment,) = segments([Letter(text, left, right, 700, 10) for text, left, right in places])
    assert segment.text == "office"


def test_a_cell_whose_brackets_end_on_the_next_line_is_one(tmp_path: Path) -> None:
    rows = [
        ("House", "1901", "1902"),
        ("Mill (oil for", "3", "12"),
        ("10 - 20)", "", ""),
        ("Inn", "4", "7"),
    ]
    page = drawn(*grid((50, 200, 300), rows, top=720, height=12))
    assert paragraphs(tmp_path, page) == [
        "House: Mill (oil for 10 - 20), 1901: 3, 1902: 12.",
        "House: Inn, 1901: 4, 1902: 7.",
    ]


LEFT = [
    "In that year the keeper of",
    "the lamp lit it on 212 days,",
    "and it went out 31 times",
    "in the storms of the winter.",
]
RIGHT = [
    "The town paid 1,400 crowns",
    "for the oil, and the keeper",
    "was given the old house at",
    "the harbour for his work.",
]


@pytest.mark.parametrize("order", ["columns", "lines", "reversed"])
def test_columns_are_read_one_after_the_other_however_they_are_drawn(
    tmp_path: Path, order: str
) -> None:
    left, right = (
        grid([x], [[line] for line in lines], top=700, height=12)
        for x, lines in ((50, LEFT), (300, RIGHT))
    )
    pieces = left + right
    if order == "lines":
        pieces = [piece for both in zip(left, right, strict=True) for piece in both]
    if order == "reversed":
        pieces = pieces[::-1]
    above = (
        "This is the report of the council of Rowan on the lamp, for the year 1921, in two parts."
    )
    assert paragraphs(tmp_path, drawn((50, 730, 10, above), *pieces))[-2:] == [
        " ".join(LEFT),
        " ".join(RIGHT),
    ]


def test_words_in_the_margin_do_not_make_a_table_of_the_prose_beside_them(tmp_path: Path) -> None:
    prose = [(120, 700 - 12 * n, 10, line) for n, line in enumerate([*LEFT, *RIGHT])]
    margin = [(50, 700, 10, "Lamps"), (50, 664, 10, "171")]
    assert " ".join([*LEFT, *RIGHT]) in " ".join(paragraphs(tmp_path, drawn(*margin, *prose)))


def test_a_word_that_is_cut_at_the_end_of_a_line_is_written_as_elsewhere(tmp_path: Path) -> None:
    page = (
        "The co-worker and the lamp-\nlighter of Smith-\nJones saw it in 1914-\n18. A co-\nworker"
        " of a non-\nfatal fall said so. The lamplighter is old."
    )
    (tmp_path / "a.pdf").write_bytes(pdf_of([page]))
    text = " ".join(block.text for block in pdf.read(tmp_path / "a.pdf").blocks)
    assert text == (
        "The co-worker and the lamplighter of Smith-Jones saw it in 1914-18. A co-worker of a"
        " non-fatal fall said so. The lamplighter is old."
    )


@pytest.mark.parametrize(
    ("mark", "first", "read"),
    [("10", "A lamp", "A lamp"), ("14", "Bell", "Bell"), ("14", "C", "¹⁴C")],
)
def test_the_mark_of_a_note_goes_as_a_whole_and_that_of_an_isotope_stays(
    tmp_path: Path, mark: str, first: str, read: str
) -> None:
    words = "is told of in the old book of the town."
    page = drawn((50, 704, 6, mark), (57, 700, 10, f"{first} {words}"))
    assert paragraphs(tmp_path, page) == [f"{read} {words}"]


def test_a_note_does_not_come_between_the_lines_of_a_sentence(tmp_path: Path) -> None:
    begun = "The lamp was lit by the keeper of the harbour, who was paid by the town, and"
    ended = "he lit it on 212 days of that year, as the book of the town says."
    note = "His name is in the book of the town."
    first = drawn((50, 140, 10, begun), (50, 100, 7, note))
    second = drawn((50, 700, 10, ended))
    assert paragraphs(tmp_path, first, second) == [f"{begun} {ended}", note]


def test_letters_that_are_moved_apart_a_little_are_one_word(tmp_path: Path) -> None:
    page = b"BT /F 30 Tf 50 700 Td [(H) -120 (arbour lamps of Rowan)] TJ ET"
    assert paragraphs(tmp_path, page) == ["Harbour lamps of Rowan"]


def test_numbers_that_are_printed_over_each_other_are_not_joined(tmp_path: Path) -> None:
    page = drawn(
        (50, 700, 10, "The lamp burned on 164, 163, 165 and 167 days of these years."),
        (140, 700, 10, "2640"),
        (50, 650, 10, "Total 12"),
    )
    text = " ".join(paragraphs(tmp_path, page)).split()
    assert {"164,", "163,", "165", "167", "2640", "12"} == {w for w in text if w[0].isdigit()}


def test_a_text_that_is_printed_sideways_is_read_apart(tmp_path: Path) -> None:
    page = drawn((50, 700, 10, "The lamp of the harbour is red.")) + (
        b" BT /F 10 Tf 0 1 -1 0 580 100 Tm (It was made in Rowan.) Tj ET"
    )
    assert paragraphs(tmp_path, page) == [
        "The lamp of the harbour is red.",
        "It was made in Rowan.",
    ]


def test_the_lines_of_a_text_that_is_mirrored_are_in_order(tmp_path: Path) -> None:
    lines = ["Rowan is an old town with a station", "and a harbour; it has lamps of oil."]
    for look in ("-1 0 0 1 560", "1 0 0 -1 40"):
        up = -1 if look.startswith("1") else 1
        page = " ".join(
            f"BT /F 10 Tf {look} {300 - 14 * up * at} Tm ({line}) Tj ET"
            for at, line in enumerate(lines)
        )
        assert paragraphs(tmp_path, page.encode()) == [" ".join(lines)]


def test_what_is_filled_into_a_form_is_read_after_its_label(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(
        form_of(
            [("Sum for the lamp:", "1,400 crowns"), ("Place of the lamp:", "the mill of Rowan")]
        )
    )
    assert [block.text for block in pdf.read(tmp_path / "a.pdf").blocks] == [
        "Sum for the lamp: 1,400 crowns.",
        "Place of the lamp: the mill of Rowan.",
    ]


def test_without_ocr_a_scanned_page_is_named_with_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.pdf").write_bytes(scanned_of("The lamp is red."))
    with pytest.raises(Unreadable, match="scanned pictures, and OCR is not installed") as caught:
        pdf.read(tmp_path / "a.pdf")
    assert "apt install tesseract-ocr" in caught.value.hint


@pytest.mark.server
@pytest.mark.skipif(not ocr.installed(), reason="needs tesseract")
def test_with_ocr_a_scanned_page_is_read_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(scanned_of("The lamp of the harbour burned on 212 days."))
    (block,) = pdf.read(tmp_path / "a.pdf").blocks
    assert block.text == "The lamp of the harbour burned on 212 days."
    assert block.section == (BY_OCR,)


def test_words_that_ocr_is_not_sure_of_are_left_open() -> None:
    rows = [
        "block_num\tpar_num\tline_num\tleft\ttop\twidth\theight\tconf\ttext",
        *(
            f"1\t1\t1\t{100 + 60 * place}\t50\t50\t20\t{sure}\t{word}"
            for place, (word, sure) in enumerate([("It", 96), ("burned", 91), ("212", 59.9)])
        ),
    ]
    (segment,) = ocr._segments("\n".join(rows), scale=2, height=800)
    assert segment.text == "It burned [?]"
    assert (segment.left, segment.base) == (50, 765)
    assert "less than 60% sure" in OCR_NOTE


def test_a_file_of_fragments_is_not_said_to_be_scanned(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no sentence, only fragments of text"):
        paragraphs(tmp_path, drawn((50, 700, 10, "Name"), (50, 650, 10, "Place")))
