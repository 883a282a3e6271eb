"""Sources that the operator named, in the API and the form; nothing is asked of them for this."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from sqlalchemy import update

from app.documents.corpus import VITAL
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import OwnCorpus, Retriever
from retrieval.result import claim_result
from retrieval.sources.address import SourceAddress, read_sources
from retrieval.sources.kept import KeptArticles
from retrieval.sources.opening import KEPT, Sources
from settings import Settings
from tests.app.browser import assert_no_complaints
from tests.app.claim_documents import claim_document
from tests.app.client import Client, refusal, words
from tests.app.conftest import Start
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP
from worker.schema import EventRow

CLAIM = {"claim": "Varnby has a harbour."}
SENT = "Words and names of the claim are sent to en.wikipedia.org."
TODAY = "today’s Wikipedia"  # noqa: RUF001
OPEN = "NOT ENOUGH INFO"


def result_in(corpora: list[str], label: str = OPEN, **more: Any) -> dict[str, Any]:
    """Return what a check of the claim says in these corpora: the default one, or Wikipedia."""
    parts = [
        {"name": name, "title": title, "documents": 0, "built_at": "", "text_date": None}
        | {"kind": kind}
        for name, title, kind in (
            ("vital", VITAL, "index"),
            ("wikipedia", "Wikipedia", "mediawiki"),
        )
        if name in corpora
    ]
    result = claim_document(CLAIM["claim"], label)
    return result | {"corpus": result["corpus"] | {"parts": parts}} | more


@pytest.fixture
def client(start: Start, settings: Settings) -> Client:
    return start(replace(settings, sources=read_sources("wikipedia=mediawiki:en")))


def test_a_claim_names_a_listed_source_perhaps_with_a_day_and_no_address(client: Client) -> None:
    index, source = client.json("/api/v1/corpora")["corpora"]
    assert (index["kind"], source["kind"]) == ("index", "mediawiki")
    about = {"name": "wikipedia", "title": "Wikipedia", "default": False, "sent": SENT}
    assert {key: source[key] for key in about} == about
    for names in (["wikipedia"], ["default", "wikipedia@2024-05-01"]):
        job = client.sent(**CLAIM, corpora=names)
        assert job.corpora == tuple(names)
        assert client.get(f"/claims/{job.id}").status_code == 200
    for name, refused in (
        ("mediawiki:http://127.0.0.1:8080/api.php", (404, "unknown_corpus")),
        ("zim-search:/etc/passwd", (404, "unknown_corpus")),
        ("wikipedia@2024-13-01", (422, "bad_day")),
    ):
        answer = client.post("/api/v1/claims", json=CLAIM | {"corpora": [name]})
        assert refusal(answer) == refused


def test_every_form_has_a_switch_that_says_what_it_sends_to_whom(
    client: Client, start: Start, settings: Settings
) -> None:
    for address in ("/", "/lists", "/compare"):
        page = client.get(address).text
        assert f"Also search {TODAY} Reads whole articles. {SENT}" in words(page)
        assert 'value="wikipedia" aria-describedby="about-corpus-wikipedia">' in page
    assert "also in Wikipedia" not in client.get("/claims").text
    sent = {"claims": "Tea is hot.\nIce is cold.", "corpora": ["default", "wikipedia"]}
    listed = client.post("/lists", data=sent).headers["Location"].rpartition("/")[2]
    assert client.services.lists.get(listed).corpora == ("default", "wikipedia")

    client.set_cookie("esoteric_also", "unknown.wikipedia")  # as the switch of this browser is left
    assert 'aria-describedby="about-corpus-wikipedia" checked>' in client.get("/").text
    box = client.get("/claims").text.split("</form>")[0]
    assert "Check another claim, also in Wikipedia" in box
    assert box.index('value="default"') < box.index('value="wikipedia"')

    without = start(settings)
    without.set_cookie("esoteric_also", "wikipedia")
    for address in ("/", "/lists", "/claims", "/documents"):
        page = without.get(address).text
        assert "wikipedia.org" not in page.replace("https://en.wikipedia.org", "")
        assert 'value="wikipedia"' not in page
        assert "hole articles" not in page


def test_what_is_left_open_is_looked_up_in_whole_articles_by_a_button(client: Client) -> None:
    first = client.job_at(client.post("/claims", data=CLAIM).location)
    assert first.corpora is None
    client.worker.finish(first, result_in(["vital"]))
    page = client.get(f"/claims/{first.id}").text
    assert page.count("primary") == 1
    assert "Look in whole articles" in page
    assert f"Checks it again in {TODAY}. {SENT}" in words(page)

    on = f"/claims/{first.id}/search-on"
    second = client.job_at(client.post(on, data={"corpora": "wikipedia"}).location)
    assert (second.corpora, second.continued_from) == (("wikipedia",), first.id)
    assert second.recipe == first.recipe
    client.worker.finish(second, result_in(["wikipedia"], "SUPPORTS"))
    printed = client.get(f"/api/v1/claims/{second.id}/export?format=pdf").data
    text = " ".join(one.extract_text() for one in PdfReader(BytesIO(printed)).pages)
    said = "Searched: Wikipedia, whole articles, searched where they are."
    assert said in " ".join(text.split())
    page = client.get(f"/claims/{second.id}").text
    assert f"{VITAL} Not settled → Wikipedia Supported" in words(page)
    assert f'<a href="/claims/{first.id}"><bdi>{VITAL}' in page
    assert "primary" not in page
    box = page.split("</form>")[0]  # the next claim begins where the first did
    assert 'value="default"' in box
    assert 'value="wikipedia"' not in box

    third = client.job_at(client.post(on, data={"corpora": "wikipedia"}).location)
    client.worker.finish(third, result_in(["wikipedia"]))
    page = client.get(f"/claims/{third.id}").text
    assert f"{VITAL} Not settled → Wikipedia Not settled" in words(page)
    assert "Look in whole articles" not in page  # both were searched
    assert '<a class="button primary" href="/documents">Add documents' in page


def test_a_wiki_that_does_not_answer_is_one_line_and_can_be_asked_again(client: Client) -> None:
    waiting = "Waiting for en.wikipedia.org to answer."
    sent = CLAIM | {"corpora": ["default", "wikipedia"]}
    job = client.job_at(client.post("/claims", data=sent).location)
    # The names are found; now they are looked up.
    client.worker.record(client.worker.start(job), FIRST_HOP[:2])
    assert waiting not in client.get(f"/claims/{job.id}").text
    with client.store.database.writing() as session:
        session.execute(update(EventRow).values(at=datetime.now(UTC) - timedelta(seconds=5)))
    assert waiting in client.get(f"/claims/{job.id}").text
    away = "Wikipedia could not be searched: it cannot be reached."
    job = client.job_at(client.post("/claims", data=sent | {"claim": "Tea is hot."}).location)
    client.worker.finish(job, result_in(["vital", "wikipedia"], notices=[away, "Another notice."]))
    page = client.get(f"/claims/{job.id}").text
    assert page.count(away) == 1
    assert page.index('id="actions"') < page.index(away) < page.index('id="evidence"')
    assert page.index('id="search"') < page.index("Another notice.")
    assert "Look in whole articles" in page


@pytest.mark.models
@pytest.mark.server
def test_evidence_of_a_wiki_names_its_revision_and_what_is_kept_can_be_seen_and_removed(
    settings: Settings, start: Start, wiki_address: str, index: Path, unpacked: Path
) -> None:
    wiki = SourceAddress.read(f"mediawiki:{wiki_address}", "wiki")
    home = settings.home
    client = start(replace(settings, sources={"wiki": wiki}))
    retriever = Retriever(
        *(index, home, 2, ModelFolders(unpacked)),
        own_corpus=lambda name: OwnCorpus(name, wiki.title, wiki),
        sources=Sources(home),
    )
    claim = "The great clock of Ohre parish was cast by Ivo Brandt in 1891."
    job = client.job_at(client.post("/claims", data={"claim": claim, "corpora": "wiki"}).location)
    report = retriever.check(claim, "combined", lambda _: None, ("wiki",))
    client.worker.finish(job, claim_result(report).model_dump(mode="json"))
    page = client.get(f"/claims/{job.id}").text
    caption = page.split("<figcaption")[1].split("</figcaption>")[0]
    assert words(caption).endswith(
        "Ohre parish, The great clock, Test wiki, revision of 12 November 2024"
    )
    (held,) = KeptArticles(home / KEPT).holdings()
    base = wiki_address.removesuffix("api.php")
    assert f'href="{base}index.php?title=Ohre_parish&amp;oldid=' in caption

    said = words(client.get("/documents").text)
    assert f"{wiki.title} {wiki.sent} {held.articles} article" in said
    assert "30 days after their last use, 500 MB at most." in said
    others = start(replace(settings, sources={"wiki": wiki}, uploads=False))
    assert "Remove stored articles" not in others.get("/documents").text
    assert others.post("/documents/kept/clear").status_code == 403
    assert client.post("/documents/kept/clear").headers["Location"] == "/documents"
    assert KeptArticles(home / KEPT).holdings() == []
    assert "Remove stored articles" not in client.get("/documents").text


def test_a_browser_remembers_the_switch(browser: Chrome, tmp_path: Path) -> None:
    with closing(WebProcess(tmp_path, ESOTERIC_SOURCES="wikipedia=mediawiki:en")) as web:
        for on in (True, False):
            browser.get(web.address)
            browser.find_element(By.CSS_SELECTOR, ".also input").click()
            browser.get(f"{web.address}/lists")
            assert browser.find_element(By.CSS_SELECTOR, ".also input").is_selected() == on
        assert_no_complaints(browser)
