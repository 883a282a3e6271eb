"""A real Chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)


def open_chromium(profile: Path) -> Chrome:
    """Start a browser with a fresh profile, or skip (fail where CI is set)."""
    program = next((path for name in _CHROMIUM if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        missing = "Chromium or its driver is not installed (Debian: chromium, chromium-driver)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(driver))


def resize(browser: Chrome, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )


def text_of(browser: Chrome, selector: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, selector).text


def wait_for(browser: Chrome, script: str, seconds: float = 60) -> None:
    """Wait until an expression is true on the page, reloads included."""
    WebDriverWait(browser, seconds, 0.05).until(
        lambda driver: driver.execute_script(f"return Boolean({script})"), script
    )


def wait_for_element(browser: Chrome, selector: str, seconds: float = 60) -> WebElement:
    """Wait for an element, also where the page runs no scripts."""
    try:
        return WebDriverWait(browser, seconds, 0.05).until(
            expected_conditions.presence_of_element_located((By.CSS_SELECTOR, selector)), selector
        )
    except TimeoutException:
        print(f"{browser.current_url} shows:\n{text_of(browser, 'body')}")
        raise


def console_messages(browser: Chrome) -> list[dict[str, object]]:
    """Return the console's messages since the last call."""
    found: list[dict[str, object]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return found


def assert_no_complaints(browser: Chrome) -> None:
    assert console_messages(browser) == []
