"""What users start: commands, the first run, the service with its claims and connections."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from research.benchmarks.row import (
    HOME,
    Row,
    claims,
    everyday_claims,
    free_port,
    percentile,
    resident_megabytes,
    spread,
    vital_index,
)
from settings import CHECKOUT

COMMAND_ROUNDS = 5
BATCH = 120  # everyday claims, at equal distances


def commands() -> list[Row]:
    """Time each command as a process without a running service, from its start to its end."""
    vital_index()
    _seconds("check", claims()[0])  # converts the networks and brings files into memory
    quick = {
        "--help": ["--help"],
        "wrong usage": ["chekc"],
        "index info": ["index", "info"],
        "doctor": ["doctor"],
    }
    rows = [_timed(name, arguments, "0.4 s") for name, arguments in quick.items()]
    check = ["check", claims()[0]]
    return [*rows, _timed("check without a service", check, "6 s"), _batch()]


def _timed(name: str, arguments: list[str], target: str) -> Row:
    seconds = [_seconds(*arguments) for _ in range(COMMAND_ROUNDS)]
    return Row(f"`esoteric`, {name}, median", f"{percentile(seconds, 50):.2f} s", target)


def _batch() -> Row:
    chosen = spread(everyday_claims(), BATCH)
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "claims.txt", Path(folder) / "checked.jsonl"
        source.write_text("\n".join(claim["claim"] for claim in chosen), encoding="utf-8")
        seconds = _seconds("batch", str(source), "-o", str(output))
    return Row(
        f"`esoteric batch`, {BATCH} everyday claims, loading included",
        f"{BATCH / seconds:.2f} claims/s",
        "1.5 claims/s",
    )


def _seconds(*arguments: str, check: bool = False) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=CHECKOUT,
        env={**os.environ, "ESOTERIC_HOME": str(HOME)},
        capture_output=True,
        check=check,
    )
    return time.perf_counter() - started


def first_run() -> list[Row]:
    """Clone the last commit and time ``make run`` until ready, twice; packages are fetched."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "esoteric"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
        first = _seconds_to_ready(clone)
        second = _seconds_to_ready(clone)
    return [
        Row("`make run` to ready from nothing, packages fetched", f"{first:.0f} s", "200 s"),
        Row("`make run` to ready the second time", f"{second:.1f} s", "8 s"),
    ]


def _seconds_to_ready(clone: Path) -> float:
    # Without this process's virtual environment: the clone creates one.
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "ESOTERIC_HOME")}
    started = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env={**environment, "PORT": str(free_port())},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "is ready at" in line:
                return time.monotonic() - started
        raise RuntimeError("make run ended before it was ready")
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.wait(timeout=60)


POLL = 0.02


def service() -> list[Row]:
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
    return percentile([_seconds("check", claim, check=True) for claim in claims()[::4]], 50)


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


CLIENTS = 200
IDLE_CONNECTIONS = 10
REQUESTS = 15
PAUSE_SECONDS = 2.0
PATHS = ("/", "/claims")
START_SECONDS = 30.0
# A client that waits for longer counts as not served.
LONGEST_WAIT_SECONDS = 30.0


def connections() -> list[Row]:
    """Start the web server with an empty home, and let 200 clients visit it at once.

    Every client has ten connections that were used once and wait, and one on which it asks for the
    first page and the history in turn, every two seconds.
    """
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "ESOTERIC_HOME": home, "PORT": str(port), "HOST": "127.0.0.1"}
        web = subprocess.Popen(
            [sys.executable, "-m", "app"],
            cwd=CHECKOUT,
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        try:
            visits = asyncio.run(_all_visits(port))
            megabytes = resident_megabytes(web.pid)
        finally:
            web.terminate()
            web.wait(10)
    seconds = [one for visit in visits if visit is not None for one in visit]
    served = sum(visit is not None for visit in visits)
    connections = CLIENTS * (IDLE_CONNECTIONS + 1)
    return [
        Row(f"clients served, of {CLIENTS} with {connections} connections", str(served), "200"),
        Row("a page for one of them, p50", f"{percentile(seconds, 50) * 1000:.0f} ms"),
        Row("a page for one of them, p95", f"{percentile(seconds, 95) * 1000:.0f} ms", "300 ms"),
        Row("web process with these connections, resident", f"{megabytes:.0f} MB", "150 MB"),
    ]


async def _all_visits(port: int) -> list[list[float] | None]:
    """Return the seconds of each request, for each client; None for one that was not served."""
    await _started(port)
    return await asyncio.gather(*(_visit(port, number) for number in range(CLIENTS)))


async def _visit(port: int, number: int) -> list[float] | None:
    # The clients come one after the other, and stay.
    await asyncio.sleep(number * PAUSE_SECONDS / CLIENTS)
    writers = []
    seconds = []
    try:
        for _ in range(IDLE_CONNECTIONS):
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writers.append(writer)
                await _get(reader, writer, "/healthz")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        for request in range(REQUESTS):
            asked = time.perf_counter()
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                await _get(reader, writer, PATHS[request % len(PATHS)])
            seconds.append(time.perf_counter() - asked)
            await asyncio.sleep(PAUSE_SECONDS)
    except (OSError, EOFError, TimeoutError):
        return None
    finally:
        for writer in writers:
            writer.close()
    return seconds


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    """Ask for a page and read it.

    Raises:
        OSError: it is not answered with 200.
        EOFError: the server has closed the connection.
    """
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if not head.startswith("http/1.1 200"):
        raise OSError(head.splitlines()[0])
    length = next(line for line in head.splitlines() if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))


async def _started(port: int) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return
