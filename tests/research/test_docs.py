"""The tables of the documentation that the code knows (``make docs``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from research.benchmarks.__main__ import BEGIN, README, REPORT
from research.write_doc_tables import between, pages
from retrieval.result import Document
from retrieval.types import FoundBy
from settings import CHECKOUT

REPORTS = CHECKOUT / "research" / "reports"


def test_writing_the_tables_again_changes_nothing() -> None:
    for page, text in pages().items():
        assert page.read_text(encoding="utf-8") == text, f"run make docs to write {page.name}"


def test_a_table_replaces_what_stands_in_its_place() -> None:
    page = "# Page\n\n<!-- table -->\nold\n<!-- to here -->\n\nThe end.\n"
    new = "# Page\n\n<!-- table -->\n\n| a |\n\n<!-- to here -->\n\nThe end.\n"
    assert between(page, "<!-- table -->\n", ["| a |"]) == new
    with pytest.raises(ValueError, match="the page has no <!-- other -->"):
        between(page, "<!-- other -->\n", ["| a |"])


def test_the_benchmarks_have_a_place_in_both_pages() -> None:
    assert BEGIN in README.read_text(encoding="utf-8")
    assert BEGIN in REPORT.read_text(encoding="utf-8")


def test_every_value_of_found_by_is_described() -> None:
    described = Document.model_fields["found_by"].description or ""
    assert all(f"`{name}`" in described for name in get_args(FoundBy))


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


def test_the_index_lists_every_page() -> None:
    index = (CHECKOUT / "docs" / "index.md").read_text(encoding="utf-8")
    pages_of_docs = {path.name for path in (CHECKOUT / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in pages_of_docs if f"]({name})" not in index} == set()


def test_the_list_of_reports_has_every_report() -> None:
    listed = (REPORTS / "README.md").read_text(encoding="utf-8")
    reports = {path.name for path in REPORTS.glob("*.md")} - {"README.md"}
    assert {name for name in reports if f"]({name})" not in listed} == set()


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
