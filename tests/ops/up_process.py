"""A running ``esoteric up``, with all that it started."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from settings import CHECKOUT
from tests.support.waiting import wait_until


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ESOTERIC")}
    return {**kept, "ESOTERIC_HOME": str(home), "HOST": "127.0.0.1", "PYTHONPATH": str(CHECKOUT)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def esoteric(*arguments: str, home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        env={**environment(home), **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


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


def programs(module: str, pid: int) -> list[int]:
    """Return the processes that run this module of those that ``esoteric up`` has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, check=True)
    rows = [line.split(maxsplit=1) for line in listed.stdout.decode().splitlines()]
    ours = [int(one) for one, args in rows if args.endswith(f"cli.run_with_parent {module}")]
    return [one for one in family(pid) if one in ours]


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
