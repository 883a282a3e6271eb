"""Hostile claims and corpora are shown on the pages, escaped."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

from app.filters import safe_url
from retrieval.errors import EsotericError
from tests.app.claim_documents import claim_document, document_with_proof
from tests.app.worker_by_hand import WorkerByHand
from tests.support.cases import cases
from worker.job_store import JobStore
from worker.run_store import RunStore

HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>{{ 7777 * 7777 }}</textarea>"


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_harmless(page: str) -> None:
    for tag, attributes in Elements(page).found:
        assert tag not in ("img", "iframe", "object", "embed", "base", "style")
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "script":
            assert (attributes["src"] or "").startswith("/static/")
        for name in ("href", "src", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "http://", "https://"))
    assert "60481729" not in page.split("<main")[1].split("</main")[0]


def test_a_hostile_corpus_and_claim_are_shown_and_do_nothing(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(HOSTILE, "esoteric")[0]
    result = claim_document(HOSTILE)
    result["notices"] = [HOSTILE]
    result["corpus"]["name"] = HOSTILE
    result["corpus"] |= {"built_at": HOSTILE, "text_date": HOSTILE}
    result["verdict"] |= {"rationale": HOSTILE, "judge": HOSTILE}
    result["questions"] = [{"text": HOSTILE, "answer_span": None, "kind": "polar"}]
    result["seconds"] = {"total": 1.0, HOSTILE: 0.5}
    addresses = ["javascript:alert(1)", "data:text/html,x", " https://x.example", "//x.example"]
    for evidence, document, address in zip(
        result["evidence"], result["documents"], addresses, strict=True
    ):
        evidence |= {"title": HOSTILE, "sentence": HOSTILE, "url": address, "section": HOSTILE}
        evidence |= {"context_before": HOSTILE, "context_after": HOSTILE}
        document |= {"title": HOSTILE, "text": HOSTILE * 9, "url": address, "section": HOSTILE}
        document |= {"source": HOSTILE}
        document["found_by"] = [HOSTILE]
    result["documents"][2]["led_by"] = [HOSTILE, 0]
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    assert_harmless(page)
    assert "javascript:" not in page
    assert "x.example" not in page
    assert page.count("&lt;script&gt;alert(") > 20
    result["evidence"][0]["document"] = HOSTILE
    other = store.submit(HOSTILE, "m3")[0]
    worker.finish(other, result | {"recipe": "m3"})
    compared = client.get(f"/compare?claims={job.id},{other.id},{HOSTILE.replace(',', '')}").text
    assert_harmless(compared)
    assert "javascript:" not in compared
    assert compared.count("&lt;script&gt;alert(") > 20
    assert_harmless(client.get("/compare", query_string={"claim": HOSTILE}).text)
    for path in ("/", "/claims", "/claims?q=%3Cscript%3Ealert(1)%3C/script%3E"):
        assert_harmless(client.get(path).text)


@pytest.mark.parametrize("offsets", [(0, 8), (-7, 400), (40, 2), (10**9, 10**10)])
def test_a_hostile_proof_with_odd_offsets_is_shown_and_does_nothing(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, offsets: tuple[int, int]
) -> None:
    job = store.submit(HOSTILE, "esoteric")[0]
    result = {**document_with_proof(), "claim": HOSTILE}
    for evidence in result["evidence"]:
        evidence["sentence"] = HOSTILE
        evidence["path"] = [[HOSTILE, 0], ["Ida Holm", 10**9]]
    for read in result["documents"]:
        read |= {"title": HOSTILE, "text": HOSTILE}
    result["evidence"][0]["document"] = HOSTILE
    keys = [(HOSTILE, 1), ("Ida Holm", 0), ("Lighthouse of Varn", 0), ("Ida Holm", 1)]
    result["proof"] = [
        {"claim_span": list(span), "operator": operator, "evidence": [*key, *offsets]}
        for span in (offsets, (5, 30), (20, 60))
        for operator in ("equivalence", "alternation", "negation")
        for key in keys
    ]
    result["proof"].append({"claim_span": [5, 30], "operator": "independence", "evidence": None})
    result["documents"][1]["led_by"] = ["Lighthouse of Varn", 1]
    result["documents"][2]["led_by"] = [HOSTILE, -4]
    result["hops"][0]["missing"] = [list(offsets), [5, 30]]
    worker.finish(job, result)
    said = {"agrees": True, "name": HOSTILE[:100], "note": HOSTILE}
    assert client.post(f"/api/v1/claims/{job.id}/feedback", json=said).status_code == 201
    assert_harmless(client.get("/feedback").text)
    assert_harmless(client.get("/claims").text)
    page = client.get(f"/claims/{job.id}")
    assert page.status_code == 200
    assert_harmless(page.text)
    assert 'class="drawn"' in page.text
    for name in ("json", "md", "csv", "claimreview"):
        answer = client.get(f"/api/v1/claims/{job.id}/export?format={name}")
        assert answer.status_code == 200


def test_hostile_progress_errors_and_forms_do_nothing(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(HOSTILE, "esoteric")[0]
    run = worker.start(job)
    worker.record(run, (("start", HOSTILE), ("spans", HOSTILE), ("questions", HOSTILE)))
    assert_harmless(client.get(f"/claims/{job.id}").text)
    assert RunStore(store.database).fail(run, EsotericError(HOSTILE, HOSTILE, HOSTILE))
    assert_harmless(client.get(f"/claims/{job.id}").text)
    assert_harmless(client.post("/claims", data={"claim": HOSTILE + "\x07"}).text)
    assert_harmless(client.get(f"/{HOSTILE}").text)


def test_text_in_either_direction_is_kept_from_its_surroundings(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    claim = "\u202e\u05e9\u05dc\u05d2 \u05dc\u05d1\u05df."
    job = store.submit(claim, "esoteric")[0]
    worker.finish(job, claim_document(claim))
    assert f'id="claim-text"><bdi>{claim}</bdi></h1>' in client.get(f"/claims/{job.id}").text
    assert f"<bdi>{claim}</bdi>" in client.get("/claims").text


@cases("addresses_of_pages", "url")
def test_only_addresses_of_the_web_become_links(url: str | None) -> None:
    assert safe_url(url) is None
    for one in (
        "https://en.wikipedia.org/wiki/Oak",
        "http://localhost:9000/a?b=c#d",
        "HTTPS://A.B/",
    ):
        assert safe_url(one) == one
