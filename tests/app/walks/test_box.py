"""One box takes a claim, a list, a text and a question, and says what it will do."""

from __future__ import annotations

import pytest
from selenium.webdriver import Keys

from tests.app.browser import assert_no_complaints, console_messages
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

FOCUSED = "document.activeElement.id === 'claim'"


def test_somebody_types_whatever_comes_to_mind_and_the_box_knows_what_to_do(
    walker: Walker,
) -> None:
    walker.open("/")
    walker.wait(FOCUSED)
    walker.keys("Vienna lies on the Danube.")
    says(walker, "Check")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert walker.verdict() == "Supported"
    first = walker.address()

    # It was checked before; its result is one click away.
    walker.open("/?q=Vienna+lies+on+the+Danube.")
    assert "Supported" in walker.text("#says")
    walker.follow("Show the result")
    assert walker.address() == first

    # A slash leads back into the box, from wherever the focus is.
    walker.follow("ESOTERIC")
    walker.wait(FOCUSED)
    walker.browser.execute_script("document.activeElement.blur()")
    walker.keys("/", "Is Warsaw the capital of Poland?")
    says(walker, "Check “Warsaw is the capital of Poland.”")
    walker.follow("Check “Warsaw is the capital of Poland.”")
    assert walker.verdict() == "Supported"
    assert walker.text("h1") == "Warsaw is the capital of Poland."

    for refused, word in (
        ("Der Eiffelturm steht in Paris und ist ein Turm aus Eisen.", "English"),
        ("https://example.org/news/tower", "link"),
    ):
        walker.open("/")
        walker.wait(FOCUSED)
        walker.keys(refused)
        walker.wait("document.querySelector('#claim-problem')")
        assert word in walker.text("#claim-problem")
        walker.leave(lambda: walker.keys(Keys.ENTER))
        assert word in walker.text("#claim-problem")
        assert walker.see("#claim").get_attribute("value") == refused
    assert walker.named("Check it anyway").is_displayed()
    console_messages(walker.browser)  # the browser notes that these were refused

    walker.write_in_box("Bees make honey.\nHamlet is set in Denmark.")
    says(walker, "Check 2 claims")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert "of 2 claims" in walker.text(".figures")

    walker.write_in_box("Tea came to Europe from China. It is a hot drink.")
    says(walker, "Choose claims")
    walker.leave(lambda: walker.keys(Keys.ENTER))
    assert walker.text("h1") == "Choose claims"
    assert_no_complaints(walker.browser)


def says(walker: Walker, words: str) -> None:
    walker.wait(f"document.getElementById('check').textContent === '{words}'")
