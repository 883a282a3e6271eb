"""The page of a claim fills in where it is."""

from __future__ import annotations

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.app.browser import assert_no_complaints, resize
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

COUNT_SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
A_SMALL_SHIFT = 0.02  # a fifth of what web.dev calls good


@pytest.mark.parametrize(
    ("width", "claim"),
    [(320, "Marie Curie was born in Paris."), (1440, "Marie Curie was born in Berlin.")],
)
def test_somebody_watches_how_a_claim_is_checked_and_nothing_jumps(
    walker: Walker, width: int, claim: str
) -> None:
    browser = walker.browser
    added = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": COUNT_SHIFTS}
    )
    resize(browser, width)
    walker.write_in_box(claim)
    with walker.service.held_worker():
        walker.leave(lambda: walker.keys(Keys.ENTER))
        address = browser.current_url
        browser.execute_script("window.sameDocument = true")
        slot = walker.see(".slot").rect
    walker.verdict()
    assert browser.execute_script("return window.sameDocument")
    assert browser.current_url == address
    block = walker.see(".verdict").rect
    assert [block[key] for key in ("x", "y", "width")] == [slot[key] for key in ("x", "y", "width")]
    assert browser.switch_to.active_element.get_attribute("id") == "verdict"
    assert browser.execute_script("return scrollY") == 0
    assert "Warsaw" in walker.text(".verdict")
    walker.press("How it was found")
    looked = walker.see(".trail .looked summary")
    assert "Curie" in looked.text
    assert not walker.see(".trail .stages").is_displayed()
    looked.click()
    assert walker.see(".trail .looked .stages").is_displayed()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return window.shifts") < A_SMALL_SHIFT
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert_no_complaints(browser)


def test_somebody_without_scripts_checks_a_claim_agrees_searches_on_and_deletes_it(
    walker: Walker,
) -> None:
    browser = walker.browser
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    walker.open("/")
    walker.see("#claim").send_keys("Penguins can fly.")
    with walker.service.held_worker():
        walker.see("#check").click()
        walker.see("#progress")
        browser.find_element(By.PARTIAL_LINK_TEXT, "every two seconds").click()
        browser.find_element(By.LINK_TEXT, "Stop reloading")
    # From here on the page reloads itself.
    walker.see(".verdict.refuted")
    first = browser.current_url
    walker.named("Yes").click()
    assert "You agree" in walker.see(".given").text
    walker.press("More")
    walker.named("Search further").click()
    WebDriverWait(browser, 60, 0.05).until(lambda _: "#" not in browser.current_url)
    assert browser.current_url != first
    browser.get(first)
    walker.press("More")
    walker.press("Delete this claim")
    walker.named("Delete for good").click()
    walker.see(".groups")
    assert first.rpartition("/")[2] not in browser.page_source
