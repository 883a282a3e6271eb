"""The pages in a real browser, with a worker that the test controls."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from retrieval.errors import EsotericError, Problem
from retrieval.result import ClaimResult
from retrieval.types import Label
from tests.app.browser import assert_no_complaints, resize, text_of, wait_for
from tests.app.claim_documents import (
    claim_document,
    document_with_a_long_proof,
    document_with_passages,
    document_without_evidence,
)
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP
from worker.broker import Queue
from worker.feeder import Feeder
from worker.jobs import Job
from worker.list_store import ListStore
from worker.lists import NewEntry
from worker.run_store import RunStore
from worker.user_store import UserStore

pytestmark = pytest.mark.browser

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
REFUSED = Problem("claim_link", "x" * 200, "")
QUESTIONS = Path(__file__).with_name("questions.js").read_text(encoding="utf-8")
LONG = "Donaudampfschiff" * 12


def asked(browser: Chrome, question: str, *arguments: object) -> Any:
    """Return what a function of ``questions.js`` says of the page."""
    return browser.execute_script(f"{QUESTIONS}; return {question}(...arguments)", *arguments)


def wait_for_the_job(browser: Chrome, web: WebProcess) -> Job:
    WebDriverWait(browser, 60, 0.05).until(lambda _: web.store.recent(1))
    return web.store.recent(1)[0]


def test_a_claim_goes_from_the_form_to_its_result(browser: Chrome, web: WebProcess) -> None:
    browser.get(web.address)
    browser.find_element(By.ID, "claim").send_keys("tall " * 120 + "tea.")
    wait_for(browser, "document.querySelector('#says #claim-problem')")
    assert "604 characters long; at most 500 can be checked." in text_of(browser, "#says")
    assert not browser.find_element(By.ID, "counter").is_displayed()
    browser.find_element(By.ID, "claim").clear()
    browser.find_element(By.ID, "claim").send_keys(CLAIM)
    WebDriverWait(browser, 60).until(lambda _: text_of(browser, "#counter") == "45 of 500")
    browser.find_element(By.CSS_SELECTOR, "button.primary").click()
    wait_for(browser, "document.getElementById('progress')")
    job = wait_for_the_job(browser, web)
    address = f"{web.address}/claims/{job.id}"
    assert browser.current_url == address
    wait_for(browser, "document.getElementById('waiting').textContent.includes('No worker')")
    browser.execute_script("window.sameDocument = true")
    place = browser.find_element(By.CSS_SELECTOR, ".slot").rect
    run = web.worker.start(job)
    done = web.worker.record(run, FIRST_HOP[:2])
    wait_for(browser, "document.querySelector('#claim-text mark')")
    assert text_of(browser, "#claim-text") == CLAIM
    assert "The Lighthouse of Varn · Ida Holm" in text_of(browser, ".group.looked")
    done = web.worker.record(run, FIRST_HOP[2:5], done)
    wait_for(browser, "document.querySelector('.group.opened.running')")
    assert "Who built the Lighthouse of Varn?" in text_of(browser, ".group.asked")
    assert "to come" in text_of(browser, ".group.read")
    browser.find_element(By.CSS_SELECTOR, ".group.asked summary").click()
    done = web.worker.record(run, FIRST_HOP[5:9], done)
    wait_for(browser, "document.querySelector('.group.read.running .labelled .unsettled')")
    assert "Ostrea similarity 1.00, found by title" in text_of(browser, ".group.opened .found")
    # What the reader has opened stays open.
    assert "built by Ida Holm?" in text_of(browser, ".group.asked ul")
    done = web.worker.record(run, FIRST_HOP[9:], done)
    assert text_of(browser, "#spoken") == ""
    done = web.worker.record(run, SECOND_HOP[:1], done)
    wait_for(browser, "document.querySelector('.group.hop')")
    assert "because “Ida Holm” is not settled: Lighthouse of Varn → Ida Holm" in (
        text_of(browser, ".group.hop")
    )
    wait_for(browser, "document.getElementById('spoken').textContent === 'Round 2'")
    done = web.worker.record(run, SECOND_HOP[1:3], done)
    wait_for(browser, "document.getElementById('so-far').textContent.includes('1 supports')")
    web.worker.record(run, SECOND_HOP[3:], done)
    scrolled = browser.execute_script("return scrollY")
    assert RunStore(web.store.database).finish(
        run, ClaimResult.model_validate(claim_document(CLAIM))
    )
    wait_for(browser, "document.querySelector('.verdict h2')")
    assert browser.execute_script("return window.sameDocument")
    now = browser.find_element(By.CSS_SELECTOR, ".verdict").rect
    assert [now[key] for key in ("x", "y", "width")] == [place[key] for key in ("x", "y", "width")]
    assert browser.switch_to.active_element.get_attribute("id") == "verdict"
    assert browser.execute_script("return scrollY") == scrolled
    # The scripts of the result have run: its times are the reader's.
    wait_for(browser, "!document.querySelector('.found-how time').textContent.includes('UTC')")
    assert browser.current_url == address
    assert "Supported" in text_of(browser, ".verdict .label")
    assert browser.title.startswith(f"Supported: {CLAIM}")
    assert_no_complaints(browser)


def test_who_watches_sees_a_lost_connection_and_a_start(browser: Chrome, web: WebProcess) -> None:
    job = web.store.submit(CLAIM, "esoteric")[0]
    run = web.worker.start(job)
    web.worker.record(run, FIRST_HOP[:3])
    media = "Emulation.setEmulatedMedia"
    reduced = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.execute_cdp_cmd(media, {"features": [reduced]})
    try:
        browser.get(f"{web.address}/claims/{job.id}")
        wait_for(browser, "document.querySelector('tr[data-stage=titles].done')")
        wait_for(browser, "document.querySelector('li.running')")
        assert browser.execute_script("return document.getAnimations().length") == 0
    finally:
        browser.execute_cdp_cmd(media, {"features": []})
    note = browser.find_element(By.ID, "note")
    assert note.get_attribute("textContent") == ""
    assert note.get_attribute("role") == "status"
    # A live region must be on the page, empty, before it gets a text.
    assert note.value_of_css_property("display") != "none"
    assert RunStore(web.store.database).give_back(run)
    web.worker.record(web.worker.start(job), FIRST_HOP[:2])
    wait_for(browser, "document.querySelector('tr[data-stage=titles].running')")
    assert note.text == "Its worker stopped; the claim starts again."
    assert_no_complaints(browser)
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": True})
    wait_for(browser, "!document.getElementById('trouble').hidden")
    assert "ESOTERIC cannot be reached. Trying again automatically." in text_of(browser, "#trouble")
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": False})
    wait_for(browser, "document.getElementById('trouble').hidden")
    web.store.delete(job.id)
    wait_for(browser, "document.body.textContent.includes('It may have been deleted.')")
    wait_for(browser, "!document.getElementById('progress')")


def test_the_keyboard_is_enough(browser: Chrome, web: WebProcess) -> None:
    browser.get(f"{web.address}/claims")
    press(browser, Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the content"
    press(browser, Keys.ENTER)
    wait_for(browser, "document.activeElement.id === 'main'")
    browser.get(web.address)
    wait_for(browser, "document.activeElement.id === 'claim'")
    outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    press(browser, CLAIM, Keys.ENTER)
    wait_for(browser, "document.getElementById('progress')")
    result = claim_document(CLAIM)
    for document in result["documents"]:
        document["text"] += " Its keepers painted the stairs white each spring. " * 3
    web.worker.finish(wait_for_the_job(browser, web), result)
    wait_for(browser, "document.querySelector('.verdict')")
    tab_to(browser, "Lighthouse of Varn\nSupports")
    press(browser, Keys.ENTER)
    tab_to(browser, "whole text")
    rest = browser.find_element(By.CSS_SELECTOR, ".evidence .rest")
    assert not rest.is_displayed()
    press(browser, Keys.ENTER)
    assert rest.is_displayed()
    press(browser, Keys.SPACE)
    assert not rest.is_displayed()
    assert_no_complaints(browser)


def tab_to(browser: Chrome, words: str) -> None:
    """Move the focus with the Tab key to what has these words."""
    for _ in range(40):
        press(browser, Keys.TAB)
        if words in browser.switch_to.active_element.text:
            return
    pytest.fail(f"{words} was not reached")


def test_few_words_stand_above_the_fold_of_a_result(browser: Chrome, web: WebProcess) -> None:
    labels: tuple[Label, ...] = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    for label in labels:
        result = claim_document(CLAIM, label)
        result["evidence"][1] |= {"stance": "REFUTES", "sentence": "Ida Holm never built it."}
        browser.get(web.done(result))
        for width, height, most in ((1440, 900, 120), (375, 812, 80)):
            resize(browser, width)
            assert 20 < asked(browser, "words", width, height) <= most, (width, label)
    result = claim_document(CLAIM, "REFUTES")
    result["evidence"][0]["title"] = "The lighthouse of Varn and its keepers in " * 3
    browser.get(web.done(result))
    assert asked(browser, "flows", "figcaption a")  # 375 pixels: the link has several lines
    folded = web.done(claim_document(CLAIM, "NOT ENOUGH INFO"))
    browser.get(f"{folded}#evidence-2")  # a link to evidence opens what is folded around it
    wait_for(browser, "document.getElementById('evidence-2').closest('details').open")
    assert browser.find_element(By.CSS_SELECTOR, ".evidence:has(#evidence-2) mark").is_displayed()
    assert_no_complaints(browser)


@pytest.fixture
def pages(web: WebProcess) -> list[str]:
    """The paths of the pages, also of claims in all states with words that are too long."""
    jobs = {name: web.store.submit(f"{name} {LONG}", "esoteric")[0] for name in "abcdefgh"}
    result = claim_document(f"a {LONG}")
    result["documents"][1]["text"] += LONG
    result["evidence"][0] |= {"title": LONG, "sentence": LONG}
    result["verdict"]["rationale"] = LONG
    result["questions"][0]["text"] = LONG
    result["corpus"]["name"] = LONG
    web.worker.finish(jobs["a"], result)
    web.worker.finish(jobs["b"], document_without_evidence(f"b {LONG}"))
    web.worker.fail(jobs["c"], EsotericError(LONG, LONG, LONG))
    web.store.cancel(jobs["d"].id)
    proved = document_with_a_long_proof()
    proved |= {"claim": LONG}
    proved["evidence"][0]["sentence"] = LONG
    for mutation in proved["proof"][:2]:
        mutation["claim_span"] = [0, len(LONG)]
    for read in proved["documents"]:
        read["title"] = LONG
    web.worker.finish(jobs["g"], proved)
    passages = document_with_passages()
    for item in (*passages["evidence"], *passages["documents"]):
        item["section"] = LONG
    web.worker.finish(jobs["h"], passages)
    run = web.worker.start(jobs["e"])
    web.worker.record(run, (("start", ""), ("spans", LONG), *FIRST_HOP[2:], *SECOND_HOP[:2]))
    whole = [web.done(one) for one in (document_with_a_long_proof(), document_with_passages())]
    rows = [NewEntry("Row 2", LONG, {LONG: LONG}, None), NewEntry("", LONG, {}, REFUSED)]
    long_list = ListStore(web.store.database).create(LONG, "esoteric", rows, None)
    paths = ["/", "/?q=Is+tea+hot%3F", f"/?q={LONG}", "/api", "/nothing"]
    paths += ["/claims", f"/claims?q={LONG}x", "/lists", f"/lists/{long_list}", "/compare"]
    recipes = ("combined", "admiral", "m3", "fer", LONG[:64])
    five = [web.store.submit(f"i {LONG}", name)[0] for name in recipes]
    for job in five:
        web.worker.finish(job, result | {"claim": job.claim, "recipe": job.recipe})
    compared = ",".join(job.id for job in five)
    paths += [f"/compare?claims={compared}{more}" for more in ("", f",{jobs['a'].id}")]
    paths += [one.removeprefix(web.address) for one in whole]
    return paths + [f"/claims/{job.id}" for job in jobs.values()]


def test_no_page_is_too_wide_and_no_button_too_small(
    browser: Chrome, web: WebProcess, pages: list[str]
) -> None:
    edges = set()  # of the mark in the masthead
    for path in pages:
        browser.get(web.address + path)
        assert_outline(browser, path)
        # Collapsed parts count too.
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (1440, 768, 320):
            resize(browser, width)
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, path
            mark = "return document.querySelector('.brand').getBoundingClientRect().left"
            edges.add((width, browser.execute_script(mark)))
        assert asked(browser, "small") == [], path
    assert len(edges) == 3, edges


def assert_outline(browser: Chrome, path: str) -> None:
    """Headings go down one level at a time, ids are unique, and what can be pressed has a name."""
    levels, ids = asked(browser, "levels"), asked(browser, "ids")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), path
    assert len(ids) == len(set(ids)), path
    assert asked(browser, "nameless") == 0, path


@pytest.fixture
def proof(browser: Chrome, web: WebProcess) -> Chrome:
    """The browser on the page of a claim with a proof in eight parts."""
    browser.get(web.done(document_with_a_long_proof()))
    browser.execute_script(
        "document.querySelectorAll('.found-how details.more').forEach(one => one.open = true)"
    )
    return browser


def part(browser: Chrome, number: int) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, f'.part[href="#part-{number}"]')


def press(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


CARD = "document.querySelector('.part-card:popover-open')"


def test_a_part_is_more_than_its_colour_and_shows_its_evidence(proof: Chrome) -> None:
    described = part(proof, 3).get_attribute("aria-describedby")
    assert described == "part-3"
    evidence = proof.find_element(By.ID, described).get_attribute("textContent") or ""
    assert "“in 1874” in Lighthouse of Varn" in evidence
    assert asked(proof, "lines", 1, 3, 8) == ["solid", "double", "dotted"]
    text = part(proof, 3).get_attribute("textContent") or ""
    assert " ".join(text.split()) == "in 1875 (gives a different answer)"
    assert len(set(asked(proof, "signs", 1, 3, 8))) == 3
    ActionChains(proof).move_to_element(part(proof, 3)).perform()
    wait_for(proof, CARD)
    shown = text_of(proof, ".part-card")
    assert "“in 1874” in Lighthouse of Varn" in shown
    assert part(proof, 3).get_attribute("aria-expanded") == "true"
    # WCAG 2.2, 1.4.13: the pointer may move onto it, and only Escape or leaving closes it.
    link = proof.find_element(By.CSS_SELECTOR, ".part-card a")
    ActionChains(proof).move_to_element(link).pause(0.6).perform()
    assert proof.execute_script(f"return Boolean({CARD})")
    press(proof, Keys.ESCAPE)
    wait_for(proof, f"!{CARD}")
    ActionChains(proof).move_to_element(part(proof, 8)).perform()
    wait_for(proof, CARD)
    assert "None of the selected sentences" in text_of(proof, ".part-card")
    ActionChains(proof).move_to_element(proof.find_element(By.TAG_NAME, "h1")).perform()
    wait_for(proof, f"!{CARD}")
    assert_no_complaints(proof)


def test_the_keyboard_reaches_the_evidence_of_a_part(proof: Chrome) -> None:
    proof.execute_script("arguments[0].focus()", part(proof, 2))
    press(proof, Keys.ESCAPE, Keys.TAB)
    wait_for(proof, CARD)
    assert proof.switch_to.active_element == part(proof, 3)
    # The part that has the focus keeps its card wherever the pointer goes.
    over = ActionChains(proof).move_to_element(part(proof, 5))
    over.move_to_element(proof.find_element(By.TAG_NAME, "h1")).pause(0.6).perform()
    assert "in 1874" in text_of(proof, ".part-card")
    assert part(proof, 3).get_attribute("aria-expanded") == "true"
    press(proof, Keys.ENTER)  # closes what the focus has opened
    wait_for(proof, f"!{CARD}")
    assert part(proof, 3).get_attribute("aria-expanded") == "false"
    press(proof, Keys.ENTER)
    wait_for(proof, CARD)
    assert part(proof, 3).get_attribute("aria-expanded") == "true"
    press(proof, Keys.TAB)
    assert proof.switch_to.active_element.get_attribute("hash") == "#evidence-1"
    press(proof, Keys.ESCAPE)
    wait_for(proof, f"!{CARD}")
    assert proof.switch_to.active_element == part(proof, 3)
    press(proof, Keys.SPACE)
    wait_for(proof, CARD)
    press(proof, Keys.TAB, Keys.ENTER)
    wait_for(proof, f"location.hash === '#evidence-1' && !{CARD}")
    assert_no_complaints(proof)


def test_a_tap_shows_the_evidence_of_a_part_and_another_hides_it(proof: Chrome) -> None:
    finger = PointerInput("touch", "finger")

    def tap(element: WebElement) -> None:
        actions = ActionBuilder(proof, mouse=finger)
        actions.pointer_action.move_to(element).pointer_down().pointer_up()
        actions.perform()

    resize(proof, 320)
    proof.execute_script("arguments[0].scrollIntoView({block: 'center'})", part(proof, 3))
    tap(part(proof, 3))
    wait_for(proof, CARD)
    box = proof.execute_script(f"return {CARD}.getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= proof.execute_script("return document.documentElement.clientWidth")
    tap(part(proof, 3))
    wait_for(proof, f"!{CARD}")
    tap(part(proof, 1))
    wait_for(proof, f"{CARD}?.textContent.includes('Says the same')")
    tap(proof.find_element(By.CSS_SELECTOR, ".proof .summary"))
    wait_for(proof, f"!{CARD}")
    assert_no_complaints(proof)


def test_a_comparison_fills_in_and_keeps_what_is_open(browser: Chrome, web: WebProcess) -> None:
    browser.get(f"{web.address}/compare?claim=Varnby+has+a+harbour.")
    for name in ("combined", "m3"):
        browser.find_element(By.ID, f"recipe-{name}").click()
    browser.find_element(By.CSS_SELECTOR, "button.primary").click()
    wait_for(browser, "document.getElementById('comparison')")
    browser.execute_script("window.sameDocument = true")
    m3, esoteric = (web.store.get(job.id) for job in web.store.recent(2))
    web.worker.finish(esoteric, claim_document(esoteric.claim) | {"recipe": "esoteric"})
    wait_for(browser, "document.querySelector('.compared summary')")
    assert text_of(browser, "#status") == "1 of 2 checks have ended."
    first = browser.find_element(By.CSS_SELECTOR, ".compared summary")
    first.send_keys(Keys.ENTER)
    assert "esoteric: rank 1, used" in text_of(browser, ".compared details ul")
    result = claim_document(m3.claim)
    result["evidence"][1]["selected"] = False
    web.worker.finish(m3, result | {"recipe": "m3"})
    wait_for(browser, "document.getElementById('status').textContent === 'All checks have ended.'")
    assert browser.execute_script("return window.sameDocument")
    assert "m3: rank 1, used" in text_of(browser, ".compared details[open] ul")
    focused = browser.execute_script("return document.activeElement.parentElement.dataset.key")
    assert focused == "Lighthouse of Varn#1"
    shown = ".compared tbody tr:has(details)"
    assert len(browser.find_elements(By.CSS_SELECTOR, shown)) == 4
    browser.find_element(By.ID, "differences").click()
    rows = browser.find_elements(By.CSS_SELECTOR, shown)
    assert ["Ida Holm (1831" in row.text for row in rows if row.is_displayed()] == [True]
    for width in (320, 768, 1440):
        resize(browser, width)
        assert browser.execute_script(
            "return document.documentElement.scrollWidth <= innerWidth"
        ), width
    assert_no_complaints(browser)


# The rows of a list: opened in place, also while the list goes on

LISTED = ("Tea is hot.", "Ice is cold.", "Snow is white.")


def make_list(web: WebProcess) -> str:
    entries = [NewEntry("Line", claim, {}, None) for claim in LISTED]
    return ListStore(web.store.database).create("Speech", "combined", entries, None)


def finish(web: WebProcess, claim: str) -> None:
    """Check a row, as the workers do."""
    Feeder(web.store.database, Queue(web.settings, web.store), Event()).look()
    (job,) = [one for one in web.store.recent(9) if one.claim == claim]
    web.worker.finish(web.store.get(job.id), claim_document(claim))


def test_a_row_opens_by_keyboard_and_stays_open(browser: Chrome, web: WebProcess) -> None:
    address = f"{web.address}/lists/{make_list(web)}"
    finish(web, LISTED[0])
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

    finish(web, LISTED[1])
    wait_for(browser, "document.querySelector('#row-2 .opens')")
    assert browser.switch_to.active_element == row
    assert "Ida Holm" in text_of(browser, "#row-1-open")
    for width in (320, 768, 1440):
        resize(browser, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    row.send_keys(Keys.SPACE)
    assert text_of(browser, "#row-1-open") == ""
    assert_no_complaints(browser)


def test_when_the_session_has_ended_list_and_rows_say_so(browser: Chrome, tmp_path: Path) -> None:
    with closing(WebProcess(tmp_path, ESOTERIC_ACCESS="tokens", ESOTERIC_UPLOADS="no")) as web:
        users = UserStore(web.store.database)
        address = f"{web.address}/lists/{make_list(web)}"
        finish(web, LISTED[0])

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
