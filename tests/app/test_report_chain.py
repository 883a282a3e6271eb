"""The whole chain of the ESOTERIC report, from the home page to the verdict, in a real browser.

The report's models are small stand-ins with made-up weights, and the language model is a stand-in
too. All else is real: web server, queue, worker, index, verifier and browser. The index is a
folder, and then on a node of Elasticsearch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from retrieval.recipes.recipes import RECIPES
from settings import EMBEDDED_STORE
from tests.app.browser import assert_no_complaints, text_of, wait_for
from tests.ops.up_process import Up, esoteric
from tests.retrieval.index.elastic.node import store_url
from tests.retrieval.llm_judge.chat_server import ChatServer, chat_server, says, verdict
from tests.support.islands import write_source
from tests.support.waiting import wait_until

# Each stage of the report has quick tests of its own, and the walks go the same way with others.
pytestmark = [pytest.mark.browser, pytest.mark.models, pytest.mark.rare]

CLAIM = "Skerrow Light was designed by Ann Lee."
WHY = "The second sentence names the designer."


@pytest.fixture(scope="module")
def chat() -> Iterator[ChatServer]:
    with chat_server() as server:
        server.answers(says(verdict(rationale=WHY)))
        yield server


@pytest.fixture(
    params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)],
    scope="module",
)
def up(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    unpacked: Path,
    tiny_models: Path,
    chat: ChatServer,
) -> Iterator[Up]:
    """``esoteric up`` over an index with vectors of DPR, with all models."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    write_source(home / "islands.jsonl")
    settings = {
        "ESOTERIC_STORE": EMBEDDED_STORE if request.param == "embedded" else store_url("t-chain"),
        "ESOTERIC_REPORT_MODELS": str(tiny_models),
        "ESOTERIC_LLM": "openai:small",
        "ESOTERIC_LLM_URL": chat.url,
    }
    build = ("index", "build", "--source", f"jsonl:{home / 'islands.jsonl'}", "--vectors", "dpr")
    built = esoteric(*build, home=home, **settings)
    assert built.returncode == 0, built.stderr
    up = Up(home, **settings)
    wait_until(lambda: "is ready" in up.output(), "the line that it is ready", seconds=240)
    yield up
    up.close()


def test_a_claim_goes_from_the_home_page_to_a_verdict(browser: Chrome, up: Up) -> None:
    browser.get(up.address)
    assert text_of(browser, ".recipes summary") == "Recipe: report"
    browser.find_element(By.ID, "claim").send_keys(CLAIM)
    browser.find_element(By.CSS_SELECTOR, "button.primary").click()
    wait_for(browser, "document.querySelector('.verdict')", seconds=120)
    job = browser.current_url.rpartition("/")[2]
    with urlopen(f"{up.address}/api/v1/claims/{job}/progress?since=0") as answer:
        events = json.load(answer)["events"]
    seen = {one["stage"]: one["message"] for one in events if one["stage"] not in ("start", "done")}
    report = RECIPES["report"]
    assert [*seen] == [*report.stages_first, *report.stages_per_hop, "explain"]
    assert seen["spans"] == "Looking for: Skerrow Light; Ann Lee"
    assert seen["titles"].startswith("2 exact titles")
    assert "Was Skerrow Light designed by Ann Lee?" in seen["questions"]
    assert text_of(browser, ".verdict .label").startswith("Supported")
    assert WHY in text_of(browser, "main")
    assert "It was designed by Ann Lee" in text_of(browser, "main")
    assert_no_complaints(browser)
