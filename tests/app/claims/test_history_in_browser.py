"""The history in a real browser."""

from __future__ import annotations

import re

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints
from tests.app.web_process import WebProcess
from worker.job_store import JobStore

pytestmark = pytest.mark.browser

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def test_times_are_those_of_the_reader(browser: Chrome, web: WebProcess, store: JobStore) -> None:
    store.submit(CLAIM, "esoteric")
    browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Pacific/Auckland"})
    try:
        browser.get(f"{web.address}/claims")
        time = browser.find_element(By.CSS_SELECTOR, ".runs time")
        assert re.fullmatch(r"\d+ \w+ \d{4}, \d\d:\d\d", time.text)
        hours = browser.execute_script("return new Date(arguments[0].dateTime).getHours()", time)
        assert time.text.endswith(f", {hours:02}{time.text[-3:]}")
        assert "UTC" in str(time.get_attribute("title"))
    finally:
        browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    assert_no_complaints(browser)
