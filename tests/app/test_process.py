"""The web server as a separate process: its memory, its speed, its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import urlencode

import pytest

from settings import CHECKOUT
from tests.app.claim_documents import claim_document
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import FIRST_HOP, WorkerByHand

pytestmark = pytest.mark.server

MOST_MEGABYTES = 150
HEAVY = (
    *("torch", "spacy", "onnxruntime", "transformers", "haystack", "numpy", "tantivy"),
    "sentence_transformers",
)


def test_the_web_process_stays_small(own_web: WebProcess) -> None:
    worker = WorkerByHand(own_web.store)
    for number in range(30):
        job = own_web.store.submit(f"Pier {number} is made of oak.", "esoteric")[0]
        worker.finish(job, claim_document(job.claim))
        for path in (f"/claims/{job.id}", "/", "/claims", "/metrics"):
            assert own_web.get(path)[0] == 200
    form = urlencode({"claim": "Varnby has a harbour."}).encode()
    assert own_web.ask("POST", "/claims", form, "application/x-www-form-urlencoded")[0] == 303
    job = own_web.store.recent(1)[0]
    worker.record(worker.start(job), FIRST_HOP)
    for _ in range(200):
        assert own_web.get(f"/api/v1/claims/{job.id}/progress?since=5")[0] == 200
    megabytes = own_web.resident_megabytes()
    print(f"web: {megabytes:.0f} MB resident")
    assert megabytes < MOST_MEGABYTES


def test_importing_the_application_loads_nothing_heavy() -> None:
    code = (
        f"import sys, app, app.__main__;print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert run.stdout.strip() == "[]"


def test_the_real_server_answers_a_large_body_with_our_error(web: WebProcess) -> None:
    status, body = web.ask("POST", "/api/v1/claims", b"x" * 1_000_000, "application/json")
    assert status == 413
    assert json.loads(body)["error"]["code"] == "too_large"


def test_sigterm_ends_it_at_once_without_a_traceback(own_web: WebProcess) -> None:
    own_web.get("/")
    asked = time.monotonic()
    own_web.process.send_signal(signal.SIGTERM)
    assert own_web.process.wait(10) == 0
    assert time.monotonic() - asked < 8
    assert "Traceback" not in own_web.log.read_text()


def test_a_port_in_use_is_one_line_with_how_to_fix_it(web: WebProcess) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=CHECKOUT,
        env={
            **os.environ,
            "ESOTERIC_HOME": str(web.settings.home),
            "PORT": str(web.port),
            "HOST": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert second.returncode == 1
    assert "Set HOST or PORT to another value." in second.stderr
    assert "Traceback" not in second.stderr
