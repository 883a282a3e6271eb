"""The claims of a speech."""

from __future__ import annotations

import pytest

from tests.app.browser import assert_no_complaints, resize
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

SPEECH = (
    "Ottawa is the capital of Canada. It lies on the Ottawa River. What a lovely town!"
    " Canada will win every medal next year. The Eiffel Tower is 500 metres tall."
    " He was born in Warsaw."
)


def test_a_journalist_checks_what_a_speech_says_and_leaves_out_what_nobody_can_check(
    walker: Walker,
) -> None:
    walker.write_in_box(SPEECH)
    walker.wait("document.getElementById('check').textContent === 'Choose claims'")
    walker.follow("Choose claims")
    left_out = {one.text for one in walker.all(".sentences .tag")}
    assert left_out == {"Opinion", "Forecast"}
    claims = [one.get_attribute("value") for one in walker.all(".sentences textarea")]
    assert claims[1] == "Ottawa lies on the Ottawa River."
    assert "The text does not say clearly" in walker.text(".sentences .unclear")
    assert walker.text("#send") == "Check 3 claims"
    walker.see("#take-2").click()
    assert walker.text("#send") == "Check 2 claims"
    walker.see("#take-2").click()
    walker.fill(".sentences li:last-child textarea", "Marie Curie was born in Warsaw.")
    assert walker.text("#send") == "Check 4 claims"
    for width in (320, 768, 1440):
        resize(walker.browser, width)
        wide = walker.browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width

    walker.follow("Check 4 claims")
    walker.wait("document.getElementById('list').dataset.state === 'done'")
    verdicts = [one.text.partition("\n")[0] for one in walker.all(".entry-verdict")]
    assert verdicts == ["Supported", "Supported", "Refuted", "Supported"]
    coloured = [
        (one.get_attribute("class"), one.text.partition("\n")[0])
        for one in walker.all(".said > [class]")
    ]
    assert ("refuted settled", "The Eiffel Tower is 500 metres tall.") in coloured
    assert len(coloured) == 4
    assert "What a lovely town!" in walker.text(".said")
    walker.leave(walker.see(".said .refuted").click)
    assert walker.verdict() == "Refuted"
    assert_no_complaints(walker.browser)
