"""A real worker with its real models, a language model's server beside it, and the pages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.result.export import EXPORTS
from app.services import services_of
from retrieval.llm_judge.client import BREAKS_AFTER
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import judge_name
from retrieval.words import WITH_QUANTITIES
from settings import CHECKOUT, Settings
from tests.retrieval.llm_judge.chat_server import (
    ChatServer,
    chat_server,
    refuses,
    says,
    verdict,
)
from tests.support.command import in_a_process
from tests.support.waiting import wait_until
from worker.health import worker_health
from worker.job_store import JobStore
from worker.jobs import Job
from worker.worker_store import WorkerStore

pytestmark = pytest.mark.server

KEY = "the-key-that-is-shown-nowhere"
CLAIM = "Skerrow Light was designed by Ann Lee."


class Service:
    """A worker process, and the pages over the same database."""

    def __init__(self, home: Path, chat: ChatServer) -> None:
        self.home = home
        self.log = home / "worker.log"
        self.variables = {
            "ESOTERIC_LLM": "openai:small",
            "ESOTERIC_LLM_URL": chat.url,
            "ESOTERIC_LLM_KEY": KEY,
        }
        environment = {**os.environ, "ESOTERIC_HOME": str(home), **self.variables}
        # The pages need no language model's setting: the worker reports it.
        self._app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(home)}))
        self.client: FlaskClient = self._app.test_client()
        self.store: JobStore = services_of(self._app).store
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worker"],
                cwd=CHECKOUT,
                env=environment,
                stdout=log,
                stderr=log,
            )
        self.model = f"small at {chat.host}"

    def checked(self, claim: str) -> Job:
        answer = self.client.post("/api/v1/claims", json={"claim": claim, "recipe": "esoteric"})
        assert answer.json is not None
        one = answer.json["id"]
        wait_until(lambda: self.store.get(one).state == "done", "a result", 240)
        return self.store.get(one)

    def close(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        services_of(self._app).close()


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as chat:
        yield chat


@pytest.fixture(scope="module")
def service(
    index: Path, unpacked: Path, server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("service")
    (home / "index").symlink_to(index)
    (home / "models").symlink_to(unpacked)
    service = Service(home, server)
    wait_until(
        lambda: worker_health(WorkerStore(service.store.database)).ready, "a ready worker", 240
    )
    yield service
    service.close()


def test_the_model_decides_its_stage_is_shown_and_the_same_claim_costs_nothing(
    service: Service, server: ChatServer
) -> None:
    page = service.client.get("/").text
    assert "are sent to the language model" in page
    assert server.host in page
    assert server.requests == []  # it is said before one is sent
    server.answers(says(verdict("REFUTES", (1,), "It says “designed by Ann Lee”.")))
    job = service.checked(CLAIM)
    assert job.result is not None
    found = job.result.verdict
    assert (found.label, found.judge) == ("REFUTES", service.model)
    assert [one.label for one in found.opinions] == ["REFUTES", "SUPPORTS"]
    assert job.result.usage is not None
    assert job.result.usage.calls == 1
    assert job.result.seconds["explain"] > 0
    events = [e.message for e in service.store.events(job.id, 0) if e.stage == "explain"]
    assert events[0] == f"Waiting for {service.model}"
    assert events[-1] == f"{service.model}: answered"
    assert "The judges disagree" in service.client.get(f"/claims/{job.id}").text
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    again = service.checked(CLAIM)
    assert again.result is not None
    assert again.result.verdict == found
    assert len(server.requests) == 1


def test_a_model_that_fails_leaves_the_verifiers_verdict_and_shows_as_degraded(
    service: Service, server: ChatServer
) -> None:
    server.answers(refuses(401))
    claims = [f"Skerrow Light was first lit in {year}." for year in range(1871, 1877)]
    jobs = [service.checked(claim) for claim in claims]
    for job in jobs:
        assert job.result is not None
        verifier = judge_name(ModelFolders(service.home / "models"))
        assert job.result.verdict.judge.removesuffix(WITH_QUANTITIES) == verifier
        assert any("The verdict is the verifier" in note for note in job.result.notices)
        assert job.result.usage is not None
        assert job.result.usage.calls == 0
    begins = '{"claim": "Skerrow Light was first lit in'
    asked = [r for r in server.requests if begins in r.body["messages"][1]["content"]]
    assert len(asked) == BREAKS_AFTER  # for the sixth claim nothing was sent

    wait_until(lambda: "degraded" in (service.client.get("/readyz").json or {}), "degraded", 240)
    answer = service.client.get("/readyz")
    assert answer.status_code == 200
    (problem,) = answer.json["degraded"]  # type: ignore[index]
    assert problem["code"] == "language_model_unavailable"
    assert "status 401" in problem["message"]
    assert "At the moment its answers cannot be used" in service.client.get("/").text
    doctor = in_a_process(service.home, "doctor", **service.variables)
    assert doctor.returncode == 1
    assert "broken  language model (verdict)" in doctor.stdout
    assert KEY not in doctor.stdout + doctor.stderr


def test_the_key_is_in_no_log_no_database_no_page_and_no_export(
    service: Service, server: ChatServer
) -> None:
    """The last test of the module: it looks through all that the others left."""
    assert any(KEY in str(request.headers) for request in server.requests)
    files = [f for f in service.home.rglob("*") if f.is_file() and not f.is_symlink()]
    own = [f for f in files if not f.is_relative_to(service.home / "models")]
    assert service.log in own
    assert service.home / "esoteric.db" in own
    for file in own:
        assert KEY.encode() not in file.read_bytes(), file
    listed = service.store.recent(20)
    assert len(listed) > 5
    for job in listed:
        own_pages = [f"/claims/{job.id}", f"/api/v1/claims/{job.id}"]
        exports = [f"/api/v1/claims/{job.id}/export?format={name}" for name in EXPORTS]
        for path in (*own_pages, *exports, "/", "/claims", "/readyz", "/metrics"):
            assert KEY.encode() not in service.client.get(path).data, path
