"""What a person does with the box, with a claim that is checked, and with its verdict."""

from __future__ import annotations

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from research.evaluation.claims import read_corpus_claims
from retrieval.result import ClaimResult
from tests.app.browser import assert_no_complaints, console_messages, resize
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

FOCUSED = "document.activeElement.id === 'claim'"


def test_somebody_types_what_comes_to_mind_and_the_box_knows_what_to_do(walker: Walker) -> None:
    walker.open("/")
    walker.wait(FOCUSED)
    walker.keys("Vienna lies on the Danube.")
    says(walker, "Check")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert walker.verdict() == "Supported"
    first = walker.address()

    # It was checked before; its result is one click away.
    walker.open("/?q=Vienna+lies+on+the+Danube.")
    assert "Supported" in walker.text("#says")
    walker.follow("Show the result")
    assert walker.address() == first

    # A slash leads back into the box, from wherever the focus is.
    walker.follow("ESOTERIC")
    walker.wait(FOCUSED)
    walker.browser.execute_script("document.activeElement.blur()")
    walker.keys("/", "Is Warsaw the capital of Poland?")
    says(walker, "Check “Warsaw is the capital of Poland.”")
    walker.follow("Check “Warsaw is the capital of Poland.”")
    assert walker.verdict() == "Supported"
    assert walker.text("h1") == "Warsaw is the capital of Poland."

    for refused, word in (
        ("Der Eiffelturm steht in Paris und ist ein Turm aus Eisen.", "English"),
        ("https://example.org/news/tower", "link"),
    ):
        walker.open("/")
        walker.wait(FOCUSED)
        walker.keys(refused)
        walker.wait("document.querySelector('#claim-problem')")
        assert word in walker.text("#claim-problem")
        walker.leave(lambda: walker.keys(Keys.ENTER))
        assert word in walker.text("#claim-problem")
        assert walker.see("#claim").get_attribute("value") == refused
    assert walker.named("Check it anyway").is_displayed()
    console_messages(walker.browser)  # the browser notes that these were refused

    walker.write_in_box("Bees make honey.\nHamlet is set in Denmark.")
    says(walker, "Check 2 claims")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert "of 2 claims" in walker.text(".figures")

    walker.write_in_box("Tea came to Europe from China. It is a hot drink.")
    says(walker, "Choose claims")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert walker.text("h1") == "Choose claims"
    assert_no_complaints(walker.browser)


def says(walker: Walker, words: str) -> None:
    walker.wait(f"document.getElementById('check').textContent === '{words}'")


# The page of a claim fills in where it is

COUNT_SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
A_SMALL_SHIFT = 0.02  # a fifth of what web.dev calls good


def test_somebody_watches_a_check_and_nothing_jumps(walker: Walker) -> None:
    browser, width = walker.browser, 320
    added = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": COUNT_SHIFTS}
    )
    resize(browser, width)
    walker.write_in_box("Marie Curie was born in Paris.")
    with walker.service.held_worker():
        walker.leave(lambda: walker.keys(Keys.ENTER))
        address = browser.current_url
        browser.execute_script("window.sameDocument = true")
        slot = walker.see(".slot").rect
    walker.verdict()
    assert browser.execute_script("return window.sameDocument")
    assert browser.current_url == address
    block = walker.see(".verdict").rect
    assert [block[key] for key in ("x", "y", "width")] == [slot[key] for key in ("x", "y", "width")]
    assert browser.switch_to.active_element.get_attribute("id") == "verdict"
    assert browser.execute_script("return scrollY") == 0
    assert "Warsaw" in walker.text(".verdict")
    walker.press("How it was found")
    looked = walker.see(".trail .looked summary")
    assert "Curie" in looked.text
    assert not walker.see(".trail .stages").is_displayed()
    looked.click()
    assert walker.see(".trail .looked .stages").is_displayed()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return window.shifts") < A_SMALL_SHIFT
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert_no_complaints(browser)


def test_somebody_without_scripts_checks_agrees_searches_on_and_deletes(walker: Walker) -> None:
    browser = walker.browser
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    walker.open("/")
    walker.see("#claim").send_keys("Penguins can fly.")
    with walker.service.held_worker():
        walker.see("#check").click()
        walker.see("#progress")
        browser.find_element(By.PARTIAL_LINK_TEXT, "every two seconds").click()
        browser.find_element(By.LINK_TEXT, "Stop reloading")
    # From here on the page reloads itself.
    walker.see(".verdict.refuted")
    first = browser.current_url
    walker.named("Yes").click()
    assert "You agree" in walker.see(".given").text
    walker.press("More")
    walker.named("Search further").click()
    WebDriverWait(browser, 60, 0.05).until(lambda _: "#" not in browser.current_url)
    assert browser.current_url != first
    browser.get(first)
    walker.press("More")
    walker.press("Delete this claim")
    walker.named("Delete for good").click()
    walker.see(".groups")
    assert first.rpartition("/")[2] not in browser.page_source


# What a reader does with a verdict


def test_a_reader_disagrees_edits_the_claim_searches_on_and_takes_it_along(walker: Walker) -> None:
    browser = walker.browser
    wrong = "Tea came to Europe from Brazil."
    assert walker.check(wrong) == "Refuted"
    first = walker.address()

    assert walker.text("#verdict").startswith("No")
    walker.follow("Yes")
    assert "You agree" in walker.text(".given")
    walker.press("No")
    walker.see("[name=label][value='NOT ENOUGH INFO']").click()
    walker.see("[name=wrong]").click()
    walker.fill("#note", "The ships say so.")
    walker.follow("Save")
    assert "You disagree: it should be “not settled”" in walker.text(".given")

    granted = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": granted})
    walker.press("More")
    walker.press("Copy link")
    walker.wait("document.getElementById('copied').textContent === 'Link copied'")
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == walker.service.address + first

    whole = ClaimResult.model_validate_json(walker.download("For programs (JSON)").read_bytes())
    assert whole.claim == wrong
    assert "Refuted, about" in walker.download("Text (Markdown)").read_text()
    assert wrong in walker.download("Table (CSV)").read_text()

    walker.follow("Edit the claim")
    walker.wait("document.activeElement.id === 'claim'")
    chosen = browser.execute_script(
        "const f = document.getElementById('claim');"
        "return f.value.slice(f.selectionStart, f.selectionEnd)"
    )
    assert "Brazil" in chosen  # what the evidence contradicts is typed over
    walker.fill("#claim", "Tea came to Europe from China.")
    walker.send()
    assert walker.verdict() == "Supported"
    walker.follow(wrong)
    assert walker.address() == first

    walker.press("More")
    walker.follow("Search further")
    assert walker.verdict() == "Refuted"
    assert walker.address() != first
    walker.follow("an earlier check of this claim")
    assert walker.address() == first

    walker.follow("Your feedback")
    assert "The ships say so." in walker.text(".note")
    file = walker.download(browser.find_element(By.PARTIAL_LINK_TEXT, "--claims").text)
    (said,) = (one for one in read_corpus_claims(file) if one.text == wrong)
    assert said.label == "NOT ENOUGH INFO"
    assert_no_complaints(browser)
