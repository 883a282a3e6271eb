"""The rows of a list in a real browser: opened in place, also while the list goes on."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints, resize, text_of, wait_for
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import WorkerByHand
from worker.broker import Queue
from worker.feeder import Feeder
from worker.list_store import ListStore
from worker.lists import NewEntry
from worker.user_store import UserStore

pytestmark = [pytest.mark.browser, pytest.mark.server]

CLAIMS = ("Tea is hot.", "Ice is cold.", "Snow is white.")


def make_list(web: WebProcess) -> str:
    entries = [NewEntry("Line", claim, {}, None) for claim in CLAIMS]
    return ListStore(web.store.database).create("Speech", "combined", entries, None)


def finish(web: WebProcess, claim: str) -> None:
    """Check a row, as the workers do."""
    Feeder(web.store.database, Queue(web.settings, web.store), Event()).look()
    (job,) = [one for one in web.store.recent(9) if one.claim == claim]
    WorkerByHand(web.store).finish(web.store.get(job.id), claim_document(claim))


def test_a_row_opens_by_keyboard_and_stays_open_while_others_end(
    browser: Chrome, web: WebProcess
) -> None:
    address = f"{web.address}/lists/{make_list(web)}"
    finish(web, CLAIMS[0])
    browser.get(address)
    row = browser.find_element(By.CSS_SELECTOR, "#row-1 .opens")
    assert row.get_attribute("aria-expanded") == "false"
    row.send_keys(Keys.ENTER)
    wait_for(browser, "document.querySelector('#row-1-open .entry-sentences')")
    assert row.get_attribute("aria-expanded") == "true"
    opened = text_of(browser, "#row-1")
    assert opened.count("It was built in 1874 by the engineer Ida Holm") == 1  # not its quote too
    assert "Lighthouse of Varn" in opened
    assert browser.switch_to.active_element == row

    finish(web, CLAIMS[1])
    wait_for(browser, "document.querySelector('#row-2 .opens')")
    assert browser.switch_to.active_element == row
    assert "Ida Holm" in text_of(browser, "#row-1-open")
    for width in (320, 768, 1440):
        resize(browser, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    row.send_keys(Keys.SPACE)
    assert text_of(browser, "#row-1-open") == ""
    assert_no_complaints(browser)


def test_when_the_session_has_ended_the_list_and_its_rows_say_so(
    browser: Chrome, tmp_path: Path
) -> None:
    web = WebProcess(tmp_path, ESOTERIC_ACCESS="tokens", ESOTERIC_UPLOADS="no")
    try:
        users = UserStore(web.store.database)
        address = f"{web.address}/lists/{make_list(web)}"
        finish(web, CLAIMS[0])

        def log_in() -> None:
            token = users.add("anna", "operator")
            browser.find_element(By.ID, "token").send_keys(token, Keys.ENTER)
            wait_for(browser, "document.querySelector('#row-1 .opens')")

        browser.get(address)
        log_in()
        users.remove("anna")
        wait_for(browser, "document.querySelector('.problem[role=alert] a')")
        browser.find_element(By.CSS_SELECTOR, "#row-1 .opens").click()
        wait_for(browser, "document.querySelector('#row-1-open a')")
        assert "Log in again" in text_of(browser, "#row-1-open")
        assert not browser.find_elements(By.ID, "token")
        browser.find_element(By.CSS_SELECTOR, "#row-1-open a").click()
        log_in()
        assert browser.current_url == address
        browser.find_element(By.CSS_SELECTOR, "#row-1 .opens").click()
        wait_for(browser, "document.querySelector('#row-1-open .entry-sentences')")
    finally:
        web.close()
