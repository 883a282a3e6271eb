"""The whole service: time to start, time and polls of claims through the API, memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any

from research.benchmarks.corpus import HOME, claims, vital_index
from research.benchmarks.row import Row, free_port, percentile, resident_megabytes
from settings import CHECKOUT

POLL = 0.02


def measure() -> list[Row]:
    """Start ``esoteric up`` with an existing index, and check every claim once through it."""
    vital_index()
    port = free_port()
    ours = {"ESOTERIC_HOME": str(HOME), "PORT": str(port)}
    environment = {**os.environ, **ours}
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "up"],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = time.monotonic() - started
        if "ready" not in line:
            raise RuntimeError(f"esoteric up printed {line!r}")
        address = f"http://127.0.0.1:{port}"
        first, polls, totals = _checked(address)
        asked = _seconds_of_check()
        web, worker = _memory(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    return [
        Row("`esoteric up` to ready, index there", f"{ready:.1f} s", "8 s"),
        Row("submission to first event, p95", f"{percentile(first, 95):.2f} s", "0.5 s"),
        Row("a poll of the progress, p95", f"{percentile(polls, 95) * 1000:.1f} ms", "20 ms"),
        Row("`esoteric check` while it runs, median", f"{asked:.2f} s", "2 s"),
        Row("submission to result through the queue, p50", f"{percentile(totals, 50):.2f} s"),
        Row("web process, resident", f"{web:.0f} MB", "150 MB"),
        Row("worker process, resident", f"{worker:.0f} MB", "700 MB"),
    ]


def _checked(address: str) -> tuple[list[float], list[float], list[float]]:
    """Return seconds to the first event, seconds of each poll, seconds to each result."""
    first, polls, totals = [], [], []
    for claim in claims():
        started = time.perf_counter()
        job = _json(f"{address}/api/v1/claims", {"claim": claim})
        seen = False
        while True:
            before = time.perf_counter()
            progress = _json(f"{address}{job['links']['progress']}?since=0")
            now = time.perf_counter()
            polls.append(now - before)
            if progress["events"] and not seen:
                first.append(now - started)
                seen = True
            if progress["state"] not in {"queued", "running"}:
                totals.append(now - started)
                break
            time.sleep(POLL)
        if progress["state"] != "done":
            raise RuntimeError(f"{claim!r} ended {progress['state']}")
    return first, polls, totals


def _seconds_of_check() -> float:
    """Return the median seconds of the command for every fourth claim; it uses the service."""
    seconds = []
    for claim in claims()[::4]:
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "cli", "check", claim],
            cwd=CHECKOUT,
            env={**os.environ, "ESOTERIC_HOME": str(HOME)},
            capture_output=True,
            check=True,
        )
        seconds.append(time.perf_counter() - started)
    return percentile(seconds, 50)


def _json(url: str, body: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _memory(supervisor: int) -> tuple[float, float]:
    """Return the resident memory of the two children, which are identified by their modules."""
    found: dict[str, float] = {}
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(supervisor)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in children.splitlines():
        pid, _, command = line.strip().partition(" ")
        for name in ("app", "worker"):
            if name in command.split():
                found[name] = resident_megabytes(pid)
    return found["app"], found["worker"]
