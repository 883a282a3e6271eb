"""The documents of a user."""

from __future__ import annotations

import pytest

from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker
from tests.retrieval.corpora.pdf_files import pdf_of

pytestmark = pytest.mark.server

PIER = pdf_of(["The pier of Varnby is made of oak.", "The pier of Varnby was opened in 2019."])
LAMP = pdf_of(["The lamp of Varnby shines green."])
MILL = pdf_of(["The mill of Varnby has four sails.", "It grinds rye."])
OPENED = "The pier of Varnby was opened in 2019."
NEWER = pdf_of(["The pier of Varnby is made of oak.", "The pier of Varnby was opened in 2023."])


def test_an_archivist_searches_three_pdfs_with_the_library_and_keeps_them_up_to_date(
    walker: Walker,
) -> None:
    walker.open("/documents")
    walker.fill("#title", "Varnby")
    walker.attach("#files", pier_pdf=PIER, lamp_pdf=LAMP, mill_pdf=MILL)
    with walker.service.held_worker():
        walker.follow("Upload")
        assert walker.text("#corpus .files").count("waits to be indexed") == 3
        assert walker.see("#corpus progress").is_displayed()
    walker.wait_until_indexed()
    assert "Ready" in walker.text("#corpus .facts")
    assert walker.text("#corpus .files").count("passage") == 3
    address = walker.address()

    walker.follow("or in it and the default corpus")
    assert walker.text("#corpora-chosen") == "library, Varnby"
    walker.fill("#claim", OPENED)
    walker.send()
    assert walker.verdict() == "Supported"
    link = walker.see(".evidence .source a").get_attribute("href") or ""
    assert link.endswith("#page=2")
    kind = walker.browser.execute_async_script(
        "fetch(arguments[0]).then(a => arguments[1](a.headers.get('content-type')))", link
    )
    assert kind == "application/pdf"

    walker.open(address)
    walker.fill("#title", "Harbour of Varnby")
    walker.follow("Rename")
    walker.attach("#files", pier_pdf=NEWER)
    walker.follow("Upload")
    walker.wait_until_indexed()
    walker.press("Remove lamp.pdf")
    walker.follow("Remove this file for good: lamp.pdf")
    walker.wait_until_indexed()
    assert walker.text("#corpus .files").count("passage") == 2
    walker.follow("Check a claim in it")
    assert walker.text("#corpora-chosen") == "Harbour of Varnby"
    walker.fill("#claim", OPENED)
    walker.send()
    assert walker.verdict() == "Refuted"

    walker.open(address)
    walker.press("Remove this corpus")
    walker.follow("Remove this corpus for good: Harbour of Varnby")
    assert "Varnby" not in walker.text("main")
    assert_no_complaints(walker.browser)
