"""Choosing the claims of a text, in a real browser."""

from __future__ import annotations

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.app.browser import text_of, wait_for_element
from tests.app.web_process import WebProcess

pytestmark = [pytest.mark.browser, pytest.mark.server, pytest.mark.models]

TEXT = "Toronto is the capital of Canada. He was born in 1500. I love it! Oslo lies in Norway."


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
