"""The service under test: ``esoteric up`` with a home of its own, and the servers that it needs.

Where mounting is allowed, the home is a small disk of its own, so that it can be full.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from research.benchmarks.faults.clocks import Clocks
from research.benchmarks.faults.corpus import write_recipe, write_source
from research.benchmarks.faults.language_model import NAME
from research.benchmarks.faults.servers import Server, elasticsearch, language_model, redis
from research.benchmarks.row import lasting_port
from settings import CHECKOUT, Settings

DISK = "128m"
MODEL_SECONDS = 5
"""The time limit for the language model, per claim."""
LANGUAGE_MODEL = "language model"
START_SECONDS = 180.0
_END_SECONDS = 30.0


class Service:
    """A running ``esoteric up`` with all that it started."""

    def __init__(
        self,
        folder: Path,
        queue: str,
        store: str,
        settings: Mapping[str, str] | None = None,
        faults: bool = True,
    ) -> None:
        """Nothing runs yet. ``folder``: an empty one; ``queue``, ``store``: as in the command.

        ``settings``: more settings of the service. ``faults``: a language model gives the verdicts,
        and the clocks can be moved.
        """
        self.home = folder / "home"
        self.home.mkdir()
        self.servers: dict[str, Server] = {}
        if queue == "redis":
            self.servers["Redis"] = redis(folder / "redis")
        if store == "elasticsearch":
            self.servers["Elasticsearch"] = elasticsearch(folder / "elasticsearch")
        self.clocks: Clocks | None = None
        more = dict(settings or {})
        if faults:
            model = self.servers[LANGUAGE_MODEL] = language_model(folder / "model")
            self.clocks = Clocks(folder / "clocks")
            more |= {"ESOTERIC_LLM": f"openai:{NAME}", "ESOTERIC_LLM_URL": model.url}
            more |= {"ESOTERIC_LLM_SECONDS": str(MODEL_SECONDS)} | self.clocks.environment
        self.has_disk = _mounted("-t", "tmpfs", "-o", f"size={DISK}", "none", str(self.home))
        probe = folder / "probe"
        probe.touch(0o400)
        self.permissions_bind = not os.access(probe, os.W_OK)
        self.port = lasting_port()
        recipes = folder / "recipes"
        recipes.mkdir()
        write_recipe(recipes)
        write_source(folder / "corpus.jsonl")
        models = Settings.from_environment().home / "models"
        models.mkdir(parents=True, exist_ok=True)
        (self.home / "models").symlink_to(models.resolve())
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ESOTERIC_")}
        self._environment = {
            **kept,
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "ESOTERIC_HOME": str(self.home),
            "ESOTERIC_RECIPES": str(recipes),
            "ESOTERIC_THREADS": "1",
            "ESOTERIC_BROKER_URL": self._url("Redis"),
            "ESOTERIC_STORE": self._url("Elasticsearch"),
            **more,
        }
        self._output = folder / "up.log"
        self._up: subprocess.Popen[bytes] | None = None

    def build(self) -> None:
        """Build the index.

        Raises:
            RuntimeError: it cannot be built.
        """
        self._start_servers()
        source = f"jsonl:{self._output.with_name('corpus.jsonl')}"
        give_up = time.monotonic() + START_SECONDS
        while self._cli("index", "build", "--source", source).wait() != 0:
            if time.monotonic() > give_up:
                raise RuntimeError(f"The index cannot be built: {self.said()[-1000:]}")

    def start(self) -> None:
        """Start everything after ``kill`` or ``end``, and return before it is ready."""
        self._start_servers()
        self._up = self._cli("up")

    def _start_servers(self) -> None:
        for server in self.servers.values():
            if server.process is None:
                server.start()

    def _url(self, name: str) -> str:
        return self.servers[name].url if name in self.servers else ""

    def said(self) -> str:
        """Return what the commands have printed."""
        return self._output.read_text(encoding="utf-8")

    def wait_until_ready(self, seconds: float = START_SECONDS) -> bool:
        """Return whether ``/readyz`` says within this time that claims are checked."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            if self.is_ready():
                return True
            time.sleep(0.3)
        return False

    def is_ready(self) -> bool:
        """Return whether ``/readyz`` says now that claims are checked."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/readyz")[0] == 200
        return False

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes = "",
        headers: Mapping[str, str] | None = None,
        address: str = "127.0.0.1",
    ) -> tuple[int, str, str]:
        """Return status, Location and body of an answer; ``address``: of the client.

        Raises:
            OSError, HTTPException: there is none within ten seconds.
        """
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=10, source_address=(address, 0)
        )
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location") or "", answer.read().decode()
        finally:
            connection.close()

    def processes(self) -> dict[str, int]:
        """Return the processes by name: up, web server, worker, worker's child, indexing."""
        if self._up is None:
            return {}
        listed = subprocess.run(
            ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split(maxsplit=2) for line in listed.splitlines()]
        children = [(int(pid), int(parent), args) for pid, parent, args in rows]
        found = {"up": self._up.pid}
        for pid, parent, args in children:
            if parent == self._up.pid and args.endswith("run_with_parent app"):
                found["web server"] = pid
            if parent == self._up.pid and args.endswith("run_with_parent worker"):
                found["worker"] = pid
        for name, of in (("worker's child", "worker"), ("indexing", "worker's child")):
            for pid, parent, _ in children:
                if parent == found.get(of):
                    found[name] = pid
        return found

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the process of this name, if it runs."""
        pid = self.processes().get(name)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """End everything at once, the servers too."""
        for pid in self.processes().values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._up is not None:
            self._up.wait()
        for server in self.servers.values():
            server.kill()

    def end(self) -> None:
        """End everything as Ctrl-C does; what does not end is killed."""
        if self._up is not None:
            self._up.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._up.wait(_END_SECONDS)
        self.kill()

    def remove_disk(self) -> None:
        """Give the disk of the home back; what was in the home is gone."""
        if self.has_disk:
            subprocess.run(["umount", "--lazy", str(self.home)], check=True)

    def _cli(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self._output.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "cli", *arguments],
                cwd=CHECKOUT,
                env=self._environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


def _mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
