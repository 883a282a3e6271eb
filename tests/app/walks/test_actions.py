"""What a reader does with a verdict."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By

from research.evaluation.claims import read_corpus_claims
from retrieval.result import ClaimResult
from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server


def test_a_reader_disagrees_with_a_reason_edits_the_claim_searches_on_and_takes_it_along(
    walker: Walker,
) -> None:
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

    whole = ClaimResult.model_validate_json(walker.download("JSON").read_bytes())
    assert whole.claim == wrong
    assert "Refuted, about" in walker.download("Markdown").read_text()
    assert wrong in walker.download("CSV").read_text()

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
