"""Which recipe checks a claim, and in which documents."""

from __future__ import annotations

import csv
import json
from zipfile import ZipFile

import pytest
from selenium.webdriver import Keys

from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

RECIPES = ("admiral", "combined", "esoteric", "fer", "m3")
CLAIM = "The Danube flows into the North Sea."
CLAIMS = ("Chess is played on a board with 64 squares.", "The violin has five strings.")
FORMATS = ("CSV", "LaTeX", "TREC runs", "JSON")


def test_a_researcher_chooses_a_recipe_and_documents_and_compares_all_five(walker: Walker) -> None:
    letters = walker.make_corpus("Letters", ferry_txt=b"The ferry of Skerrow is painted green.")
    walker.write_in_box("The ferry of Skerrow is painted green.")
    assert walker.text(".recipes summary") == "Recipe: combined"
    walker.choose_recipe("esoteric")
    walker.choose_corpora("default", letters)
    assert walker.text("#corpora-chosen") == "library, Letters"
    walker.see("#claim").click()
    with walker.service.held_worker():
        walker.leave(lambda: walker.keys(Keys.ENTER))
        in_line = walker.text(".kicker")
    assert walker.verdict() == "Supported"
    # The same line while the claim is checked and afterwards.
    assert walker.text(".kicker").startswith(in_line)
    for said in ("library", "Letters", "recipe esoteric"):
        assert said in in_line

    walker.follow("Compare recipes")
    compare(walker, CLAIM)
    assert walker.text("h1") == CLAIM
    assert len(walker.all(".compared.ranks th[scope=col]")) >= 1 + len(RECIPES)
    files = {name: walker.download(name) for name in FORMATS}
    with files["CSV"].open(encoding="utf-8-sig", newline="") as table:
        assert {row["recipe"] for row in csv.DictReader(table)} == {*RECIPES}
    assert "\\begin{tabular}" in files["LaTeX"].read_text()
    with ZipFile(files["TREC runs"]) as runs:
        assert {f"{name}/sentences.run" for name in RECIPES} <= {*runs.namelist()}
    assert json.loads(files["JSON"].read_text())

    walker.open("/compare")
    compare(walker, "\n".join(CLAIMS))
    rows = walker.all(".compared.verdicts tbody tr")
    for row, claim, verdict in zip(rows, CLAIMS, ("Supported", "Refuted"), strict=True):
        assert claim in row.text
        assert row.text.count(verdict) == len(RECIPES)
    assert "All 5 recipes give the same verdict on 2 of the 2 claims" in walker.text("#comparison")
    for name in FORMATS:
        assert walker.download(name).stat().st_size
    assert_no_complaints(walker.browser)


def compare(walker: Walker, claims: str) -> None:
    """Check claims with all recipes, and wait until all have ended."""
    walker.fill("#claim", claims)
    walker.choose_corpora("default")
    for box in walker.all("[name=recipe]"):
        if not box.is_selected():
            box.click()
    walker.follow("Compare")
    walker.wait("document.getElementById('status').textContent === 'All checks have ended.'")
