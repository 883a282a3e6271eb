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
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.supervisor import SECONDS_TO_END
from cli.up import address
from settings import Settings
from tests.ops.up_process import Up, alive, environment, esoteric, family, free_port, programs
from tests.support.cases import cases
from tests.support.waiting import wait_until

pytestmark = pytest.mark.server

PAGES = [
    {"id": "kettle", "title": "Kettle", "text": "A kettle is a pot. Kettles boil water."},
    {"id": "samovar", "title": "Samovar", "text": "A samovar is a heated urn from Russia."},
]


STARTING = "Starting the web server and the worker, which loads the models.\n"


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
    assert len(everyone) == 4
    for pid in everyone[1:]:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not up.ready(), "the web server's end")
    wait_until(up.ready, "the second start")
    assert up.problems().count("was ended by SIGKILL and is restarted") == 2
    assert up.ask(address)["state"] == "done"

    everyone = family(up.process.pid)
    assert len(everyone) == 4
    asked = time.monotonic()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(10) == 0
    assert time.monotonic() - asked < SECONDS_TO_END  # nothing had to be killed
    assert alive(everyone) == []
    assert up.output() == f"ESOTERIC is ready at {up.address}\n"
    logs = up.home / "logs"
    assert {log.name for log in logs.iterdir()} == {"web.log", "worker.log"}
    assert "Traceback" not in (logs / "worker.log").read_text()


@pytest.mark.models
def test_a_worker_that_keeps_ending_leaves_the_pages_which_say_why_and_comes_back(up: Up) -> None:
    def problem() -> dict[str, str]:
        try:
            up.ask("/readyz")
        except urllib.error.HTTPError as answer:
            found: dict[str, str] = json.load(answer)["error"]
            return found
        except OSError:
            pass
        return {"code": ""}

    def told() -> bool:
        for pid in programs("worker", up.process.pid):
            os.kill(pid, signal.SIGKILL)
        return problem()["code"] == "worker_dies"

    wait_until(told, "the reason")
    said = problem()
    assert said["message"].startswith("No worker is running, so claims wait. The worker was ended")
    assert "right after its start" in said["message"]
    assert str(up.home) not in said["message"]
    assert "It is started again in 8 seconds." in up.problems()
    with urllib.request.urlopen(f"{up.address}/claims", timeout=5) as history:
        assert history.status == 200
    up.wait_until_ready()
    # The last heartbeat of a worker that was killed may have said that it was ready.
    wait_until(lambda: len(family(up.process.pid)) == 4, "the next worker")
    everyone = family(up.process.pid)
    up.process.kill()
    up.process.wait()
    wait_until(lambda: alive(everyone) == [], "the end of all")  # nothing is left


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
        everyone = family(up.process.pid)
        up.process.terminate()  # before it is ready
        assert up.process.wait(10) == 0
        assert (alive(everyone), up.output()) == ([], "")
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
    assert up.problems().startswith(STARTING)
    assert "Not ready: The index was built by another version of ESOTERIC. Run: " in up.problems()
    assert "esoteric index build --source jsonl:mine.jsonl" in up.problems()
    assert plans(upgraded) == []


def test_what_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = esoteric("up", "--port", str(port), home=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(
        rf"esoteric: Cannot listen on 127\.0\.0\.1 port {port}: Address already in use\..*\n",
        refused.stderr,
    )
    (tmp_path / "file").write_text("in the way")
    refused = esoteric("up", home=tmp_path / "file" / "home")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"esoteric: ESOTERIC_HOME {tmp_path}/file/home cannot be used")
    assert refused.stderr.count("\n") == 1
    for wrong in ("0", "web"):
        assert esoteric("up", "--port", wrong, home=tmp_path).returncode == 2


@pytest.mark.parametrize("program", ["cli up", "app", "worker"])
def test_an_address_of_no_database_is_refused_before_anything_is_made(
    program: str, tmp_path: Path
) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", *program.split()],
        env={**environment(tmp_path / "home"), "ESOTERIC_DATABASE_URL": "nonsense"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "ESOTERIC_DATABASE_URL cannot be used" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@cases("shown_addresses", "host", "shown")
def test_the_address_shown_can_be_opened(host: str, shown: str, tmp_path: Path) -> None:
    settings = Settings.from_environment({"HOST": host, "ESOTERIC_HOME": str(tmp_path)})
    assert address(settings) == shown
