"""The page about the API, and the client in one file, against the real web server."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread
from uuid import uuid4

import pytest
from flask.testing import FlaskClient

from app.api.page import ENDPOINTS
from examples import esoteric_client
from examples.esoteric_client import Esoteric, EsotericError
from retrieval.errors import EsotericError as Failure
from settings import CHECKOUT
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, SECOND_HOP, WorkerByHand
from tests.support.cases import cases
from worker.jobs import Job, UnknownJob

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
FAILING = "Varnby has a theatre."


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


def corpus_with_a_file(service: Esoteric) -> str:
    name: str = service.make_corpus(f"Corpus {uuid4()}")["name"]
    assert service.upload(name, {"pier.txt": b"Ships go."})["files"][0]["name"] == "pier.txt"
    return name


def test_every_endpoint_of_the_api_has_a_block(client: FlaskClient) -> None:
    described = client.get("/api/v1/openapi.json").get_json()
    calls = {
        f"{method.upper()} {path}".replace("{job_id}", "ID")
        .replace("{list_id}", "ID")
        .replace("{feedback_id}", "FEEDBACK")
        .replace("{name}", "NAME")
        .replace("corpora/{which}", "corpora/NAME")
        .replace("{which}", "ID")
        .replace("{file}", "FILE")
        for path, operations in described["paths"].items()
        if path.startswith("/api/v1/")
        for method in operations
    }
    assert {endpoint.call for endpoint in ENDPOINTS} == calls
    page = client.get("/api").text
    for endpoint in ENDPOINTS:
        assert f'<h2 id="{endpoint.name}"><code>{endpoint.call}</code></h2>' in page
    assert "ADDRESS" not in page
    assert "Claims are kept until they are deleted." in page


def filled_in(service: Esoteric, example: str, name: str) -> str:
    """Return the example with the id of a list where it is about one, else of a finished claim."""
    claim = f"{CLAIM[:-1]} or {name}."
    if "list" in example:
        return example.replace("ID", service.submit_list([claim])["id"])
    job = service.submit(claim)["id"]
    service.result(job)
    said = service.say(job, agrees=True)["id"]
    example = example.replace("ID", job).replace("FEEDBACK", said)
    return example.replace("NAME", corpus_with_a_file(service)) if "NAME" in example else example


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
        command = filled_in(service, calls[name], name)
        run = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=True)
        assert run.stdout
        refused = "nobody_logs_in" if name.startswith("share") else ""
        assert run.stdout.startswith('{"error"') == bool(refused)
        assert refused in run.stdout
    for number, code in enumerate(python):
        if "service.share(" in code:
            continue
        code = filled_in(service, code, str(number))
        code = code.replace("esoteric_client", "examples.esoteric_client")
        exec(code, {"service": service})


@pytest.mark.server
def test_the_client_follows_a_claim_and_returns_its_result(
    web: WebProcess, service: Esoteric
) -> None:
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


@pytest.mark.server
def test_the_client_checks_many_claims_and_keeps_the_errors_beside_the_results(
    service: Esoteric,
) -> None:
    found = list(service.check_all([CLAIM, "?!", FAILING, "Varnby has a harbour."]))
    assert [claim for claim, _ in found] == [CLAIM, "?!", FAILING, "Varnby has a harbour."]
    first, second, third, fourth = (result for _, result in found)
    assert first == claim_document(CLAIM)
    assert isinstance(second, EsotericError)
    assert second.code == "claim_no_letters"
    assert isinstance(third, EsotericError)
    assert str(third) == "It is gone. Try again."
    assert fourth == claim_document("Varnby has a harbour.")


@cases("client_addresses", "address", "code")
def test_the_client_says_that_no_service_is_there(address: str, code: str) -> None:
    with pytest.raises(EsotericError) as raised:
        Esoteric(address).recipes()
    assert raised.value.code == code


@pytest.mark.server
def test_the_client_is_served_and_runs_as_a_program(web: WebProcess, service: Esoteric) -> None:
    file = CHECKOUT / "examples" / "esoteric_client.py"
    assert web.get("/api/esoteric_client.py") == (200, file.read_bytes())
    run = subprocess.run(
        [sys.executable, str(file), service.address, CLAIM], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("SUPPORTS (0.")
    assert "spans: Looking for" in run.stderr
    refused = subprocess.run(
        [sys.executable, str(file), web.address, "?!"], capture_output=True, text=True
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    (line,) = refused.stderr.splitlines()
    assert "The claim contains no words." in line
    with pytest.raises(EsotericError) as raised:
        Esoteric(f"{web.address}/claims?q=").recipes()
    assert raised.value.code == "not_esoteric"
