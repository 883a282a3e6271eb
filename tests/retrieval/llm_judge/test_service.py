"""A real worker with its real models, a language model's server beside it, and the pages."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import create_app
from app.result.export import EXPORTS
from app.services import services_of
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import judge_name
from settings import CHECKOUT, Settings
from tests.retrieval.llm_judge.chat_server import chat_server, refuses, says, verdict
from tests.support.command import in_a_process
from tests.support.waiting import wait_until
from worker.health import worker_health
from worker.job_store import JobStore
from worker.jobs import Job
from worker.worker_store import WorkerStore

KEY = "the-key-that-is-shown-nowhere"


@contextmanager
def worker(home: Path, **variables: str) -> Iterator[None]:
    with (home / "worker.log").open("ab") as log:
        environment = {**os.environ, "ESOTERIC_HOME": str(home), **variables}
        command = [sys.executable, "-m", "worker"]
        process = subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@pytest.mark.server
def test_a_model_decides_its_failure_is_told_and_its_key_is_in_no_log_database_page_or_export(
    index: Path, unpacked: Path, tmp_path: Path
) -> None:
    (tmp_path / "index").symlink_to(index)
    (tmp_path / "models").symlink_to(unpacked)
    # The pages need no language model's setting: the worker reports it.
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)}))
    client = app.test_client()
    store: JobStore = services_of(app).store

    def checked(claim: str) -> Job:
        answer = client.post("/api/v1/claims", json={"claim": claim, "recipe": "esoteric"})
        one = answer.json["id"]
        wait_until(lambda: store.get(one).state == "done", "a result", 240)
        return store.get(one)

    with chat_server() as server:
        model = f"small at {server.host}"
        variables = {"ESOTERIC_LLM_URL": server.url, "ESOTERIC_LLM_KEY": KEY}
        variables["ESOTERIC_LLM"] = "openai:small"
        with worker(tmp_path, **variables):
            health = WorkerStore(store.database)
            wait_until(lambda: worker_health(health).ready, "a ready worker", 240)
            page = client.get("/").text
            assert "are sent to the language model" in page
            assert server.host in page
            assert server.requests == []  # it is said before one is sent
            server.answers(says(verdict("REFUTES", (1,), "It says “designed by Ann Lee”.")))
            job = checked("Skerrow Light was designed by Ann Lee.")
            found = job.result.verdict
            assert (found.label, found.judge) == ("REFUTES", model)
            assert [one.label for one in found.opinions] == ["REFUTES", "SUPPORTS"]
            assert job.result.usage.calls == 1
            assert job.result.seconds["explain"] > 0
            told = [e.message for e in store.events(job.id, 0) if e.stage == "explain"]
            assert (told[0], told[-1]) == (f"Waiting for {model}", f"{model}: answered")
            assert "The judges disagree" in client.get(f"/claims/{job.id}").text
            assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
            # The same claim costs nothing.
            again = checked("Skerrow Light was designed by Ann Lee.")
            assert again.result.verdict == found
            assert len(server.requests) == 1

            server.answers(refuses(401))
            failed = checked("Skerrow Light was first lit in 1871.").result
            assert failed.verdict.judge == judge_name(ModelFolders(unpacked))
            assert any("The verdict is the verifier" in note for note in failed.notices)
            assert failed.usage.calls == 0
            wait_until(lambda: "degraded" in (client.get("/readyz").json or {}), "degraded", 240)
            answer = client.get("/readyz")
            assert answer.status_code == 200
            (problem,) = answer.json["degraded"]  # type: ignore[index]
            assert problem["code"] == "language_model_unavailable"
            assert "status 401" in problem["message"]
            assert "At the moment its answers cannot be used" in client.get("/").text
            doctor = in_a_process(tmp_path, "doctor", **variables)
            assert doctor.returncode == 1
            assert "broken  language model (verdict)" in doctor.stdout
            assert KEY not in doctor.stdout + doctor.stderr

    files = [f for f in tmp_path.rglob("*") if f.is_file() and not f.is_symlink()]
    assert {"worker.log", "esoteric.db"} <= {file.name for file in files}
    for file in files:
        assert KEY.encode() not in file.read_bytes(), file
    for job in store.recent(20):
        api = f"/api/v1/claims/{job.id}"
        exports = [f"{api}/export?format={name}" for name in EXPORTS]
        for path in (f"/claims/{job.id}", api, *exports, "/", "/claims", "/readyz", "/metrics"):
            assert KEY.encode() not in client.get(path).data, path
    services_of(app).close()
