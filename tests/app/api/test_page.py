"""The OpenAPI document, the page about the API, and the client in one file, on a real server."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import jsonschema  # type: ignore[import-untyped]
import pytest

from app.api.page import ENDPOINTS
from examples import esoteric_client
from examples.esoteric_client import Esoteric, EsotericError
from retrieval.errors import EsotericError as Failure
from retrieval.recipes.recipe_files import as_yaml
from retrieval.recipes.recipes import RECIPES
from settings import CHECKOUT
from tests.app.claim_documents import (
    claim_document,
    document_kept_from_before,
    document_with_a_long_proof,
    document_with_proof,
    document_without_evidence,
)
from tests.app.client import CLAIM, Client
from tests.app.conftest import Start
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from tests.support.cases import cases
from worker.comparison_store import ComparisonStore, Gold
from worker.jobs import Job, UnknownJob

FAILING = "Varnby has a theatre."
HARBOUR = "Varnby has a harbour."


def test_every_route_and_method_is_described_and_nothing_else_is(client: Client) -> None:
    description = client.json("/api/v1/openapi.json")
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in client.application.url_map.iter_rules()
        if rule.endpoint != "static"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert routes == {
        (path, method)
        for path, operations in description["paths"].items()
        for method in operations
        if method != "parameters"
    }
    found = set(re.findall(r"'#/components/schemas/(\w+)'", str(description)))
    assert found <= set(description["components"]["schemas"])
    for schema in description["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_answers_and_results_are_as_described(client: Client) -> None:
    components = client.json("/api/v1/openapi.json")["components"]

    def check(schema: str, answer: Any) -> None:
        named = {"$ref": f"#/components/schemas/{schema}", "components": components}
        jsonschema.Draft202012Validator(named).validate(answer)

    def answered(path: str, schema: str) -> None:
        check(schema, client.json(path))

    accepted = client.post("/api/v1/claims", json={"claim": HARBOUR}).get_json()
    check("Accepted", accepted)
    job, failing = client.store.get(accepted["id"]), client.sent(FAILING)
    answered(f"/api/v1/claims/{job.id}", "Job")
    answered("/api/v1/claims", "Claims")
    answered("/readyz", "NotReady")
    client.services.workers.beat("by-hand", datetime.now(UTC), "ready")
    client.worker.finish(job, claim_document(job.claim))
    client.worker.fail(failing, Failure("worker_lost", "It is gone.", "Try again."))
    said = {"agrees": False, "label": "REFUTES", "wrong": [1], "note": "No.", "name": "Ida Holm"}
    check("FeedbackGiven", said)
    given = client.post(f"/api/v1/claims/{job.id}/feedback", json=said)
    check("FeedbackItem", given.get_json())
    for path, schema in (
        *((f"claims/{job.id}", "Job"), (f"claims/{failing.id}", "Job"), ("claims", "Claims")),
        *((f"claims/{job.id}/progress", "Progress"), ("claims/none", "Error"), ("none", "Error")),
        (f"compare?claims={job.id},{failing.id},gone", "Comparison"),
        *(("feedback", "FeedbackList"), ("recipes", "Recipes"), ("corpora", "Corpora")),
    ):
        answered(f"/api/v1/{path}", schema)
    answered("/readyz", "Ready")
    check("Error", client.put("/api/v1/claims").get_json())
    check("ClaimResult", document_with_proof())
    check("ClaimResult", document_with_a_long_proof())
    check("ClaimResult", document_without_evidence(HARBOUR))
    check("ClaimResult", document_kept_from_before(HARBOUR))


def test_the_description_names_the_recipes_also_of_a_folder(start: Start, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(as_yaml(replace(RECIPES["m3"], name="mine")))
    described = start(ESOTERIC_RECIPES=str(tmp_path)).json("/api/v1/openapi.json")
    recipe = described["components"]["schemas"]["Submission"]["properties"]["recipe"]
    assert {*RECIPES, "mine", "combined+3", "mine+9", None} < set(recipe["enum"])
    assert "fer+3" not in recipe["enum"]  # has one hop


def test_every_endpoint_of_the_api_has_a_block(client: Client) -> None:
    written = {"{job_id}": "ID", "{list_id}": "ID", "{feedback_id}": "FEEDBACK", "{name}": "NAME"}
    written |= {"corpora/{which}": "corpora/NAME", "{which}": "ID", "{file}": "FILE"}
    calls = set()
    for path, operations in client.json("/api/v1/openapi.json")["paths"].items():
        shown = path
        for name, example in written.items():
            shown = shown.replace(name, example)
        calls |= {f"{method.upper()} {shown}" for method in operations if "/api/v1/" in path}
    assert {endpoint.call for endpoint in ENDPOINTS} == calls
    page = client.get("/api").text
    for endpoint in ENDPOINTS:
        assert f'<h2 id="{endpoint.name}"><code>{endpoint.call}</code></h2>' in page
    assert "ADDRESS" not in page
    assert "Claims are kept until they are deleted." in page


# The client


@pytest.fixture
def service(web: WebProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[Esoteric]:
    """A client of a service whose worker supports every claim, except one that fails."""
    monkeypatch.setattr(esoteric_client, "WAIT_SECONDS", 0.05)
    ended = Event()

    def work() -> None:
        worker = WorkerByHand(web.store)
        while not ended.is_set():
            for listed in web.store.recent(9):
                # The client may delete or cancel a claim at any moment.
                with suppress(UnknownJob, AssertionError):
                    answer(worker, web.store.get(listed.id))
            time.sleep(0.02)

    def answer(worker: WorkerByHand, job: Job) -> None:
        if job.state == "queued" and job.claim == FAILING:
            worker.fail(job, Failure("worker_lost", "It is gone.", "Try again."))
        elif job.state == "queued":
            worker.finish(job, claim_document(job.claim))

    thread = Thread(target=work)
    thread.start()
    yield Esoteric(web.address + "/")
    ended.set()
    thread.join()


def filled_in(web: WebProcess, service: Esoteric, example: str, name: str) -> str:
    """Return the example with the id of a list where it is about one, else of a finished claim."""
    claim = f"{CLAIM[:-1]} or {name}."
    if "list" in example:
        return example.replace("ID", service.submit_list([claim])["id"])
    job = service.submit(claim)["id"]
    service.result(job)
    said = service.say(job, agrees=True)["id"]
    example = example.replace("ID", job).replace("FEEDBACK", said)
    if "NAME" in example:
        corpus = service.make_corpus(f"Corpus {uuid4()}")["name"]
        service.upload(corpus, {"pier.txt": b"Ships go."})
        example = example.replace("NAME", corpus)
    if "COMPARISON" in example:
        made = ComparisonStore(web.store.database).create("Two judges", {job: Gold()})
        example = example.replace("COMPARISON", made)
    return example


@pytest.mark.server
def test_what_the_page_shows_runs_as_it_stands(web: WebProcess, service: Esoteric) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", web.get("/api")[1].decode(), re.S)
    shell = [text for block in blocks if (text := html.unescape(block)).startswith("curl -s ")]
    assert len(shell) == len(ENDPOINTS)
    calls = dict(zip((endpoint.name for endpoint in ENDPOINTS), shell, strict=True))
    python = [html.unescape(block) for block in blocks if "service." in block]
    for name in calls:  # a claim is deleted by its own block only
        command = filled_in(web, service, calls[name], name)
        run = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=True)
        assert run.stdout
        refused = "nobody_logs_in" if name.startswith("share") else ""
        assert run.stdout.startswith('{"error"') == bool(refused)
        assert refused in run.stdout
    for number, code in enumerate(python):
        if "service.share(" in code:
            continue
        code = filled_in(web, service, code, str(number))
        code = code.replace("esoteric_client", "examples.esoteric_client")
        exec(code, {"service": service})


@pytest.mark.server
def test_the_client_checks_one_claim_and_many_with_errors_beside_results(service: Esoteric) -> None:
    accepted = service.submit(CLAIM, "esoteric")
    stages = [event["stage"] for event in service.progress(accepted["id"])]
    assert stages == [stage for stage, _ in (*FIRST_HOP, *SECOND_HOP)]
    assert service.result(accepted["id"]) == claim_document(CLAIM)
    assert service.claim(accepted["id"])["recipe"] == "esoteric"
    (listed,) = service.claims("lighthouse OF")["claims"]
    assert (listed["id"], listed["verdict"]["label"]) == (accepted["id"], "SUPPORTS")
    assert service.export(accepted["id"], "md").startswith(b"# The Lighthouse of Varn was built")
    assert "combined" in [recipe["name"] for recipe in service.recipes()]
    assert len(service.corpora()) == 1
    service.delete(accepted["id"])
    with pytest.raises(EsotericError, match="no claim with this id"):
        service.claim(accepted["id"])
    found = list(service.check_all([CLAIM, "?!", FAILING, HARBOUR]))
    assert [claim for claim, _ in found] == [CLAIM, "?!", FAILING, HARBOUR]
    first, second, third, fourth = (result for _, result in found)
    assert first == claim_document(CLAIM)
    assert isinstance(second, EsotericError)
    assert second.code == "claim_no_letters"
    assert isinstance(third, EsotericError)
    assert str(third) == "It is gone. Try again."
    assert fourth == claim_document(HARBOUR)


@cases("client_addresses", "address", "code")
def test_the_client_says_that_no_service_is_there(address: str, code: str) -> None:
    with pytest.raises(EsotericError) as raised:
        Esoteric(address).recipes()
    assert raised.value.code == code


@pytest.mark.server
def test_the_client_is_served_and_runs_as_a_program(web: WebProcess, service: Esoteric) -> None:
    file = CHECKOUT / "examples" / "esoteric_client.py"
    assert web.get("/api/esoteric_client.py") == (200, file.read_bytes())

    def ran(claim: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(file), web.address, claim]
        return subprocess.run(command, capture_output=True, text=True)

    run, refused = ran(CLAIM), ran("?!")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("SUPPORTS (0.")
    assert "spans: Looking for" in run.stderr
    assert (refused.returncode, refused.stdout) == (1, "")
    (line,) = refused.stderr.splitlines()
    assert "The claim contains no words." in line
    with pytest.raises(EsotericError) as raised:
        Esoteric(f"{web.address}/claims?q=").recipes()
    assert raised.value.code == "not_esoteric"
