"""The pages in a real browser, with a worker that the test controls."""

from __future__ import annotations

from itertools import pairwise

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
from tests.app.browser import (
    assert_no_complaints,
    resize,
    text_of,
    wait_for,
)
from tests.app.claim_documents import (
    LONG_CLAIM,
    REPORT_CLAIM,
    claim_document,
    document_with_a_long_proof,
    document_with_passages,
    document_without_evidence,
)
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from worker.job_store import JobStore
from worker.jobs import Job
from worker.list_store import ListStore
from worker.lists import NewEntry
from worker.run_store import RunStore

pytestmark = pytest.mark.browser

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
REFUSED = Problem("claim_link", "x" * 200, "")
LONG = "Donaudampfschiff" * 12


def wait_for_the_job(browser: Chrome, store: JobStore) -> Job:
    WebDriverWait(browser, 60, 0.05).until(lambda _: store.recent(1))
    return store.recent(1)[0]


def test_a_claim_goes_from_the_form_through_its_progress_to_its_result(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
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
    job = wait_for_the_job(browser, store)
    address = f"{web.address}/claims/{job.id}"
    assert browser.current_url == address
    wait_for(browser, "document.getElementById('waiting').textContent.includes('No worker')")
    browser.execute_script("window.sameDocument = true")
    place = browser.find_element(By.CSS_SELECTOR, ".slot").rect
    run = worker.start(job)
    done = worker.record(run, FIRST_HOP[:2])
    wait_for(browser, "document.querySelector('#claim-text mark')")
    assert text_of(browser, "#claim-text") == CLAIM
    assert "The Lighthouse of Varn · Ida Holm" in text_of(browser, ".group.looked")
    done = worker.record(run, FIRST_HOP[2:5], done)
    wait_for(browser, "document.querySelector('.group.opened.running')")
    assert "Who built the Lighthouse of Varn?" in text_of(browser, ".group.asked")
    assert "to come" in text_of(browser, ".group.read")
    browser.find_element(By.CSS_SELECTOR, ".group.asked summary").click()
    done = worker.record(run, FIRST_HOP[5:9], done)
    wait_for(browser, "document.querySelector('.group.read.running .labelled .unsettled')")
    assert "Ostrea 1.00 title" in text_of(browser, ".group.opened .found")
    # What the reader has opened stays open.
    assert "built by Ida Holm?" in text_of(browser, ".group.asked ul")
    done = worker.record(run, FIRST_HOP[9:], done)
    assert text_of(browser, "#spoken") == ""
    done = worker.record(run, SECOND_HOP[:1], done)
    wait_for(browser, "document.querySelector('.group.hop')")
    assert "because “Ida Holm” is open: Lighthouse of Varn → Ida Holm" in (
        text_of(browser, ".group.hop")
    )
    wait_for(browser, "document.getElementById('spoken').textContent === 'Round 2'")
    done = worker.record(run, SECOND_HOP[1:3], done)
    wait_for(browser, "document.getElementById('so-far').textContent.includes('1 supports')")
    worker.record(run, SECOND_HOP[3:], done)
    scrolled = browser.execute_script("return scrollY")
    assert RunStore(store.database).finish(run, ClaimResult.model_validate(claim_document(CLAIM)))
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


def test_a_claim_that_is_deleted_while_it_is_watched_is_gone(
    browser: Chrome, web: WebProcess, store: JobStore
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    browser.get(f"{web.address}/claims/{job.id}")
    store.delete(job.id)
    wait_for(browser, "document.body.textContent.includes('It may have been deleted.')")
    wait_for(browser, "!document.getElementById('progress')")


def test_a_lost_connection_is_shown_and_recovers(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    worker.record(worker.start(job), FIRST_HOP[:3])
    browser.get(f"{web.address}/claims/{job.id}")
    wait_for(browser, "document.querySelector('tr[data-stage=titles].done')")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": True})
    wait_for(browser, "!document.getElementById('trouble').hidden")
    assert "ESOTERIC cannot be reached. Trying again automatically." in text_of(browser, "#trouble")
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": False})
    wait_for(browser, "document.getElementById('trouble').hidden")


def test_the_keyboard_is_enough(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
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
    worker.finish(wait_for_the_job(browser, store), claim_document(CLAIM))
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


def test_a_link_to_evidence_opens_what_is_folded_around_it(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    worker.finish(job, claim_document(CLAIM, "NOT ENOUGH INFO"))
    browser.get(f"{web.address}/claims/{job.id}#evidence-2")
    wait_for(browser, "document.getElementById('evidence-2').closest('details').open")
    assert browser.find_element(By.CSS_SELECTOR, ".evidence:has(#evidence-2) mark").is_displayed()
    assert_no_complaints(browser)


# Words that are seen without scrolling: what is folded or below the fold does not count.
WORDS = r"""
const [width, height] = arguments;
let number = 0;
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const { textContent, parentElement } = texts.currentNode;
  if (parentElement.closest('.hidden, .skip, script, noscript, textarea')) continue;
  if (!parentElement.checkVisibility({ visibilityProperty: true })) continue;
  for (const word of textContent.matchAll(/[\p{L}\p{N}][\p{L}\p{N}.,'%-]*/gu)) {
    const range = document.createRange();
    range.setStart(texts.currentNode, word.index);
    range.setEnd(texts.currentNode, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    if (box.width && box.bottom <= height && box.left < width) number += 1;
  }
}
return number;
"""


@pytest.mark.parametrize("label", ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"])
def test_few_words_stand_above_the_fold_of_a_result(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand, label: Label
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    result = claim_document(CLAIM, label)
    result["evidence"][1] |= {"stance": "REFUTES", "sentence": "Ida Holm never built it."}
    worker.finish(job, result)
    browser.get(f"{web.address}/claims/{job.id}")
    for width, height, most in ((1440, 900, 120), (375, 812, 80)):
        resize(browser, width)
        assert 20 < browser.execute_script(WORDS, width, height) <= most, (width, label)


@pytest.fixture
def pages(web: WebProcess, store: JobStore, worker: WorkerByHand) -> list[str]:
    """The paths of the pages, also of claims in all states with words that are too long."""
    jobs = {name: store.submit(f"{name} {LONG}", "esoteric")[0] for name in "abcdefgh"}
    result = claim_document(f"a {LONG}")
    result["documents"][1]["text"] += LONG
    result["evidence"][0] |= {"title": LONG, "sentence": LONG}
    result["verdict"]["rationale"] = LONG
    result["questions"][0]["text"] = LONG
    result["corpus"]["name"] = LONG
    worker.finish(jobs["a"], result)
    worker.finish(jobs["b"], document_without_evidence(f"b {LONG}"))
    worker.fail(jobs["c"], EsotericError(LONG, LONG, LONG))
    store.cancel(jobs["d"].id)
    proved = document_with_a_long_proof()
    proved |= {"claim": LONG}
    proved["evidence"][0]["sentence"] = LONG
    for mutation in proved["proof"][:2]:
        mutation["claim_span"] = [0, len(LONG)]
    for read in proved["documents"]:
        read["title"] = LONG
    worker.finish(jobs["g"], proved)
    passages = document_with_passages()
    for item in (*passages["evidence"], *passages["documents"]):
        item["section"] = LONG
    worker.finish(jobs["h"], passages)
    run = worker.start(jobs["e"])
    worker.record(run, (("start", ""), ("spans", LONG), *FIRST_HOP[2:], *SECOND_HOP[:2]))
    proof, passage = (store.submit(claim, "esoteric")[0] for claim in (LONG_CLAIM, REPORT_CLAIM))
    worker.finish(proof, document_with_a_long_proof())
    worker.finish(passage, document_with_passages())
    rows = [NewEntry("Row 2", LONG, {LONG: LONG}, None), NewEntry("", LONG, {}, REFUSED)]
    long_list = ListStore(store.database).create(LONG, "esoteric", rows, None)
    paths = ["/", "/?q=Is+tea+hot%3F", f"/?q={LONG}", "/api", "/nothing"]
    paths += ["/claims", f"/claims?q={LONG}x", "/lists", f"/lists/{long_list}"]
    return paths + [f"/claims/{job.id}" for job in (*jobs.values(), proof, passage)]


# WCAG 2.2, 2.5.8: 24 by 24 CSS pixels, but for links within a sentence.
SMALL = """
return [...document.querySelectorAll('a, button, summary, input, textarea')]
  .filter(element => element.offsetParent && !element.closest('.skip'))
  .filter(element => {
    const box = element.getBoundingClientRect();
    const sentence = getComputedStyle(element).display === 'inline'
      && element.parentElement.textContent.trim() !== element.textContent.trim();
    const alone = !sentence || element.matches('.part');
    return alone && (box.width < 24 || box.height < 24);
  })
  .map(element => element.outerHTML)
"""


def test_no_page_is_wider_than_its_window_and_what_can_be_pressed_is_large_enough(
    browser: Chrome, web: WebProcess, pages: list[str]
) -> None:
    for path in pages:
        browser.get(web.address + path)
        assert_outline(browser, path)
        # Collapsed parts count too.
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (1440, 768, 320):
            resize(browser, width)
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, path
        assert browser.execute_script(SMALL) == [], path


def assert_outline(browser: Chrome, path: str) -> None:
    """Headings go down one level at a time, ids are unique, and what can be pressed has a name."""
    levels = browser.execute_script(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), path
    ids = browser.execute_script(
        "return [...document.querySelectorAll('[id]')].map(element => element.id)"
    )
    assert len(ids) == len(set(ids)), path
    nameless = browser.execute_script(
        "return [...document.querySelectorAll('a, button')].filter(e =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label'))).length"
    )
    assert nameless == 0, path


@pytest.fixture
def proof(browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand) -> Chrome:
    """The browser on the page of a claim with a proof in eight parts."""
    job = store.submit(LONG_CLAIM, "esoteric")[0]
    worker.finish(job, document_with_a_long_proof())
    browser.get(f"{web.address}/claims/{job.id}")
    browser.execute_script(
        "document.querySelectorAll('.found-how details.more').forEach(one => one.open = true)"
    )
    return browser


def part(browser: Chrome, number: int) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, f'.part[href="#part-{number}"]')


def press(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


CARD = "document.querySelector('.part-card:popover-open')"


def test_pointing_at_a_part_shows_its_evidence_until_it_is_dismissed(proof: Chrome) -> None:
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


def test_parts_differ_in_more_than_their_colour_and_are_described_by_their_evidence(
    proof: Chrome,
) -> None:
    described = part(proof, 3).get_attribute("aria-describedby")
    assert described == "part-3"
    evidence = proof.find_element(By.ID, described).get_attribute("textContent") or ""
    assert "“in 1874” in Lighthouse of Varn" in evidence
    lines = proof.execute_script(
        "return [1, 3, 8].map(n => getComputedStyle(document.querySelector("
        "`.part[href='#part-${n}']`)).borderBottomStyle)"
    )
    assert lines == ["solid", "double", "dotted"]
    text = part(proof, 3).get_attribute("textContent") or ""
    assert " ".join(text.split()) == "in 1875 (gives a different answer)"
    signs = proof.execute_script(
        "return [1, 3, 8].map(n => document.querySelector(`.part[href='#part-${n}'] .icon`)"
        ".innerHTML)"
    )
    assert len(set(signs)) == 3


def test_screen_readers_hear_that_a_claim_starts_again(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    run = worker.start(job)
    worker.record(run, FIRST_HOP[:3])
    browser.get(f"{web.address}/claims/{job.id}")
    wait_for(browser, "document.querySelector('tr[data-stage=titles].done')")
    note = browser.find_element(By.ID, "note")
    assert note.get_attribute("textContent") == ""
    assert note.get_attribute("role") == "status"
    # A live region must be on the page, empty, before it gets a text.
    assert note.value_of_css_property("display") != "none"
    assert RunStore(store.database).give_back(run)
    worker.record(worker.start(job), FIRST_HOP[:2])
    wait_for(browser, "document.querySelector('tr[data-stage=titles].running')")
    assert note.text == "Its worker stopped; the claim starts again."
    assert_no_complaints(browser)


def test_nothing_moves_with_reduced_motion(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    worker.record(worker.start(job), FIRST_HOP[:2])
    media = "Emulation.setEmulatedMedia"
    browser.execute_cdp_cmd(
        media, {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        browser.get(f"{web.address}/claims/{job.id}")
        wait_for(browser, "document.querySelector('li.running')")
        animations = browser.execute_script("return document.getAnimations().length")
    finally:
        browser.execute_cdp_cmd(media, {"features": []})
    assert animations == 0


def test_a_comparison_fills_in_and_keeps_what_the_reader_has_opened(
    browser: Chrome, web: WebProcess, store: JobStore, worker: WorkerByHand
) -> None:
    browser.get(f"{web.address}/compare?claim=Varnby+has+a+harbour.")
    for name in ("combined", "admiral", "fer"):
        browser.find_element(By.ID, f"recipe-{name}").click()
    browser.find_element(By.CSS_SELECTOR, "button.primary").click()
    wait_for(browser, "document.getElementById('comparison')")
    browser.execute_script("window.sameDocument = true")
    m3, esoteric = (store.get(job.id) for job in store.recent(2))
    worker.finish(esoteric, claim_document(esoteric.claim) | {"recipe": "esoteric"})
    wait_for(browser, "document.querySelector('.compared summary')")
    assert text_of(browser, "#status") == "1 of 2 checks have ended."
    first = browser.find_element(By.CSS_SELECTOR, ".compared summary")
    first.send_keys(Keys.ENTER)
    assert "esoteric: rank 1, used" in text_of(browser, ".compared details ul")
    result = claim_document(m3.claim)
    result["evidence"][1]["selected"] = False
    worker.finish(m3, result | {"recipe": "m3"})
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
