"""Two judges: the texts of page, exports and terminal where they agree and where they disagree."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from flask.testing import FlaskClient

from cli.claim_text import as_text
from retrieval.errors import Problem
from retrieval.result import ClaimResult
from tests.app.claim_documents import (
    LOCAL,
    MODEL,
    document_with_a_local_model,
    document_with_a_model,
)
from tests.app.conftest import PageOf
from worker.job_store import JobStore
from worker.reports import AskedModel
from worker.worker_store import WorkerStore

CLAIM = "The Lighthouse of Varn was built in 1874."


def text_of(result: dict[str, Any]) -> str:
    return as_text(ClaimResult.model_validate(result))


def test_two_labels_are_both_shown_and_the_disagreement_is_shown(page_of: PageOf) -> None:
    text = page_of(document_with_a_model(CLAIM, "REFUTES"))
    assert "The judges disagree" in text
    assert text.index("(decides)") < text.index("The verifier")
    assert MODEL in text
    assert "cross-encoder-1" in text
    assert "Missing: <bdi>who paid</bdi>" in text
    assert "93% sure" in text[text.index('id="opinions"') :]
    assert "42% sure" not in text  # the model was not asked for that
    assert '<a href="#evidence-3"><span class="hidden">evidence </span>3</a>' in text


def test_where_the_verifier_decides_it_comes_first(page_of: PageOf) -> None:
    text = page_of(document_with_a_model(CLAIM, "REFUTES", decides=False))
    judges = text[text.index('id="opinions"') :]
    assert judges.index("The verifier") < judges.index("(decides)") < judges.index(MODEL)
    assert "The verdict is from the language model" not in text


def test_where_both_decide_together_neither_is_marked_as_deciding(page_of: PageOf) -> None:
    text = page_of(document_with_a_local_model(CLAIM, "REFUTES", "SUPPORTS"))
    judges = text[text.index('id="opinions"') :]
    assert "The judges disagree" in text
    assert "(decides)" not in text
    assert judges.index("The language model</dt>") < judges.index("The verifier</dt>")
    assert f"The verifier and the language model <bdi>{LOCAL}</bdi> read the" in text
    assert "the verdict combines their probabilities" in text
    assert "What both judges read" in text


def test_exports_and_the_terminal_show_both_opinions(page_of: PageOf) -> None:
    result = document_with_a_model(CLAIM, "REFUTES")
    markdown = page_of(result, "md")
    assert "The judges disagree:" in markdown
    assert "refuted, citing evidence 1 and 3" in markdown
    assert "Missing: who paid" in markdown
    text = " ".join(text_of(result).split())
    assert "The judges disagree:" in text
    assert f"- {MODEL}: refuted, citing 1, 3." in text
    assert "- cross-encoder-1: supported (93% sure)" in text


def test_the_first_page_says_that_nothing_is_sent_to_a_local_model(
    client: FlaskClient, store: JobStore
) -> None:
    asked = AskedModel("qwen2.5-1.5b", "", True, None)
    WorkerStore(store.database).beat("other", datetime.now(UTC), "ready", language_model=asked)
    text = client.get("/").text
    assert "The language model <strong><bdi>qwen2.5-1.5b</bdi></strong> reads the claim" in text
    assert "nothing is sent anywhere" in text
    assert "are sent to" not in text
    assert "nothing on the internet" in text


def test_the_first_page_names_the_host_that_a_worker_reports(
    client: FlaskClient, store: JobStore
) -> None:
    assert "are sent to the language model" not in client.get("/").text
    asked = AskedModel("small", "models.example:8080", True, None)
    WorkerStore(store.database).beat("other", datetime.now(UTC), "loading", language_model=asked)
    text = client.get("/").text
    assert "are sent to the language model <strong><bdi>small</bdi></strong>" in text
    assert "<strong><bdi>models.example:8080</bdi></strong>" in text
    assert "cannot be used" not in text
    failing = replace(asked, problem=Problem("x", "It fails.", "Wait."))
    WorkerStore(store.database).beat("other", datetime.now(UTC), "ready", language_model=failing)
    assert "At the moment its answers cannot be used" in client.get("/").text
