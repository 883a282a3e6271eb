"""What was checked so far, by oneself and by others."""

from __future__ import annotations

import csv
import json

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

CLAIM = "Bergen lies on the east coast of Norway."
OTHER = "Radium has the symbol Ra."


def test_somebody_finds_compares_takes_along_and_deletes_what_was_checked(walker: Walker) -> None:
    walker.check(OTHER)
    walker.be_somebody_else()
    walker.open("/claims?whose=yours")
    assert "You have not checked a claim yet." in walker.text("main")
    walker.check(CLAIM)
    walker.open("/")
    walker.fill("#claim", CLAIM)
    walker.choose_recipe("fer")
    walker.see("#claim").click()
    walker.leave(lambda: walker.keys(Keys.ENTER))
    walker.verdict()

    walker.follow("History")
    (group,) = walker.all(".groups > li")
    assert group.text.count(CLAIM) == 1
    assert [one.text for one in walker.all(".by")] == ["fer", "combined"]
    walker.leave(walker.browser.find_element(By.PARTIAL_LINK_TEXT, "Everyone").click)
    assert OTHER in walker.text(".groups")
    walker.fill("#q", "symbol ra")
    walker.press("Filter by verdict, recipe or state")
    walker.see("#verdict [value=SUPPORTS]").click()
    walker.follow("Find")
    assert [one.text for one in walker.all(".groups .said")] == [OTHER]

    walker.follow("Show all")
    walker.follow("Yours")
    assert not walker.named("Compare").is_enabled()
    one, other = walker.all(".groups [name=claim]")
    one.click()
    assert not walker.named("Compare").is_enabled()
    assert walker.named("Export CSV").is_enabled()
    other.click()
    assert walker.text("#how-many") == "2 selected"
    walker.follow("Compare")
    assert walker.text("h1") == CLAIM
    walker.follow("History")
    for box in walker.all(".groups [name=claim]"):
        box.click()
    with walker.download("Export CSV").open(encoding="utf-8-sig", newline="") as table:
        assert [row["recipe"] for row in csv.DictReader(table)] == ["fer", "combined"]
    assert len(json.loads(walker.download("Export JSON").read_text())) == 2
    walker.press("Delete")
    walker.follow("Delete the selected for good")
    assert "You have not checked a claim yet." in walker.text("main")

    walker.check(CLAIM)
    walker.follow("History")
    mine = json.loads(walker.download("Download your data as one file (JSON)").read_text())
    assert CLAIM in json.dumps(mine)
    walker.press("Delete your data")
    walker.follow("Delete my data for good")
    walker.open("/claims?whose=all")
    shown = walker.text(".groups")
    assert CLAIM not in shown
    assert OTHER in shown
    assert_no_complaints(walker.browser)
