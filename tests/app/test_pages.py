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
from app.pages import EXAMPLES
from app.progress import elapsed
from app.services import services_of
from retrieval.errors import EsotericError
from retrieval.words import BY_OCR, OCR_NOTE
from settings import CHECKOUT, Settings
from tests.app.documents import (
    PROVED_CLAIM,
    claim_document,
    document_kept_from_before,
    document_with_a_long_proof,
    document_with_passages,
    document_with_proof,
    document_without_evidence,
    statement,
)
from tests.app.index import describe_index, description_file
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from worker.job_store import JobStore
from worker.jobs import Job
from worker.reports import SearchedCorpus
from worker.run_store import RunStore
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
    for example in EXAMPLES:
        assert f'name="claim" value="{example.claim}"' in page.text
    text = words(page.text)
    assert "In Wikipedia introductions" in text
    assert "the introductions of 9,842 Wikipedia articles and nothing else" in text
    assert "CC BY-SA 4.0" in text


def test_the_first_page_has_the_figures_of_the_results(client: FlaskClient) -> None:
    page = words(client.get("/").text)
    results = (CHECKOUT / "docs" / "results.md").read_text(encoding="utf-8")
    everyday, accuracy = re.search(r"\| (\d+) everyday claims \| ([\d.]+) \|", results).groups()
    assert f"{accuracy}% of {everyday} everyday claims" in page
    table = results.partition("two-hop, label accuracy")[2]
    two_hop = re.search(r"\| `combined` \|(?: [\d.]+ \|){3} ([\d.]+) \|", table)
    assert f"{two_hop[1]}% of 40 claims that need two documents" in page


def test_another_corpus_is_not_attributed_to_wikipedia(
    client: FlaskClient, settings: Settings
) -> None:
    about = {"name": "notes", "source": "folder:/srv/notes", "date": "2024-03-05"}
    describe_index(settings.home, **about, documents=12)
    text = words(client.get("/").text)
    assert "In notes, text of 5 March 2024" in text
    assert "12 documents (notes) and nothing else" in text
    assert "CC BY-SA" not in text


def test_a_missing_index_is_shown_with_how_to_fix_it(
    client: FlaskClient, settings: Settings
) -> None:
    description_file(settings.home).unlink()
    page = client.get("/")
    assert page.status_code == 200
    said = words(page.text)
    assert "There is no index yet. Run:" in said
    assert "esoteric index build --source vital" in said


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"name": 1, "documents": "many"}'])
def test_a_damaged_index_is_shown_with_how_to_fix_it(
    client: FlaskClient, settings: Settings, content: str
) -> None:
    description_file(settings.home).write_text(content)
    text = words(client.get("/").text)
    assert "The index is damaged." in text
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
    assert "the introductions of 9,842 Wikipedia articles and nothing else" in text
    assert "CC BY-SA 4.0" in text
    problem = EsotericError("index_unreachable", "The server does not answer.", "Start it.")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "broken", problem, corpus)
    text = words(client.get("/").text)
    assert "The server does not answer. Start it." in text
    assert "9,842" not in text
    services_of(app).close()


def test_the_form_redirects_to_the_claim(client: FlaskClient, store: JobStore) -> None:
    answer = client.post("/claims", data={"claim": CLAIM})
    assert answer.status_code == 303
    job = store.recent(1)[0]
    assert answer.headers["Location"] == f"/claims/{job.id}"
    assert job.claim == CLAIM
    assert job.state == "queued"


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        ("", "There is no claim to check."),
        (" \r\n\t", "There is no claim to check."),
        ("1234", "The claim contains no words."),
        ("q", "Single letters are not a claim."),
        ("snow " * 101, "The claim is 504 characters long; at most 500 can be checked."),
        ("<b>\x07</b>", "The claim contains control characters."),
    ],
)
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


def test_a_question_without_a_verdict_can_be_checked_anyway(
    client: FlaskClient, store: JobStore
) -> None:
    refused = client.post("/claims", data={"claim": "Who built it?"})
    assert refused.status_code == 422
    assert "yes or no does not answer" in words(refused.text)
    assert '<button type="submit" name="anyway" value="1">Check it anyway</button>' in refused.text
    assert "Check it anyway" not in client.post("/claims", data={"claim": "?"}).text
    accepted = client.post("/claims", data={"claim": "Who built it?", "anyway": "1"})
    assert accepted.status_code == 303
    assert [job.claim for job in store.recent(9)] == ["Who built it?"]


def test_a_result_shows_the_claim_as_it_was_written(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store, f"Claim: {CLAIM} <b>")
    worker.finish(job, claim_document(CLAIM) | {"claim_as_written": job.claim})
    page = client.get(f"/claims/{job.id}").text
    assert f"As it was written: “Claim: {CLAIM} <b>”" in words(page)
    assert "Claim: The Lighthouse of Varn was built by Ida Holm. <b>" not in page


def test_the_statements_of_a_claim_have_their_own_verdicts(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    parts = [statement("It is <b>.", 0, 3, "SUPPORTS", [1]), statement("Old.", 4, 6, "REFUTES", [])]
    worker.finish(job, claim_document(CLAIM) | {"statements": parts})
    page = client.get(f"/claims/{job.id}").text
    listed = re.search(r'<ol class="statements">(.*?)</ol>', page, re.DOTALL)
    assert listed is not None
    items = re.findall(r"<li>(.*?)</li>", listed[1], re.DOTALL)
    assert [words(item) for item in items] == [
        "Supported 90% confident It is <b>.",
        "Refuted 90% confident Old.",
    ]
    assert "It is &lt;b&gt;." in items[0]


def test_a_pending_claim_shows_its_stages(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    run = worker.start(job)
    worker.record(run, FIRST_HOP[:5])
    page = client.get(f"/claims/{job.id}").text
    rows = re.findall(r'<li data-stage="(\w+)" class="(\w+)">', page)[:14]
    assert rows == [
        ("spans", "done"),
        ("titles", "done"),
        ("texts", "done"),
        ("questions", "done"),
        ("ranking", "running"),
        ("sentences", "waiting"),
        ("relevance", "waiting"),
        ("semantic", "waiting"),
        ("verification", "waiting"),
        ("quantities", "waiting"),
        ("comparison", "waiting"),
        ("selection", "waiting"),
        ("verdict", "waiting"),
        ("next", "waiting"),
    ]
    text = words(page)
    assert "Asking: Who built the Lighthouse of Varn?" in text
    assert '<progress id="bar" max="100" value="28">' in page  # step 4 of 14
    assert f'action="/claims/{job.id}/cancel" method="post"' in page


def test_without_scripts_the_page_reloads_itself_only_on_request(
    client: FlaskClient, store: JobStore
) -> None:
    address = f"/claims/{submitted(store).id}"
    refresh = '<meta http-equiv="refresh" content="2">'
    page = client.get(address).text
    assert refresh not in page
    assert f'<a href="{address}">Show the progress</a>' in page
    assert f'<a href="{address}?follow=1">' in page
    followed = client.get(f"{address}?follow=1").text
    assert f"<noscript>{refresh}</noscript>" in followed
    assert f'<a href="{address}">Stop reloading</a>' in followed


def test_a_second_hop_is_shown_under_the_first(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    run = worker.start(job)
    worker.record(run, SECOND_HOP[:2], worker.record(run, FIRST_HOP))
    page = client.get(f"/claims/{job.id}").text.split("<template")[0]
    hops = page.split('<section class="hop"')[1:]
    assert len(hops) == 2
    assert "waiting" not in hops[0]
    assert re.findall(r'data-stage="(\w+)" class="(\w+)"', hops[1]) == [
        ("sentences", "done"),
        ("relevance", "done"),
        ("semantic", "running"),
        ("verification", "waiting"),
        ("quantities", "waiting"),
        ("comparison", "waiting"),
        ("selection", "waiting"),
        ("verdict", "waiting"),
    ]


def test_a_claim_that_starts_again_says_so_and_forgets_the_first_attempt(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    run = worker.start(job)
    worker.record(run, FIRST_HOP[:4])
    assert RunStore(store.database).give_back(run)
    again = worker.start(job)
    worker.record(again, FIRST_HOP[:2])
    page = client.get(f"/claims/{job.id}").text
    note = (
        '<p id="note" class="notice" role="status">Its worker stopped; the claim starts again.</p>'
    )
    assert note in page
    assert re.findall(r'class="(done|running)"', page) == ["done", "running"]


def test_a_queued_claim_says_what_it_waits_for(client: FlaskClient, store: JobStore) -> None:
    job = submitted(store)
    assert "No worker is running" in words(client.get(f"/claims/{job.id}").text)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    assert "Waiting for its turn." in words(client.get(f"/claims/{job.id}").text)


@pytest.mark.parametrize(
    ("label", "confidence", "shown"),
    [
        ("SUPPORTS", 0.934, "Verdict: Supported 93% sure 2 support · 1 settles nothing “"),
        ("REFUTES", 0.75, "Verdict: Refuted 75% sure 2 refute · 1 settles nothing “"),
        (
            "NOT ENOUGH INFO",
            0.41,
            "Verdict: Not settled This corpus does not settle it. 3 settle nothing Edit the claim",
        ),
        ("REFUTES", 0.69, "Verdict: Probably refuted 69% sure 2 refute"),
        ("SUPPORTS", 0.999, "Verdict: Supported 99% sure"),
    ],
)
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
    assert "Claim · Wikipedia introductions, text of an unknown date · recipe esoteric" in text
    assert (
        "Hop 1 3 documents read, 2 sentences found."
        " Not named in the selected sentences: “Lighthouse”."
    ) in text
    assert "Hop 2 Not named before it: “Lighthouse”. “It was built" in text
    assert (
        "in Lighthouse of Varn led to Ida Holm. 1 document read, 2 sentences found."
        " Now named: “Lighthouse”."
    ) in text
    assert "The search ended: the evidence was enough to decide." in text
    assert "Who built the Lighthouse of Varn?" in text
    assert (
        "Wikipedia introductions, 9,842 documents, text of an unknown date, indexed on"
        " 20 November 2026. Texts from Wikipedia" in text
    )
    assert "in 0.81 s" in text
    for name in ("json", "md", "csv"):
        assert f"/api/v1/claims/{job.id}/export?format={name}" in page.text
    assert "export?format=claimreview" not in page.text  # only after a person has confirmed
    assert '<input id="name" name="name" required' in page.text
    assert f'href="http://localhost/claims/{job.id}"' in page.text


def test_a_calibrated_verdict_says_how_many_such_are_right_and_where_that_was_measured(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM, "REFUTES", 0.85)
    result["verdict"] |= {"judge": "MPNet verifier 8.2", "opinions": []}
    job = submitted(store)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    assert '<a href="#measured">About 85 of 100 such verdicts are right</a>' in page
    assert '<p id="measured">' in page


def test_a_claim_that_is_not_settled_names_what_is_missing_and_ways_on(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.86)
    result["hops"][-1] |= {"sufficient": False, "missing": [[4, 14]], "stopped": "hops"}
    job = submitted(store)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    block = page.split('<section class="verdict')[1].split("</section>")[0]
    assert "Nothing that was found settles “Lighthouse”." in words(block).replace("“ ", "“")
    assert "%" not in words(block)
    assert "search/The%20Lighthouse%20of%20Varn" in block
    evidence = page.split('id="evidence"')[1].split("</section>")[0]
    assert evidence.index("<summary>The 3 closest sentences") < evidence.index('id="item-1"')


def test_a_verdict_without_selected_evidence_has_no_confidence(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 1.0)
    for item in result["evidence"]:
        item["selected"] = False
    job = submitted(store)
    worker.finish(job, result)
    text = words(client.get(f"/claims/{job.id}").text)
    assert "confident" not in text.split("What was found")[0]
    assert "This corpus does not settle it." in text


def test_evidence_is_marked_in_its_document(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, claim_document(CLAIM, "REFUTES"))
    page = client.get(f"/claims/{job.id}").text
    marks = re.findall(r'id="evidence-(\d)"[^>]*>\d</a><mark class="(\w+)">(.*?)</mark>', page)
    # In the order of the documents: the best evidence's document comes first.
    assert marks == [
        ("3", "unsettled", "The Lighthouse of Varn stands on a rock off the coast of Ostrea."),
        (
            "1",
            "refuted",
            "It was built in 1874 by the engineer Ida Holm, who lived in it until her death.",
        ),
        ("2", "refuted", "Ida Holm (1831 to 1899) was an Ostrean engineer."),
        ("4", "refuted", "She planned eleven lighthouses and two bridges."),
    ]
    documents = re.findall(r'<details class="document"( open)?>\s*<summary><h3><bdi>(.*?)<', page)
    assert documents == [
        (" open", "Lighthouse of Varn"),
        ("", "Ida Holm"),
        ("", "Ostrea"),
        ("", "Varnby"),
    ]
    for rank in "1234":
        assert f'href="#evidence-{rank}"' in page


def test_evidence_proof_and_leads_name_the_page_and_section_of_a_passage(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_passages()
    job = submitted(store, result["claim"])
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    place = "Annual report 1931, page 12, Results > Revenue"
    text = words(page)
    for before, after in (
        (
            "crowns, a tenth more than in the year before.",
            "Show in the document: evidence 1 The",
        ),
        (
            "alone The harbour earned four million crowns, a tenth more than in the year before.",
            ", from varnby.example Show in the document: evidence 1 Evidence 2 Supports",
        ),
        ("77% confident, read together with", "For the next year the board expects"),
        ("in the year before.” in", "led to Annual report 1931. 1 document read"),
    ):
        assert f"{before} {place} {after}".replace(" ,", ",") in text
    assert "whaling. Varnby, from en.wikipedia.org Show in the document: evidence 3" in text
    assert (
        '<a href="https://varnby.example/report.pdf#page=12" rel="external noopener nofollow">'
        "<bdi>Annual report 1931, page 12, Results &gt; Revenue</bdi></a>"
    ) in page


def test_a_document_of_a_folder_is_credited_to_its_file_and_not_to_wikipedia(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM)
    credit = "minutes.docx, modified on 2024-03-05"
    for document in result["documents"]:  # the pages of a wiki, saved in a folder
        document["source"] = credit
    result["corpus"] |= {"name": "minutes", "text_date": "2024-03-05"}
    job = submitted(store)
    worker.finish(job, result)
    text = words(client.get(f"/claims/{job.id}").text)
    assert "Ida Holm, from minutes.docx, modified on 5 March 2024, found in hop 2" in text
    assert "From minutes.docx, modified on 5 March 2024, found by" in text
    assert "9,842 documents, text of 5 March 2024, indexed on 20 November 2026." in text
    assert "Texts from Wikipedia" not in text


def test_evidence_of_a_file_names_its_page_once(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_passages()
    result["documents"][0]["source"] = "report, page 2.pdf, page 12, modified on 2024-03-05"
    job = submitted(store, result["claim"])
    worker.finish(job, result)
    text = words(client.get(f"/claims/{job.id}").text)
    place = "Annual report 1931, page 12, Results > Revenue"
    assert f"{place}, from report, page 2.pdf, modified on 5 March 2024 Show" in text


def test_evidence_that_was_read_by_ocr_is_marked_and_explained_once(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_passages()
    for item in (result["evidence"][0], result["documents"][0]):
        item["section"] = BY_OCR
    job = submitted(store, result["claim"])
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    text = words(page)
    assert "Evidence 1 Supports Read by OCR 92% confident, read alone" in text
    assert "<bdi>Annual report 1931, page 12</bdi>" in page
    assert page.count('class="tag"') == 1
    assert text.count(OCR_NOTE) == 1
    assert "<h4><bdi>Page 12, read by OCR</bdi></h4>" in page


def test_the_passages_of_a_document_are_shown_together_in_its_order(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_passages()
    job = submitted(store, result["claim"])
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text.split('id="documents"')[1].split('id="search"')[0]
    headings = re.findall(r"<(summary|h4)>(.*?)</\1>", page, re.DOTALL)
    assert [(tag, words(inner)) for tag, inner in headings] == [
        ("summary", "Annual report 1931 2 sentences marked in 2 passages"),
        ("h4", "Page 3, Results > Outlook"),
        ("h4", "Page 12, Results > Revenue"),
        ("summary", "2 more passages read, without evidence"),
        ("h4", "Page 1"),
        ("h4", "Page 15, The board"),
        ("summary", "Varnby 1 sentence marked"),
        ("summary", "1 more document opened, without evidence"),
        ("summary", "Rules of the harbour 2 passages"),
        ("h4", "Passage 1"),
        ("h4", "Dues"),
    ]
    assert re.findall(r'href="(\S*?)" rel="external noopener nofollow"><bdi>Source: ', page) == [
        "https://varnby.example/report.pdf#page=3",
        "https://varnby.example/report.pdf#page=12",
        "https://varnby.example/report.pdf#page=1",
        "https://varnby.example/report.pdf#page=15",
        "https://en.wikipedia.org/wiki/Varnby",
        "https://varnby.example/rules.html",
        "https://varnby.example/rules.html#dues",
    ]


def test_documents_whose_ids_only_look_like_passages_stay_apart(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM)
    result["evidence"] = []
    for number, read in enumerate(result["documents"], 1):
        read["id"] = f"Pier #{number}"
    job = submitted(store)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    assert page.count('<details class="document"') == 4
    assert "<h4>" not in page


def test_a_claim_without_evidence_says_so(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, document_without_evidence(CLAIM))
    text = words(client.get(f"/claims/{job.id}").text)
    assert "Not settled This corpus does not settle it. No sentence in the corpus is about" in text
    assert "No evidence was found. Try full names of people, places or works." in text


def test_the_proof_is_shown_on_the_claim_and_as_a_list(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_a_long_proof()
    job = submitted(store, result["claim"])
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
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
        "The proof, part by part The evidence leaves open “was born in Varnby”,"
        " so it is not sufficient."
    ) in text
    assert (
        "“in 1875” Gives a different answer It was built in 1874 by the engineer Ida Holm, who"
        " lived in it until her death. Lighthouse of Varn Show in the document: evidence 1"
    ) in text
    assert (
        "“was born in Varnby” Nothing found yet None of the selected sentences settles this part."
    ) in text
    assert "the evidence says the opposite or gives a different answer (2 parts)" in text
    assert "Open: none of the selected sentences settles it (1 part)" in text
    assert '<blockquote dir="auto">It was built <mark class="refuted">in 1874</mark> by' in page
    assert "lowered" not in text
    assert (
        "Now covered: “an Ostrean engineer”, “who planned” and “eleven bridges”."
        " Still open: “was born in Varnby”. Hop 3 Open before it: “was born in Varnby”."
    ) in text
    assert "found by a sentence similar in meaning, in hop 3" in text
    assert "found by a title predicted from the evidence, in hop 3" in text


def test_a_part_that_matches_a_whole_sentence_names_the_title_too(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_proof()
    built = result["evidence"][0]
    result["proof"][0]["evidence"][2:] = [built["start"], built["end"]]
    job = submitted(store, PROVED_CLAIM)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    assert (
        f'<blockquote dir="auto">{built["sentence"]}</blockquote>' in page.split('id="part-1"')[1]
    )
    assert (
        f"“The Lighthouse of Varn” Says the same {built['sentence']} By the title or the whole"
        " sentence in Lighthouse of Varn Show in the document: evidence 1"
    ) in words(page)


def test_a_sentence_read_with_others_is_not_said_to_be_read_alone(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store, PROVED_CLAIM)
    worker.finish(job, document_with_proof())
    text = words(client.get(f"/claims/{job.id}").text)
    assert text.count("confident, read alone") == 2
    assert "Settles nothing read alone" in text
    assert "88% confident, read together with Lighthouse of Varn Ida Holm (1831" in text


def test_the_context_of_a_sentence_is_shown_around_it(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM)
    both, after = result["evidence"][:2]
    both |= {
        "context_before": "Was <i>it</i> safe?",
        "sentence": "No.",
        "context_after": "It fell.",
    }
    after |= {"sentence": "Is it old?", "context_after": "Yes."}
    job = submitted(store, CLAIM)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    assert (
        '<blockquote dir="auto"><span class="context">Was &lt;i&gt;it&lt;/i&gt; safe?</span> No.'
        ' <span class="context">It fell.</span></blockquote>'
    ) in page
    assert (
        '<blockquote dir="auto">Is it old? <span class="context">Yes.</span></blockquote>' in page
    )
    assert words(page).count("confident, read with its context") == 2


def test_the_page_says_that_the_proof_does_not_agree(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store, PROVED_CLAIM)
    worker.finish(job, document_with_proof("REFUTES"))
    text = words(client.get(f"/claims/{job.id}").text)
    assert (
        "The check by parts disagrees Read part by part, the evidence does not give the same"
        " verdict. This has lowered the confidence."
    ) in text
    assert "The proof, part by part" not in text
    assert "Says the same" not in text


@pytest.mark.parametrize("result", [claim_document(CLAIM), document_kept_from_before(CLAIM)])
def test_without_a_proof_the_page_has_no_proof_section(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, result: dict[str, object]
) -> None:
    job = submitted(store)
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}")
    assert page.status_code == 200
    assert "part by part" not in page.text
    assert "proof.js" not in page.text


def test_an_old_result_says_whether_its_hops_were_enough(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    result = document_kept_from_before(CLAIM)
    result["hops"][0]["missing"] = []
    worker.finish(job, result)
    text = words(client.get(f"/claims/{job.id}").text)
    assert "3 documents read, 2 sentences found. That was not enough." in text
    assert "1 document read, 2 sentences found. That was enough." in text


def test_a_pending_claim_with_a_removed_recipe_has_a_page(
    client: FlaskClient, store: JobStore
) -> None:
    job = store.submit(CLAIM, "soup")[0]
    assert client.get(f"/claims/{job.id}").status_code == 200


def test_notices_are_shown(client: FlaskClient, store: JobStore, worker: WorkerByHand) -> None:
    job = submitted(store)
    worker.finish(job, {**claim_document(CLAIM), "notices": ["This is a question."]})
    page = client.get(f"/claims/{job.id}").text
    assert '<p class="notice" dir="auto">This is a question.</p>' in page


def test_the_next_claim_is_checked_by_the_same_recipe(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, claim_document(CLAIM))
    page = client.get(f"/claims/{job.id}").text
    assert '<input type="hidden" name="recipe" value="esoteric">' in page


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


def test_cancel_redirects_to_the_claim(client: FlaskClient, store: JobStore) -> None:
    job = submitted(store)
    answer = client.post(f"/claims/{job.id}/cancel")
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/claims/{job.id}"
    assert "This check was cancelled" in words(client.get(f"/claims/{job.id}").text)


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


@pytest.mark.parametrize("page", ["0", "-3", "x", "9" * 40, "1.5", ""])
def test_a_wrong_page_number_shows_a_page(client: FlaskClient, store: JobStore, page: str) -> None:
    submitted(store)
    answer = client.get("/claims", query_string={"page": page})
    assert answer.status_code == 200
    assert "1 claim, newest first." in words(answer.text)


def test_the_history_finds_a_claim_whatever_form_its_accents_have(
    client: FlaskClient, store: JobStore
) -> None:
    client.post("/claims", data={"claim": "The caf\u00e9 of Varnby is open."})
    assert "1 claim with" in words(client.get("/claims", query_string={"q": "cafe\u0301"}).text)


@pytest.mark.parametrize(
    ("seconds", "words_of_it"), [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3725, "62 min 5 s")]
)
def test_time_is_shown_in_minutes_and_seconds(seconds: int, words_of_it: str) -> None:
    assert elapsed(seconds) == words_of_it


def test_commands_in_hints_stand_out(client: FlaskClient, store: JobStore) -> None:
    page = client.get(f"/claims/{submitted(store).id}").text
    assert "<code>esoteric up</code>" in page


def document_with_doubt() -> dict[str, Any]:
    """Return an undecided document that leans, with one sentence against its lean."""
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.8)
    result["verdict"] |= {"leans": "REFUTES", "disagreement": [2]}
    result["evidence"][0] |= {"stance": "REFUTES", "copies": 7}
    result["evidence"][1] |= {"stance": "SUPPORTS"}
    return result


def test_an_undecided_verdict_shows_its_lean_and_no_confidence(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, document_with_doubt())
    page = client.get(f"/claims/{job.id}").text
    verdict = words(
        page.split('<section class="verdict unsettled leans"')[1].split("</section>")[0]
    )
    assert "Verdict: Leans refuted This corpus does not settle it." in verdict
    assert "%" not in verdict
    assert "confidence" not in verdict


def test_the_balance_and_the_best_sentence_against_the_verdict_stand_in_its_block(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, document_with_doubt())
    page = client.get(f"/claims/{job.id}").text
    verdict = words(page.split('<section class="verdict')[1].split("</section>")[0])
    assert "1 refutes · 1 supports · 1 settles nothing" in verdict
    assert (
        "Against it “Ida Holm (1831 to 1899) was an Ostrean engineer.” Ida Holm, evidence 2"
    ) in verdict
    assert '<a href="#item-2"><bdi>Ida Holm' in page


def test_a_sentence_says_in_how_many_documents_it_stands(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = submitted(store)
    worker.finish(job, document_with_doubt())
    text = words(client.get(f"/claims/{job.id}").text)
    assert text.count(", in 7 documents") == 1
    assert "in 1 documents" not in text


def test_the_history_is_as_sure_as_the_verdicts(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    worker.finish(submitted(store), document_with_doubt())
    worker.finish(submitted(store), claim_document(CLAIM, "SUPPORTS", 0.69))
    worker.finish(submitted(store), claim_document(CLAIM, "SUPPORTS", 0.7))
    text = words(client.get("/claims").text)
    assert "Leans refuted" in text
    assert "Probably supported" in text
    assert "Supported" in text
    assert "%" not in text
