"""A list, the claims of a speech, the history, and the documents of a user."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints, resize
from tests.app.walks.walker import Walker
from tests.retrieval.corpora.pdf_files import pdf_of

pytestmark = pytest.mark.server

# A list goes on, whatever happens to the page, to the worker and to the documents

TABLE = Path(__file__).with_name("speech.csv").read_text(encoding="utf-8")
DONE = "document.getElementById('list').dataset.state === 'done'"
STATE = "document.querySelector('.figures').textContent"


def test_a_journalist_uploads_a_table_that_comes_back_though_a_worker_dies(walker: Walker) -> None:
    walker.open("/lists")
    walker.attach("#file", speech_csv=TABLE.encode())
    with walker.service.held_worker():
        walker.follow("Check the list")
        assert walker.text("h1") == "speech.csv"
        assert walker.text(".figures").startswith("1 of 14 claims")  # one is no claim in English
    walker.wait("document.querySelector('#row-1 .opens')")
    walker.service.kill_worker()
    walker.follow("Pause")
    assert "paused" in walker.text(".figures")
    walker.follow("Go on")
    walker.wait(f"{STATE}.includes('left') || {DONE}")
    address = walker.address()
    walker.open("/")  # she closes the page, and comes back
    walker.open(address)
    walker.wait(DONE)
    assert walker.text(".figures") == "14 of 14 claims"
    (problem,) = (one for one in walker.all(".entries > li") if "Norwegen" in one.text)
    assert "English" in problem.text
    verdicts = [one.text.partition("\n")[0] for one in walker.all(".entry-verdict")]
    assert verdicts.count("Supported") + verdicts.count("Refuted") == 13

    walker.press("William Shakespeare was born in London.")
    walker.wait("document.querySelector('#row-14-open .entry-sentences')")
    assert "Stratford-upon-Avon" in walker.text("#row-14-open")
    walker.leave(walker.browser.find_element(By.PARTIAL_LINK_TEXT, "Refuted").click)
    assert len(walker.all(".entries > li")) == verdicts.count("Refuted")

    with walker.download("Table (CSV)").open(encoding="utf-8-sig", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [(one["speaker"], one["claim"], one["page"]) for one in rows] == [
        tuple(line.split(",")) for line in TABLE.splitlines()[1:]
    ]
    assert rows[1]["verdict"] == "REFUTES"
    assert "English" in rows[3]["error"]
    lines = walker.download("For programs (JSON lines)").read_text().splitlines()
    assert ["verdict" in json.loads(one) for one in lines].count(False) == 1
    assert walker.download("Excel").read_bytes().startswith(b"PK")
    assert_no_complaints(walker.browser)


# The claims of a speech

SPEECH = (
    "Ottawa is the capital of Canada. It lies on the Ottawa River. What a lovely town!"
    " Canada will win every medal next year. The Eiffel Tower is 500 metres tall."
    " He was born in Warsaw."
)


def test_a_journalist_checks_what_a_speech_says_without_what_nobody_can(walker: Walker) -> None:
    walker.write_in_box(SPEECH)
    walker.wait("document.getElementById('check').textContent === 'Choose claims'")
    walker.follow("Choose claims")
    left_out = {one.text for one in walker.all(".sentences .tag")}
    assert left_out == {"Opinion", "Plan or forecast"}
    claims = [one.get_attribute("value") for one in walker.all(".sentences textarea")]
    assert claims[1] == "Ottawa lies on the Ottawa River."
    assert "The text does not say clearly" in walker.text(".sentences .unclear")
    assert walker.text("#send") == "Check 3 claims"
    walker.see("#take-2").click()
    assert walker.text("#send") == "Check 2 claims"
    walker.see("#take-2").click()
    walker.fill(".sentences li:last-child textarea", "Marie Curie was born in Warsaw.")
    assert walker.text("#send") == "Check 4 claims"
    for width in (320, 768, 1440):
        resize(walker.browser, width)
        wide = walker.browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width

    walker.follow("Check 4 claims")
    walker.wait("document.getElementById('list').dataset.state === 'done'")
    verdicts = [one.text.partition("\n")[0] for one in walker.all(".entry-verdict")]
    assert verdicts == ["Supported", "Supported", "Refuted", "Supported"]
    coloured = [
        (one.get_attribute("class"), one.text.partition("\n")[0])
        for one in walker.all(".said > [class]")
    ]
    assert ("refuted settled", "The Eiffel Tower is 500 metres tall.") in coloured
    assert len(coloured) == 4
    assert "What a lovely town!" in walker.text(".said")
    walker.leave(walker.see(".said .refuted").click)
    assert walker.verdict() == "Refuted"
    assert_no_complaints(walker.browser)


# What was checked so far, by oneself and by others

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


# The documents of a user

PIER = pdf_of(["The pier of Varnby is made of oak.", "The pier of Varnby was opened in 2019."])
LAMP = pdf_of(["The lamp of Varnby shines green."])
MILL = pdf_of(["The mill of Varnby has four sails.", "It grinds rye."])
OPENED = "The pier of Varnby was opened in 2019."
NEWER = pdf_of(["The pier of Varnby is made of oak.", "The pier of Varnby was opened in 2023."])


def test_an_archivist_searches_three_pdfs_and_keeps_them_up_to_date(walker: Walker) -> None:
    walker.open("/documents")
    walker.fill("#title", "Varnby")
    walker.attach("#files", pier_pdf=PIER, lamp_pdf=LAMP, mill_pdf=MILL)
    with walker.service.held_worker():
        walker.follow("Upload")
        assert walker.text("#corpus .files").count("waits to be read") == 3
        assert walker.see("#corpus progress").is_displayed()
    walker.wait_until_indexed()
    assert "Ready" in walker.text("#corpus .facts")
    assert walker.text("#corpus .files").count("passage") == 3
    address = walker.address()

    walker.follow("or in it and the default corpus")
    assert walker.text("#corpora-chosen") == "library, Varnby"
    walker.fill("#claim", OPENED)
    walker.send()
    assert walker.verdict() == "Supported"
    link = walker.see(".evidence .source a").get_attribute("href") or ""
    assert link.endswith("#page=2")
    kind = walker.browser.execute_async_script(
        "fetch(arguments[0]).then(a => arguments[1](a.headers.get('content-type')))", link
    )
    assert kind == "application/pdf"

    walker.open(address)
    walker.fill("#title", "Harbour of Varnby")
    walker.follow("Rename")
    walker.attach("#files", pier_pdf=NEWER)
    walker.follow("Upload")
    walker.wait_until_indexed()
    walker.press("Remove lamp.pdf")
    walker.follow("Remove this file for good: lamp.pdf")
    walker.wait_until_indexed()
    assert walker.text("#corpus .files").count("passage") == 2
    walker.follow("Check a claim in it")
    assert walker.text("#corpora-chosen") == "Harbour of Varnby"
    walker.fill("#claim", OPENED)
    walker.send()
    assert walker.verdict() == "Refuted"

    walker.open(address)
    walker.press("Remove this corpus")
    walker.follow("Remove this corpus for good: Harbour of Varnby")
    assert "Varnby" not in walker.text("main")
    assert_no_complaints(walker.browser)
