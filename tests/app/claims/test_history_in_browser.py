"""The history and the actions of a result in a real browser."""

from __future__ import annotations

import re

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.app.browser import assert_no_complaints, resize, text_of, wait_for
from tests.app.claim_documents import claim_document, document_with_proof
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import WorkerByHand
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


def test_what_can_be_done_follows_how_many_claims_are_selected(
    browser: Chrome, web: WebProcess, store: JobStore
) -> None:
    for recipe in ("esoteric", "m3"):
        store.submit(CLAIM, recipe)
    resize(browser, 320)
    browser.get(f"{web.address}/claims")
    compare = browser.find_element(By.CSS_SELECTOR, "[value=compare]")
    export = browser.find_element(By.CSS_SELECTOR, "[value=csv]")
    first, second = browser.find_elements(By.NAME, "claim")
    assert (compare.is_enabled(), export.is_enabled()) == (False, False)
    first.click()
    assert (compare.is_enabled(), export.is_enabled()) == (False, True)
    second.click()
    assert text_of(browser, "#how-many") == "2 selected"
    assert compare.is_enabled()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 320
    assert_no_complaints(browser)


def test_a_reader_disagrees_copies_the_link_and_edits_the_claim(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_proof("REFUTES")
    result["proof"][2]["operator"] = "negation"
    result["proof_label"] = "REFUTES"
    job = store.submit(result["claim"], "combined")[0]
    worker.finish(job, result)
    address = f"{web.address}/claims/{job.id}"
    browser.get(address)
    browser.find_element(By.CSS_SELECTOR, ".acts .pane summary").click()
    browser.find_element(By.CSS_SELECTOR, "[name=label][value=SUPPORTS]").click()
    browser.find_element(By.CSS_SELECTOR, "[name=wrong]").click()
    browser.find_element(By.ID, "note").send_keys("It was Ida Holm.")
    browser.find_element(By.CSS_SELECTOR, ".disagree .primary").click()
    wait_for(browser, "document.querySelector('.given')")
    assert "You disagree: it should be “supported”" in text_of(browser, ".given")
    granted = {
        "origin": web.address,
        "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
    }
    browser.execute_cdp_cmd("Browser.grantPermissions", granted)
    browser.find_element(By.ID, "copy-link").click()
    wait_for(browser, "document.getElementById('copied').textContent === 'Link copied'")
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == address
    browser.find_element(By.LINK_TEXT, "Edit the claim").click()
    wait_for(browser, "document.activeElement.id === 'claim'")
    chosen = browser.execute_script(
        "const f = document.getElementById('claim');"
        "return f.value.slice(f.selectionStart, f.selectionEnd)"
    )
    assert chosen == "by Ida Holm"
    assert_no_complaints(browser)


def test_a_claim_without_scripts_has_all_its_actions(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "combined")[0]
    worker.finish(job, claim_document(CLAIM))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(f"{web.address}/claims/{job.id}")
    browser.find_element(By.CSS_SELECTOR, "button[aria-pressed]").click()
    wait = WebDriverWait(browser, 60, 0.05)
    wait.until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".given"))
    assert "You agree." in text_of(browser, ".given")
    browser.find_element(By.XPATH, "//button[starts-with(., 'Search on')]").click()
    wait.until(lambda _: store.recent(1)[0].recipe == "combined+3")
