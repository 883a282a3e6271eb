"""Choosing the claims of a text, in a real browser."""

from __future__ import annotations

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints, resize, text_of, wait_for, wait_for_element
from tests.app.web_process import WebProcess

pytestmark = [pytest.mark.browser, pytest.mark.server, pytest.mark.models]

TEXT = "Toronto is the capital of Canada. He was born in 1500. I love it! Oslo lies in Norway."


def test_claims_of_a_text_are_counted_edited_and_become_a_list(
    browser: Chrome, web: WebProcess
) -> None:
    browser.get(f"{web.address}/texts")
    browser.find_element(By.ID, "text").send_keys(TEXT)
    browser.find_element(By.CSS_SELECTOR, ".ask button").click()
    wait_for(browser, "document.getElementById('send')", 60)
    assert text_of(browser, "#send") == "Check 2 claims"
    browser.find_element(By.ID, "take-4").click()
    assert text_of(browser, "#send") == "Check 1 claim"
    field = browser.find_element(By.ID, "claim-2")
    field.clear()
    field.send_keys("Charles V was born in 1500.")
    assert text_of(browser, "#send") == "Check 2 claims"
    for width in (320, 768, 1440):
        resize(browser, width)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
    browser.find_element(By.ID, "send").click()
    wait_for(browser, "document.getElementById('list')")
    assert "Charles V was born in 1500." in text_of(browser, ".entries")
    assert "He was born in 1500." in text_of(browser, ".said")
    assert len(browser.find_elements(By.CSS_SELECTOR, ".said .pending")) == 2
    assert_no_complaints(browser)


def test_it_works_without_scripts(browser: Chrome, web: WebProcess) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(f"{web.address}/texts")
    browser.find_element(By.ID, "text").send_keys(TEXT)
    browser.find_element(By.CSS_SELECTOR, ".ask button").click()
    wait_for_element(browser, "#take-3", 60).click()  # the first text loads its model
    assert "it → Toronto" in text_of(browser, ".sentences")
    browser.find_element(By.ID, "send").click()
    wait_for_element(browser, ".entries")
    assert text_of(browser, ".entries").count("\n") > 1
    assert "I love Toronto!" in text_of(browser, ".entries")
