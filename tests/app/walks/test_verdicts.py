"""A verdict is as loud as it is sure."""

from __future__ import annotations

import pytest

from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

# The library says something of each, and no more: some version of the verifier is sure of one,
# none of all.
HALF_SETTLED = (
    "Pierre Curie died before his wife.",
    "Chess is a sport.",
    "Apollo 11 was commanded by a woman.",
    "Marie Curie was Polish.",
    "Oslo is larger than Bergen.",
    "Penicillin was discovered by chance.",
)


def test_a_reader_sees_how_sure_each_verdict_is_and_where_to_go_when_nothing_is_settled(
    walker: Walker,
) -> None:
    assert walker.check("Oslo is the capital of Norway.") == "Supported"
    assert "of 100 such verdicts are right" in walker.text(".verdict .certainty")
    assert walker.browser.title.startswith("Supported: Oslo")
    settled = walker.address()

    verdicts = (walker.check(claim) for claim in HALF_SETTLED)
    unsure = next(verdict for verdict in verdicts if verdict.split()[0] in ("Probably", "Leans"))

    assert walker.check("The mayor of Oslo plays the cello.") == "Not settled"
    block = walker.text(".verdict")
    assert "%" not in block
    assert "of 100" not in block
    assert "mayor" in block  # what nothing was found about
    for way_on in ("Search Wikipedia", "Search fact checks", "Edit the claim"):
        assert walker.named(way_on).is_displayed()
    assert not walker.see(".evidence").is_displayed()

    walker.follow("History")
    chips = [one.text for one in walker.all(".runs .chip")]
    assert [chips[0], chips[1], chips[-1]] == ["Not settled", unsure, "Supported"]
    walker.follow("Oslo is the capital of Norway.")
    assert walker.address() == settled
    assert_no_complaints(walker.browser)
