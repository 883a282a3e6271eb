from pathlib import Path
from typing import Any

import pytest

from retrieval.corpora.folder import ocr, pdf
from retrieval.corpora.folder.document import Unreadable
from retrieval.corpora.folder.letters import Letter
from retrieval.corpora.folder.segments import segments
from retrieval.corpora.passages import passages
from retrieval.words import BY_OCR, OCR_NOTE
from tests.retrieval.corpora.pdf_files import drawn, font_with, form_of, pdf_of, scanned_of
from tests.support.cases import cases


def paragraphs(folder: Path, *pages: bytes) -> list[str]:
    """Return the paragraphs of a PDF with these content streams."""
    (folder / "a.pdf").write_bytes(pdf_of([], more=pages))
    return [block.text for block in pdf.read(folder / "a.pdf").blocks]


@cases("pdf", "pieces", "lines", "read")
def test_a_page_is_read_as_it_is_printed(
    tmp_path: Path, pieces: list[tuple[float, float, float, str]], lines: str, read: list[str]
) -> None:
    """``pieces``: left, foot, size and text of each; ``lines``: more operators of the page."""
    assert paragraphs(tmp_path, drawn(*pieces) + f" {lines}".encode()) == read


@cases("pdf", "pages", "characters", "read")
def test_pages_are_read_one_after_the_other_below_their_headings(
    tmp_path: Path, pages: list[Any], characters: dict[str, int], read: list[list[str]]
) -> None:
    """``pages``: the pieces of each; ``characters``: what the font says that it shows for some."""
    streams = [drawn(*pieces) for pieces in pages]
    font = font_with(characters) if characters else b""
    (tmp_path / "a.pdf").write_bytes(pdf_of([], more=streams, font=font))
    found = pdf.read(tmp_path / "a.pdf").blocks
    assert [[" > ".join(block.section), block.text] for block in found] == read


@pytest.mark.parametrize("clause", [[], [(40, "2. Duties")]])
def test_an_item_is_read_below_the_one_that_it_is_in(
    tmp_path: Path, clause: list[tuple[int, str]]
) -> None:
    lines = [
        (50, "The tenant must:"),
        (62, "• pay the rent on the first day of each month"),
        (62, "• not, without the consent of the owner:"),
        (80, "* keep dogs or other large animals in the house"),
        (80, "* let the rooms below the roof to other people"),
        (62, "• sweep the stairs"),
    ]
    whole = [*clause, *lines]
    pieces = [(left, 700 - 14 * at, 10, text) for at, (left, text) in enumerate(whole)]
    (tmp_path / "a.pdf").write_bytes(pdf_of([], more=[drawn(*pieces)]))
    found = passages("a.pdf", "Lease", None, pdf.read(tmp_path / "a.pdf").blocks)
    read = [(page.passage.section, page.sentences) for page in found if page.passage]
    tenant, consent = "The tenant must:", "• not, without the consent of the owner:"
    above = tuple(text for _, text in clause)
    assert read == [
        (above, (tenant,)),
        ((*above, tenant), (lines[1][1], consent)),
        ((*above, tenant, consent), (lines[3][1], lines[4][1])),
        ((*above, tenant), (lines[5][1],)),
    ]


def test_numbers_that_are_no_sentences_are_counted_and_named(tmp_path: Path) -> None:
    lines = ("12 14 15", "Table 3", "1 Introduction", "May 9", "2.1 Lamps", "7", "Fig. 2.", "Rowan")
    text = (50, 750, 10, "All of them burned oil in those years.")
    page = drawn(text, *((50, 700 - 40 * at, 10, line) for at, line in enumerate(lines)))
    (tmp_path / "a.pdf").write_bytes(pdf_of(["It is red."], more=[page]))
    (part,) = pdf.read(tmp_path / "a.pdf").unread
    assert part.where == "page 2"
    assert part.message.startswith("not read: 2 short lines with numbers")
    assert '"12 14 15"' in part.message


def test_the_letters_of_a_ligature_are_parts_of_one_word() -> None:
    # PDFium gives each of them the place of the whole.
    places = [("o", 50, 55), ("f", 55, 63.5), ("f", 55, 63.5), ("i", 55, 63.5), ("ce", 63.5, 74)]
    (segment,) = segments([Letter(text, left, right, 700, 10) for text, left, right in places])
    assert segment.text == "office"


PROSE = (
    "In that year the keeper of/the lamp lit it on 212 days,/and it went out 31 times/in the storms"
    " of the winter./The town paid 1,400 crowns/for the oil, and the keeper/was given the old house"
    " at/the harbour for his work."
)


def test_words_in_the_margin_make_no_table(tmp_path: Path) -> None:
    lines = PROSE.split("/")
    prose = [(120, 700 - 12 * n, 10, line) for n, line in enumerate(lines)]
    margin = [(50, 700, 10, "Lamps"), (50, 664, 10, "171")]
    assert " ".join(lines) in " ".join(paragraphs(tmp_path, drawn(*margin, *prose)))
    page = drawn(
        (50, 700, 10, "The lamp burned on 164, 163, 165 and 167 days of these years."),
        *((140, 700, 10, "2640"), (50, 650, 10, "Total 12")),
    )
    text = " ".join(paragraphs(tmp_path, page)).split()
    assert {"164,", "163,", "165", "167", "2640", "12"} == {w for w in text if w[0].isdigit()}


def test_cut_words_are_joined_and_forms_read_after_their_labels(tmp_path: Path) -> None:
    page = (
        "The co-worker and the lamp-\nlighter of Smith-\nJones saw it in 1914-\n18. A co-\nworker"
        " of a non-\nfatal fall said so. The lamplighter is old."
    )
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of([page]))
    assert " ".join(block.text for block in pdf.read(path).blocks) == (
        "The co-worker and the lamplighter of Smith-Jones saw it in 1914-18. A co-worker of a"
        " non-fatal fall said so. The lamplighter is old."
    )
    fields = [("Sum for the lamp:", "1,400 crowns"), ("Place of the lamp:", "the mill of Rowan")]
    path.write_bytes(form_of(fields))
    read = [block.text for block in pdf.read(path).blocks]
    assert read == [f"{label} {value}." for label, value in fields]


def test_without_ocr_a_scan_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.pdf").write_bytes(scanned_of("The lamp is red."))
    with pytest.raises(Unreadable, match="a scanned picture, and OCR is not installed") as caught:
        pdf.read(tmp_path / "a.pdf")
    assert "apt install tesseract-ocr" in caught.value.hint
    with pytest.raises(Unreadable, match="no sentence, only fragments of text"):
        paragraphs(tmp_path, drawn((50, 700, 10, "Name"), (50, 650, 10, "Place")))


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
