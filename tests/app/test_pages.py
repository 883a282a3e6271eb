"""The pages without a browser: contents, redirects and errors."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.claims.pages import EXAMPLES
from app.services import services_of
from retrieval.errors import EsotericError
from retrieval.llm_judge import ollama
from retrieval.llm_judge.ollama import Ollama
from retrieval.words import BY_OCR, OCR_NOTE
from settings import CHECKOUT, Settings
from tests.app.claim_documents import (
    claim_document,
    document_kept_from_before,
    document_with_a_long_proof,
    document_with_passages,
    document_with_proof,
    document_without_evidence,
    statement,
)
from tests.app.conftest import PageOf
from tests.app.index import describe_index, description_file
from tests.app.result.test_export import document_with_doubt
from tests.app.worker_by_hand import WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore
from worker.jobs import Job
from worker.reports import SearchedCorpus
from worker.worker_store import WorkerStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def words(page: str) -> str:
    """Return the text of a page, spaces folded."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", bare)).split())


def submitted(store: JobStore, claim: str = CLAIM) -> Job:
    return store.submit(claim, "esoteric")[0]


def test_the_first_page_has_the_form_the_examples_and_the_corpus(client: FlaskClient) -> None:
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


def test_the_first_page_has_the_figures_of_the_results(client: FlaskClient) -> None:
    page = words(client.get("/").text)
    results = (CHECKOUT / "docs" / "results.md").read_text(encoding="utf-8")
    for run, claims in (("fresh", "110"), ("everyday", "170")):
        table = results.partition(f"<!-- make docs writes this: {run} -->")[2]
        row = re.search(r"\| `combined` \| ([\d.]+) \|(?: [\d.]+ \|){2} ([\d.]+) \|", table)
        assert row is not None
        assert f"{claims} everyday claims" in page or f"Of {claims} other claims" in page
        assert f"{row[1]}%" in page
        assert f"{row[2]}% of the" in page


def test_figures_of_the_shipped_models_are_not_those_of_a_language_model(tmp_path: Path) -> None:
    describe_index(tmp_path)
    model = {"ESOTERIC_LLM": "openai:small", "ESOTERIC_LLM_URL": "http://127.0.0.1:9/v1"}
    for more, measured in (({}, True), (model, False)):
        app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)} | more))
        text = words(app.test_client().get("/").text)
        assert ("How this was measured" in text, EXAMPLES[0] in text) == (measured, True)
        services_of(app).close()


def test_the_corpus_of_the_index_is_named_or_how_to_get_one(
    client: FlaskClient, settings: Settings
) -> None:
    about = {"name": "notes", "source": "folder:/srv/notes", "date": "2024-03-05"}
    describe_index(settings.home, **about, documents=12)
    text = words(client.get("/").text)
    assert "In notes, text of 5 March 2024" in text
    assert "12 documents (notes) and nothing else" in text
    assert "CC BY-SA" not in text
    # What was measured and what can be tried is about another corpus.
    assert "How this was measured" not in text
    assert not [one for one in EXAMPLES if one in text]
    file = description_file(settings.home)
    for content in ("", '{"name": 1, "documents": "many"}'):
        file.write_text(content)
        assert "The index is damaged." in words(client.get("/").text)
    file.unlink()
    text = words(client.get("/").text)
    assert "There is no index yet. Run:" in text
    assert "esoteric index build --source vital" in text


def test_the_corpus_on_a_server_is_the_one_a_ready_worker_reports(tmp_path: Path) -> None:
    environment = {
        "ESOTERIC_HOME": str(tmp_path),
        "ESOTERIC_STORE": "elasticsearch://127.0.0.1:9/notes",
    }
    app = create_app(Settings.from_environment(environment))
    store, client = services_of(app).store, app.test_client()
    assert "No worker is running" in words(client.get("/").text)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    assert "does not report its corpus" in words(client.get("/").text)
    corpus = SearchedCorpus("vital", "vital", 9842, "2026-11-20T09:30:00Z")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready", corpus=corpus)
    text = words(client.get("/").text)
    assert "of 9,842 Wikipedia articles and nothing else" in text
    assert "CC BY-SA 4.0" in text
    problem = EsotericError("index_unreachable", "The server does not answer.", "Start it.")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", problem, corpus)
    text = words(client.get("/").text)
    assert "The server does not answer. Start it." in text
    assert "9,842" not in text
    services_of(app).close()


@cases("form_claims", "claim", "complaint")
def test_a_wrong_claim_is_shown_again_with_the_reason_at_the_field(
    client: FlaskClient, store: JobStore, claim: str, complaint: str
) -> None:
    answer = client.post("/claims", data={"claim": claim})
    assert answer.status_code == 422
    problem = re.search(r'<p class="problem" id="claim-problem">(.*?)</p>', answer.text)
    assert problem is not None
    assert complaint in words(problem[1])
    assert 'aria-describedby="claim-help claim-problem" aria-invalid="true"' in answer.text
    kept = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)
    assert kept is not None
    assert html.unescape(kept[1]) == claim
    assert store.recent(1) == []


def test_a_result_shows_the_claim_as_it_was_written(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store, f"Claim: {CLAIM} <b>")
    worker.finish(job, claim_document(CLAIM) | {"claim_as_written": job.claim})
    page = client.get(f"/claims/{job.id}").text
    assert f"As it was written: “Claim: {CLAIM} <b>”" in words(page)
    assert "Claim: The Lighthouse of Varn was built by Ida Holm. <b>" not in page


def test_a_queued_claim_says_what_it_waits_for(client: FlaskClient, store: JobStore) -> None:
    job = store.submit(CLAIM, "a recipe that was removed")[0]
    page = client.get(f"/claims/{job.id}").text
    assert "No worker is running" in words(page)
    assert "<code>esoteric up</code>" in page
    assert 'http-equiv="refresh"' not in page  # without scripts, it reloads only on request
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    assert "It is next." in words(client.get(f"/claims/{job.id}").text)
    later = submitted(store, "Snow is white.")
    assert "1 claim is before it." in words(client.get(f"/claims/{later.id}").text)


@cases("result_words", "label", "confidence", "shown")
def test_the_result_is_at_the_same_address(
    client: FlaskClient,
    store: JobStore,
    worker: WorkerByHand,
    label: str,
    confidence: float,
    shown: str,
) -> None:
    job = submitted(store)
    worker.finish(job, claim_document(CLAIM, label, confidence))
    page = client.get(f"/claims/{job.id}")
    assert page.status_code == 200
    text = words(page.text)
    assert shown in text
    assert "Wikipedia introductions · recipe esoteric The Lighthouse" in text
    assert "Asked Who built the Lighthouse of Varn? +1" in text
    assert "Searched again because “Lighthouse” is open: Lighthouse of Varn → Ida Holm" in text
    assert "The search ended after 2 rounds: the evidence was enough to decide." in text
    assert (
        "Wikipedia introductions: 9,842 documents, the date of this text is not known, indexed on"
        " 20 November 2026. Texts from Wikipedia" in text
    )
    assert "in 0.81 s" in text
    for name in ("json", "md", "csv"):
        assert f"/api/v1/claims/{job.id}/export?format={name}" in page.text
    assert "export?format=claimreview" not in page.text  # only after a person has confirmed
    assert '<input id="name" name="name" required' in page.text
    assert f'href="http://localhost/claims/{job.id}"' in page.text


def test_a_calibrated_verdict_says_how_many_such_are_right_and_where_that_was_measured(
    page_of: PageOf,
) -> None:
    result = claim_document(CLAIM, "REFUTES", 0.85)
    result["verdict"] |= {"judge": "MPNet verifier 8.2", "opinions": []}
    page = page_of(result)
    assert '<a href="#measured">about 85 of 100 such verdicts are right</a>' in page
    assert 'id="measured">' in page


def test_only_a_statement_says_how_many_such_are_right_for_nothing_was_counted_of_them_together(
    page_of: PageOf,
) -> None:
    parts = [statement("Old.", 0, 3, "REFUTES", [1]), statement("Tall.", 4, 8, "SUPPORTS", [1])]
    result = claim_document(CLAIM, "REFUTES", 0.9) | {"statements": parts}
    for verdict in (result["verdict"], *(part["verdict"] for part in parts)):
        verdict |= {"judge": "MPNet verifier 8.2", "opinions": []}
    page = page_of(result)
    text = words(page)
    assert "No, not all of it. Refuted · 90% sure Old. Refuted · about 90 of 100 are right" in text


def test_a_claim_that_is_not_settled_names_what_is_missing_and_ways_on(page_of: PageOf) -> None:
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.86)
    result["hops"][-1] |= {"sufficient": False, "missing": [[4, 14]], "stopped": "hops"}
    page = page_of(result)
    block = page.split('<section class="verdict')[1].split("</section>")[0]
    assert "“Lighthouse of Varn” says nothing about “Lighthouse”." in words(block)
    assert "%" not in words(block)
    assert "search/The%20Lighthouse%20of%20Varn" in block
    assert '<a class="button primary" href="/documents">Add documents' in block


def test_a_sentence_stands_once_in_its_document_with_its_neighbours(page_of: PageOf) -> None:
    page = page_of(claim_document(CLAIM, "REFUTES"))
    evidence = page.split('id="evidence"')[1].split("</section>")[0]
    best = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."
    assert re.findall(r'id="evidence-(\d)"', evidence) == ["3", "1", "2", "4"]
    assert re.findall(r'<mark class="(\w+)">(.*?)</mark>', evidence) == [
        ("unsettled", "The Lighthouse of Varn stands on a rock off the coast of Ostrea."),
        ("refuted", best),
        ("refuted", "Ida Holm (1831 to 1899) was an Ostrean engineer."),
    ]
    assert evidence.count(best) == 1
    # The neighbour is shown, what follows it unfolds.
    assert "</mark> Its lamp is seen from forty kilometres. <span" in evidence
    assert '<span class="rest">A storm took the gallery in 1902; it was put back' in evidence
    text = words(evidence)
    assert "Refutes" in text
    assert "93% sure" in text
    assert "2 more documents read, not used" in text
    # The source opens at the sentence.
    assert "/Ida_Holm#:~:text=Ida%20Holm%20%281831%20to,was%20an%20Ostrean%20engineer." in page
    assert "Ostrea, from en.wikipedia.org" in text


def test_evidence_proof_and_leads_name_the_page_and_section_of_a_passage(page_of: PageOf) -> None:
    result = document_with_passages()
    page = page_of(result)
    place = "Annual report 1931, page 12, Results > Revenue"
    text = words(page)
    assert f"Supports {place}, from varnby.example" in text
    assert f"read together with {place}" in text
    assert f"“four million crowns” in {place} Show the sentence" in text
    assert f"{place} → Annual report 1931, page 15, The board (meaning)" in text
    assert (
        '<a href="https://varnby.example/report.pdf#page=12" rel="external noopener nofollow">'
        "<bdi>Annual report 1931, page 12, Results &gt; Revenue</bdi></a>"
    ) in page


@pytest.mark.parametrize("day", ["modified on", "as of"])
def test_a_document_of_a_folder_is_credited_to_its_file_and_not_to_wikipedia(
    page_of: PageOf, day: str
) -> None:
    result = claim_document(CLAIM)
    credit = f"minutes.docx, {day} 2024-03-05"
    for document in result["documents"]:  # the pages of a wiki, saved in a folder
        document["source"] = credit
    result["corpus"] |= {"name": "minutes", "text_date": "2024-03-05"}
    text = words(page_of(result))
    assert f"Ida Holm, from minutes.docx, {day} 5 March 2024" in text
    assert "9,842 documents, text of 5 March 2024, indexed on 20 November 2026." in text
    assert "Texts from Wikipedia" not in text


def test_evidence_that_was_read_by_ocr_is_marked_and_explained_once(page_of: PageOf) -> None:
    result = document_with_passages()
    for item in (result["evidence"][0], result["documents"][0]):
        item["section"] = BY_OCR
    page = page_of(result)
    text = words(page)
    assert "Supports Read by OCR Annual report 1931, page 12" in text
    assert "<bdi>Annual report 1931, page 12</bdi>" in page
    assert page.count('class="tag"') == 1
    assert text.count(OCR_NOTE) == 1


def test_a_claim_without_evidence_says_so(page_of: PageOf) -> None:
    text = words(page_of(document_without_evidence(CLAIM)))
    assert "Not settled. No text that was found is about it." in text
    assert "No evidence was found. Try full names of people, places or works." in text


def test_the_proof_is_shown_on_the_claim_and_as_a_list(page_of: PageOf) -> None:
    page = page_of(document_with_a_long_proof())
    assert re.findall(r'<a class="part (\w+)" href="#part-(\d)">', page) == [
        ("supported", "1"),
        ("supported", "2"),
        ("refuted", "3"),
        ("supported", "4"),
        ("supported", "5"),
        ("supported", "6"),
        ("refuted", "7"),
        ("unsettled", "8"),
    ]
    text = words(page)
    assert (
        "Part by part The evidence leaves open “was born in Varnby”, so it is not sufficient."
    ) in text
    assert (
        "“in 1875” Gives a different answer “in 1874” in Lighthouse of Varn Show the sentence"
    ) in text
    assert (
        "“was born in Varnby” Nothing found None of the selected sentences settles this part."
    ) in text
    assert "lowered" not in text
    assert "Searched again because “was born in Varnby” is open: Varnby → Whaling (meaning)" in text


def test_words_that_differ_are_marked_in_the_claim_and_in_the_sentence(page_of: PageOf) -> None:
    document = document_with_a_long_proof() | {"proof_label": "REFUTES"}
    document["verdict"]["label"] = "REFUTES"
    page = page_of(document)
    heading = page.split('id="claim-text"')[1].split("</h1>")[0]
    assert '<mark class="refuted">1875</mark>' in heading
    assert "built in <b>1874</b> by" in re.sub("</?mark.*?>", "", page)
    block = page.split('<section class="verdict')[1].split("</section>")[0]
    assert '<bdi class="ours">1875</bdi>' in block
    assert '<bdi class="theirs">1874</bdi>' in block


def test_a_sentence_that_was_read_with_others_names_them_and_says_what_they_say_together(
    page_of: PageOf,
) -> None:
    result = document_with_proof()
    read_with = 'read together with <a href="#evidence-1"><bdi>Lighthouse of Varn</bdi></a>'
    assert f"{read_with}, found when it searched again" in page_of(result)
    result["evidence"][1]["stance_together"] = "REFUTES"
    assert f"{read_with}: together they refute it, found when it searched again" in page_of(result)


def test_what_a_sentence_was_read_with_is_shown_around_it(page_of: PageOf) -> None:
    result = claim_document(CLAIM)
    result["documents"][1]["text"] = text = "Was <i>it</i> safe? Many asked. No. It fell. So it is."
    result["evidence"] = [result["evidence"][0]]
    result["evidence"][0] |= {
        "context_before": "Was <i>it</i> safe?",
        "sentence": "No.",
        "start": text.index("No."),
        "end": text.index("No.") + 3,
        "context_after": "It fell.",
    }
    page = page_of(result)
    shown = page.split('<blockquote dir="auto">')[1].split("</blockquote>")[0]
    assert words(shown) == text
    assert "Was &lt;i&gt;it&lt;/i&gt; safe? Many asked. <" in shown


@pytest.mark.parametrize(
    "result",
    [
        claim_document(CLAIM),
        document_kept_from_before(CLAIM),
        document_with_proof("REFUTES"),  # it does not agree
    ],
)
def test_without_a_proof_that_agrees_the_page_has_no_proof_section(
    page_of: PageOf, result: dict[str, Any]
) -> None:
    page = page_of(result)
    assert '<input type="hidden" name="recipe" value="esoteric">' in page
    assert "Part by part" not in page
    assert "says the same" not in page.lower()


def test_a_failed_claim_says_why_and_can_be_checked_again(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.fail(job, EsotericError("worker_lost", "The worker stopped.", "Submit it again."))
    page = client.get(f"/claims/{job.id}").text
    assert "The worker stopped. Submit it again." in words(page)
    again = client.post("/claims", data=dict(re.findall(r'name="(\w+)" value="(.*?)"', page)))
    assert again.status_code == 303
    assert store.recent(1)[0].claim == CLAIM
    assert store.recent(1)[0].id != job.id


def test_history_is_searched_and_paged(client: FlaskClient, store: JobStore) -> None:
    assert "No claim has been checked yet." in words(client.get("/claims").text)
    for number in range(45):
        submitted(store, f"Pier {number} is made of oak.")
    first = client.get("/claims").text
    assert "45 claims, newest first." in words(first)
    assert re.findall(r"Pier (\d+) is", first) == [str(n) for n in range(44, 24, -1)]
    assert 'href="/claims?whose=all&amp;page=2" rel="next"' in first
    last = client.get("/claims?page=3").text
    assert re.findall(r"Pier (\d+) is", last) == ["4", "3", "2", "1", "0"]
    assert client.get("/claims?page=99").text == last
    found = client.get("/claims?q=PIER+44").text
    assert "1 claim with “PIER 44”" in words(found)
    assert "No claim has “granite” in it." in words(client.get("/claims?q=granite").text)


def test_an_undecided_verdict_shows_its_lean_and_no_confidence(
    page_of: PageOf,
) -> None:
    result = document_with_doubt()
    result["evidence"][0] |= {"stance": "REFUTES"}
    result["evidence"][1] |= {"stance": "SUPPORTS"}
    page = page_of(result)
    verdict = words(page.split('class="verdict unsettled leans"')[1].split('class="acts"')[0])
    assert "Not settled: the evidence leans to no. Leans refuted" in verdict
    assert "%" not in verdict
    assert "confidence" not in verdict
    # The other sentence says nothing of a lighthouse, so it does not oppose.
    assert "Against this verdict" not in verdict
    text = words(page)
    assert text.count("in 7 documents") == 1
    assert "in 1 documents" not in text


def test_the_first_page_offers_it_where_no_model_is_set(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama, "found", lambda: Ollama(("qwen3:8b",)))
    monkeypatch.setattr(ollama, "_last", (-ollama._ASKED_EVERY, None))
    assert "ESOTERIC_LLM=local:qwen3:8b esoteric up" in client.get("/").text
