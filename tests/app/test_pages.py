"""The first page: its form, its figures, its corpus, and the language model that is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.claims.pages import EXAMPLES
from retrieval.errors import EsotericError, Problem
from retrieval.llm_judge import ollama
from retrieval.llm_judge.ollama import Ollama
from settings import CHECKOUT
from tests.app.client import Client, words
from tests.app.conftest import Start
from tests.app.index import describe_index, description_file
from worker.reports import AskedModel, SearchedCorpus


def test_the_first_page_has_the_form_the_examples_and_the_corpus(client: Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert '<textarea id="claim" name="claim"' in page.text
    assert '<label for="claim">' in page.text
    for claim in EXAMPLES:
        assert f'name="claim" value="{claim}"' in page.text
    text = words(page.text)
    assert "In Wikipedia introductions" in text
    assert "of 9,842 Wikipedia articles and nothing else" in text
    assert "CC BY-SA 4.0" in text


def test_the_first_page_has_the_figures_of_the_shipped_models(start: Start) -> None:
    page = words(start().get("/").text)
    results = (CHECKOUT / "docs" / "results.md").read_text(encoding="utf-8")
    for run, claims in (("fresh", "110"), ("everyday", "170")):
        table = results.partition(f"<!-- make docs writes this: {run} -->")[2]
        row = re.search(r"\| `combined` \| ([\d.]+) \|(?: [\d.]+ \|){2} ([\d.]+) \|", table)
        assert row is not None
        assert f"{claims} everyday claims" in page or f"Of {claims} other claims" in page
        assert f"{row[1]}%" in page
        assert f"{row[2]}% of the" in page
    model = {"ESOTERIC_LLM": "openai:small", "ESOTERIC_LLM_URL": "http://127.0.0.1:9/v1"}
    with_model = words(start(**model).get("/").text)
    for text, measured in ((page, True), (with_model, False)):
        assert ("How this was measured" in text, EXAMPLES[0] in text) == (measured, True)


def test_the_corpus_of_the_index_is_named_or_how_to_get_one(client: Client) -> None:
    about = {"name": "notes", "source": "folder:/srv/notes", "date": "2024-03-05"}
    describe_index(client.home, **about, documents=12)
    text = words(client.get("/").text)
    assert "In notes, text of 5 March 2024" in text
    assert "12 documents (notes) and nothing else" in text
    assert "CC BY-SA" not in text
    # What was measured and what can be tried is about another corpus.
    assert "How this was measured" not in text
    assert not [one for one in EXAMPLES if one in text]
    file = description_file(client.home)
    for content in ("", '{"name": 1, "documents": "many"}'):
        file.write_text(content)
        assert "The index is damaged." in words(client.get("/").text)
    file.unlink()
    text = words(client.get("/").text)
    assert "There is no index yet. Run:" in text
    assert "esoteric index build --source vital" in text


def test_the_corpus_on_a_server_is_the_one_a_ready_worker_reports(start: Start) -> None:
    client = start(ESOTERIC_STORE="elasticsearch://127.0.0.1:9/notes")

    def text(state: str = "", *more: object) -> str:
        if state:
            client.services.workers.beat("by-hand", datetime.now(UTC), state, *more)
        return words(client.get("/").text)

    assert "No worker is running" in text()
    assert "does not report its corpus" in text("ready")
    corpus = SearchedCorpus("vital", "vital", 9842, "2026-11-20T09:30:00Z")
    shown = text("ready", None, corpus)
    assert "of 9,842 Wikipedia articles and nothing else" in shown
    assert "CC BY-SA 4.0" in shown
    problem = EsotericError("index_unreachable", "The server does not answer.", "Start it.")
    shown = text("broken", problem, corpus)
    assert "The server does not answer. Start it." in shown
    assert "9,842" not in shown


def test_the_first_page_names_the_model_that_a_worker_reports(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(state: str, asked: AskedModel) -> str:
        beat = client.services.workers.beat
        beat("other", datetime.now(UTC), state, language_model=asked)
        return client.get("/").text

    monkeypatch.setattr(ollama, "found", lambda: Ollama(("qwen3:8b",)))
    monkeypatch.setattr(ollama, "_last", (-ollama._ASKED_EVERY, None))
    none = client.get("/").text
    assert "ESOTERIC_LLM=local:qwen3:8b esoteric up" in none  # is offered where none is set
    assert "are sent to the language model" not in none
    local = text("ready", AskedModel("qwen2.5-1.5b", "", True, None))
    assert "The language model <strong><bdi>qwen2.5-1.5b</bdi></strong> reads the claim" in local
    assert "nothing is sent anywhere" in local
    assert "are sent to" not in local
    assert "nothing on the internet" in local
    remote = AskedModel("small", "models.example:8080", True, None)
    loading = text("loading", remote)
    assert "are sent to the language model <strong><bdi>small</bdi></strong>" in loading
    assert "<strong><bdi>models.example:8080</bdi></strong>" in loading
    assert "cannot be used" not in loading
    failing = replace(remote, problem=Problem("x", "It fails.", "Wait."))
    assert "At the moment its answers cannot be used" in text("ready", failing)
