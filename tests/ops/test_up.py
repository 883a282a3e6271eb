"""``esoteric up``: one command starts everything, one Ctrl-C ends it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from settings import CHECKOUT

pytestmark = pytest.mark.server

PAGES = [
    {"id": "kettle", "title": "Kettle", "text": "A kettle is a pot. Kettles boil water."},
    {"id": "samovar", "title": "Samovar", "text": "A samovar is a heated urn from Russia."},
]


STARTING = "Starting the web server and the worker, which loads the models.\n"


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ESOTERIC")}
    return {**kept, "ESOTERIC_HOME": str(home), "HOST": "127.0.0.1", "PYTHONPATH": str(CHECKOUT)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def esoteric(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def wait_until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} seconds"
        time.sleep(0.05)


def family(pid: int) -> list[int]:
    """Return the process and all that it started, whatever session they lead."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, check=True)
    rows = [row.split() for row in listed.stdout.decode().splitlines()]
    found = [pid]
    for one in found:
        found += [int(row[0]) for row in rows if int(row[1]) == one]
    return found


def alive(pids: list[int]) -> list[int]:
    """Return those that still run; one that only waits to be reaped does not."""
    listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, check=True)
    rows = [row.split() for row in listed.stdout.decode().splitlines()]
    return [int(row[0]) for row in rows if int(row[0]) in pids and not row[1].startswith("Z")]


class Up:
    """A running ``esoteric up``."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._out = (home / "out").open("w+")
        self._err = (home / "err").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cli", "up", "--port", str(self.port)],
            env={**environment(home), **settings},
            stdout=self._out,
            stderr=self._err,
        )

    def output(self) -> str:
        return (self.home / "out").read_text()

    def problems(self) -> str:
        return (self.home / "err").read_text()

    def wait_until_ready(self) -> None:
        wait_until(lambda: "is ready" in self.output(), "the line that it is ready")

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def ask(self, path: str, body: dict[str, str] | None = None) -> dict[str, object]:
        request = urllib.request.Request(
            self.address + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            document: dict[str, object] = json.load(answer)
            return document

    def close(self) -> None:
        everyone = family(self.process.pid)
        self.process.kill()
        self.process.wait()
        for pid in alive(everyone):
            os.kill(pid, signal.SIGKILL)
        self._out.close()
        self._err.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Path:
    """A home with an index of two pages."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    pages = home / "pages.jsonl"
    pages.write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    built = esoteric("index", "build", "--source", f"jsonl:{pages}", home=home)
    assert built.returncode == 0, built.stderr
    return home


@pytest.fixture
def up(home: Path) -> Iterator[Up]:
    up = Up(home)
    yield up
    up.close()


@pytest.mark.models
def test_everything_starts_answers_comes_back_and_ends(up: Up) -> None:
    up.wait_until_ready()
    assert up.output() == f"ESOTERIC is ready at {up.address}\n"
    assert up.problems().startswith(STARTING)
    assert "Not ready" not in up.problems()

    submitted = up.ask("/api/v1/claims", {"claim": "A kettle is a pot."})
    address = f"/api/v1/claims/{submitted['id']}"
    wait_until(lambda: up.ask(address)["state"] == "done", "the result")

    checked = esoteric("check", "A samovar is an urn.", "--json", home=up.home)
    with urllib.request.urlopen(f"{up.address}/claims", timeout=5) as history:
        assert b"A samovar is an urn." in history.read()  # the service has checked it
    assert json.loads(checked.stdout)["claim"] == "A samovar is an urn."

    other = esoteric("up", "--port", str(free_port()), home=up.home)
    assert other.returncode == 1
    assert re.fullmatch(
        rf"esoteric: ESOTERIC is already running with the home {up.home}"
        rf" \(process {up.process.pid}\)\..*\n",
        other.stderr,
    )

    everyone = family(up.process.pid)
    assert len(everyone) == 3
    for pid in everyone[1:]:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not up.ready(), "the web server's end")
    wait_until(up.ready, "the second start")
    assert up.problems().count("was ended by SIGKILL and is restarted") == 2
    assert up.ask(address)["state"] == "done"

    everyone = family(up.process.pid)
    assert len(everyone) == 3
    asked = time.monotonic()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(10) == 0
    assert time.monotonic() - asked < 4
    assert alive(everyone) == []
    assert up.output() == f"ESOTERIC is ready at {up.address}\n"
    logs = up.home / "logs"
    assert {log.name for log in logs.iterdir()} == {"web.log", "worker.log"}
    assert "Traceback" not in (logs / "worker.log").read_text()


@pytest.mark.models
def test_nothing_is_left_when_it_is_killed_without_notice(up: Up) -> None:
    up.wait_until_ready()
    everyone = family(up.process.pid)
    assert len(everyone) == 3
    up.process.kill()
    up.process.wait()
    wait_until(lambda: alive(everyone) == [], "the end of all", seconds=8)


@pytest.mark.models
def test_sigterm_ends_it_before_it_is_ready_as_well(up: Up) -> None:
    wait_until(lambda: len(family(up.process.pid)) == 3, "both programs")
    everyone = family(up.process.pid)
    up.process.terminate()
    assert up.process.wait(10) == 0
    assert alive(everyone) == []
    assert up.output() == ""


def outdated(index: Path, source: str) -> None:
    """Make the index's ``meta.json`` that of a version which knew another format."""
    meta = index / "current" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"format": 2, "source": source}))


@pytest.fixture
def upgraded(home: Path, tmp_path: Path) -> Path:
    """A home whose index is to be made one of another version."""
    shutil.copytree(home / "index", tmp_path / "index", symlinks=True)
    return tmp_path


def plans(home: Path) -> list[Path]:
    """What builds that are not finished write down."""
    return list((home / "index").glob("building-*/plan.json"))


def test_the_default_index_of_another_version_is_built_anew(upgraded: Path) -> None:
    outdated(upgraded / "index", "vital")
    up = Up(upgraded)
    try:
        wait_until(lambda: plans(upgraded), "the new index's beginning")
        up.process.terminate()
        assert up.process.wait(10) == 0
    finally:
        up.close()
    assert up.problems().startswith(
        "Another version of ESOTERIC built the index, so it is built again.\n"
    )
    (plan,) = plans(upgraded)
    assert json.loads(plan.read_text())["source"] == "vital"


def test_another_index_of_another_version_is_named_with_what_builds_it_anew(
    upgraded: Path,
) -> None:
    outdated(upgraded / "index", "jsonl:mine.jsonl")
    up = Up(upgraded)
    try:
        wait_until(lambda: "Not ready" in up.problems(), "the reason")
    finally:
        up.close()
    assert "Not ready: The index was built by another version of ESOTERIC. Run: " in up.problems()
    assert "esoteric index build --source jsonl:mine.jsonl" in up.problems()
    assert plans(upgraded) == []


def test_with_an_index_on_a_server_it_starts_builds_nothing_and_reports_what_is_wrong(
    tmp_path: Path,
) -> None:
    server = f"elasticsearch://me:secret@127.0.0.1:{free_port()}/notes"
    up = Up(tmp_path, ESOTERIC_STORE=server)
    try:
        wait_until(lambda: "Not ready" in up.problems(), "the reason")
    finally:
        up.close()
    assert up.problems().startswith(STARTING)
    assert f"Not ready: Elasticsearch at {server.replace('me:secret@', '')}" in up.problems()
    assert not (tmp_path / "index").exists()


def test_a_port_in_use_is_named_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = esoteric("up", "--port", str(port), home=tmp_path)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert re.fullmatch(
        rf"esoteric: Cannot listen on 127\.0\.0\.1 port {port}: Address already in use\..*\n",
        refused.stderr,
    )


def test_a_home_that_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refused = esoteric("up", home=tmp_path / "file" / "home")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"esoteric: ESOTERIC_HOME {tmp_path}/file/home cannot be used")
    assert refused.stderr.count("\n") == 1


def test_a_wrong_port_is_wrong_usage(tmp_path: Path) -> None:
    assert esoteric("up", "--port", "0", home=tmp_path).returncode == 2
    assert esoteric("up", "--port", "web", home=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_the_address_shown_can_be_opened(host: str, shown: str, tmp_path: Path) -> None:
    from cli.up import address
    from settings import Settings

    settings = Settings.from_environment({"HOST": host, "ESOTERIC_HOME": str(tmp_path)})
    assert address(settings) == shown
