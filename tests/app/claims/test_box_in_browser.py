"""The box and the page of a list in a real browser."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.app.browser import assert_no_complaints, text_of, wait_for, wait_for_element
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import WorkerByHand
from worker.broker import Queue
from worker.feeder import Feeder
from worker.job_store import JobStore

pytestmark = pytest.mark.browser

FOCUSED = "document.activeElement.id === 'claim'"


def type_into(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def button_says(words: str) -> str:
    return f"document.getElementById('check').textContent === '{words}'"


def test_the_box_has_the_focus_and_says_what_it_will_do_while_one_types(
    browser: Chrome, web: WebProcess
) -> None:
    browser.get(web.address)
    wait_for(browser, FOCUSED)
    type_into(browser, "Is tea hot?")
    wait_for(browser, button_says("Check “Tea is hot.”"))
    browser.find_element(By.ID, "check").click()
    wait_for(browser, "document.getElementById('progress')")
    assert text_of(browser, "h1") == "Tea is hot."
    assert_no_complaints(browser)


def test_a_slash_leads_to_the_box(browser: Chrome, web: WebProcess) -> None:
    browser.get(web.address)
    wait_for(browser, FOCUSED)
    browser.execute_script("document.activeElement.blur()")
    type_into(browser, "/", "a/b")
    assert browser.find_element(By.ID, "claim").get_attribute("value") == "a/b"


def test_a_list_that_is_typed_fills_in_while_it_is_checked(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    browser.get(web.address)
    wait_for(browser, FOCUSED)
    type_into(browser, "Tea is hot.")
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    type_into(browser, "Ice is cold.")
    wait_for(browser, button_says("Check 2 claims"))
    type_into(browser, Keys.ENTER)
    wait_for(browser, "document.getElementById('list')")
    assert text_of(browser, ".figures") == "0 of 2 claims"
    queue = Queue(web.settings, store)
    feeder = Feeder(store.database, queue, None)  # type: ignore[arg-type]
    feeder.look()
    for listed in store.recent(9):
        worker.finish(store.get(listed.id), claim_document(listed.claim))
    feeder.look()
    queue.close()
    wait_for(browser, "document.getElementById('list').dataset.state === 'done'")
    assert text_of(browser, ".figures") == "2 of 2 claims"
    assert text_of(browser, "[data-part=filters]").split() == ["All", "2", "Supported", "2"]
    wait_for_element(browser, "#row-1 .opens").click()
    wait_for_element(browser, "#row-1-open a[href^='/claims/']").click()
    wait_for(browser, "document.querySelector('.verdict')")
    assert_no_complaints(browser)
