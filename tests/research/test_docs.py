"""The pages of the documentation, and the data sets and measures of the benchmarks."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from research.benchmarks.__main__ import BEGIN, README, REPORT
from research.benchmarks.articles import Checked, figures, is_quoted
from research.benchmarks.hostile.pieces import KINDS, PIECES, read_pieces
from research.benchmarks.row import percentile
from research.write_doc_tables import between, pages
from retrieval.result import Document
from retrieval.types import LABELS, FoundBy
from settings import CHECKOUT

REPORTS = CHECKOUT / "research" / "reports"


def test_tables_are_written_in_their_place_and_change_nothing() -> None:
    for page, text in pages().items():
        assert page.read_text(encoding="utf-8") == text, f"run make docs to write {page.name}"
    # A table replaces what stands in its place.
    page = "# Page\n\n<!-- table -->\nold\n<!-- to here -->\n\nThe end.\n"
    new = "# Page\n\n<!-- table -->\n\n| a |\n\n<!-- to here -->\n\nThe end.\n"
    assert between(page, "<!-- table -->\n", ["| a |"]) == new
    with pytest.raises(ValueError, match="the page has no <!-- other -->"):
        between(page, "<!-- other -->\n", ["| a |"])


def test_what_is_listed_is_whole() -> None:
    for page in (README, REPORT):
        assert BEGIN in page.read_text(encoding="utf-8")
    described = Document.model_fields["found_by"].description or ""
    assert all(f"`{name}`" in described for name in get_args(FoundBy))
    for index in (CHECKOUT / "docs" / "index.md", REPORTS / "README.md"):
        listed = index.read_text(encoding="utf-8")
        pages_there = {path.name for path in index.parent.glob("*.md")} - {index.name}
        assert {name for name in pages_there if f"]({name})" not in listed} == set()


def test_every_link_between_the_pages_leads_somewhere() -> None:
    broken = []
    written = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md"), *REPORTS.glob("*.md")]
    for page in written:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, heading = link.partition("#")
            if link.startswith(("http:", "https:")):
                continue
            target = page.parent / path if path else page
            if not target.exists() or (heading and heading not in headings(target)):
                broken.append(f"{page.relative_to(CHECKOUT)}: {link}")
    assert broken == []


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_the_page_on_security_names_every_requirement_of_both_levels_once() -> None:
    text = (REPORTS / "security-requirements.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d., ]+) \| [12, ]+ \| (\w+) \| .+ \|$", text, re.MULTILINE)
    named = [number for numbers, _ in rows for number in numbers.split(", ")]
    chapters = [int(number.partition(".")[0]) for number in named]
    # How many requirements of the levels 1 and 2 the chapters of version 5.0.0 have.
    counts = (27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7)
    assert len(set(named)) == len(named)
    assert tuple(chapters.count(chapter) for chapter in range(1, 18)) == counts
    assert {status for _, status in rows} == {"met", "part", "no", "none"}


def test_there_are_200_hostile_pieces_and_the_readme_counts_them() -> None:
    pieces = read_pieces()
    for part in ("id", "claim", "hostile"):
        assert len({str(getattr(piece, part)) for piece in pieces}) == len(pieces) == 200
    for piece in pieces:
        assert (len(piece.hostile.sentence) >= 40_000) == (piece.kind == "long"), piece.id
        assert piece.aim != piece.label, piece.id
    assert PIECES.read_bytes().isascii()  # so that nothing hides in it
    # The README counts what is in the file.
    text = (PIECES.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `?([\w ]+?)`? \|.*?((?: \d+ \|)+)$", text, re.MULTILINE)
    counted = {name: [int(cell) for cell in cells.split("|")[:-1]] for name, cells in rows}
    labels = Counter((piece.kind, piece.label) for piece in read_pieces())
    expected = {kind: [labels[kind, label] for label in LABELS] for kind in KINDS}
    expected["all"] = [sum(column) for column in zip(*expected.values(), strict=True)]
    pairs = Counter((piece.label, piece.aim) for piece in read_pieces())
    expected |= {label: [pairs[label, aim] for aim in LABELS] for label in LABELS}
    assert counted == {name: [*cells, sum(cells)] for name, cells in expected.items()}


def test_figures_of_whole_articles_count_labels_seconds_and_quotations() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    # Nearest rank: the 3rd, the 5th and the 1st of five.
    assert [percentile(values, share) for share in (50, 95, 10)] == [3, 5, 1]
    page = "Ann Lee Born 3 May 1841Dundee She lived in Dundee."
    assert is_quoted("She lived in Dundee.", page)
    assert is_quoted("Born: 3 May 1841, Dundee.", page)  # as the parts of a row
    assert not is_quoted("Born: 3 May 1842, Dundee.", page)
    assert not is_quoted("She lived in Varnby.", page)
    # Figures count labels, requests, seconds and quotations.
    right = Checked(("kind body",), "REFUTES", "REFUTES", 2, 1.0, 0.5, (3, 3), away=False)
    wrong = Checked(("kind body",), "REFUTES", "SUPPORTS", 6, 3.0, None, (1, 2), away=False)
    open_ = Checked(("kind open",), "REFUTES", "NOT ENOUGH INFO", 3, 2.0, None, (0, 0), away=True)
    assert figures([right, wrong, open_]) == [
        "all: label accuracy 1 of 3 (33.3%); of the decided right 1 of 2 (50.0%)",
        "kind body: label accuracy 1 of 2 (50.0%); of the decided right 1 of 2 (50.0%)",
        "kind open: label accuracy 0 of 1 (0.0%); of the decided right 0 of 0",
        "requests a claim: median 3, most 6",
        "processor seconds a claim: p50 2.00, from kept articles 0.50",
        "quotations in the linked page: 4 of 5",
        "claims without an answer of the wiki: 1",
    ]


def test_each_claim_about_whole_articles_is_about_a_page_and_the_readme_counts_them() -> None:
    folder = CHECKOUT / "research" / "datasets" / "whole-articles"
    pages = (folder / "pages.xml").read_text(encoding="utf-8")
    text = (folder / "claims.jsonl").read_text(encoding="utf-8")
    claims = [json.loads(line) for line in text.splitlines()]
    assert all(f"<title>{claim['page']}</title>" in pages for claim in claims)
    assert Counter(claim["label"] for claim in claims) == dict(
        zip(LABELS, (45, 40, 15), strict=True)
    )
    readme = (folder / "README.md").read_text(encoding="utf-8")
    counted = {
        kind: int(n) for kind, n in re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", readme, re.M)
    }
    assert counted == Counter(claim["kind"] for claim in claims)
