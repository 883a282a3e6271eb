"""The service on eight machines: web server, two workers, Elasticsearch, Redis and PostgreSQL.

Each machine is a network namespace with an address of its own on a bridge, so that its cable can be
pulled too. Where namespaces are not allowed, machines differ in their ports and homes alone.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from research.benchmarks.faults.corpus import write_recipe, write_source
from research.benchmarks.faults.servers import ELASTICSEARCH
from research.benchmarks.row import free_port
from settings import CHECKOUT, Settings

NODES = ("node 1", "node 2", "node 3")
WORKERS = ("worker 1", "worker 2")
NAMES = ("PostgreSQL", "Redis", *NODES, "web server", *WORKERS)
START_SECONDS = 180.0
_NETWORK = "10.77.49"
_BRIDGE = "esoteric-faults"
_POSTGRESQL = Path("/usr/lib/postgresql")


class Machine:
    """A machine with one program, which may be killed and started, and a cable."""

    def __init__(self, name: str, number: int, folder: Path, separate: bool) -> None:
        """``separate``: with an address of its own; otherwise that of this machine."""
        self.name = name
        self.folder = folder / name.replace(" ", "-")
        self.folder.mkdir()
        self.log = folder / f"{self.folder.name}.log"
        self.address = f"{_NETWORK}.{number}" if separate else "127.0.0.1"
        self.port = free_port()
        self.user: int | None = None
        self._space = f"esoteric-{number}" if separate else None
        self._cable = f"esoteric{number}"
        self._process: subprocess.Popen[bytes] | None = None
        self.command: Sequence[str] = ()
        self.variables: dict[str, str] = {}

    @property
    def host(self) -> str:
        """Address and port of its program."""
        return f"{self.address}:{self.port}"

    def connect(self) -> None:
        """Join the network."""
        if self._space is None:
            return
        self.disconnect()  # what a run left that was killed
        inside = ("ip", "-n", self._space)
        _run("ip", "netns", "add", self._space)
        _run("ip", "link", "add", self._cable, "type", "veth", "peer", "eth0", "netns", self._space)
        _run("ip", "link", "set", self._cable, "master", _BRIDGE, "up")
        _run(*inside, "address", "add", f"{self.address}/24", "dev", "eth0")
        _run(*inside, "link", "set", "eth0", "up")
        _run(*inside, "link", "set", "lo", "up")

    def disconnect(self) -> None:
        """Leave the network for good."""
        if self._space is not None:
            _tried("ip", "link", "del", self._cable)
            _tried("ip", "netns", "del", self._space)

    def pull_cable(self, out: bool) -> None:
        """Pull the cable, or put it in again."""
        _run("ip", "link", "set", self._cable, "down" if out else "up")

    def start(self) -> None:
        """Start its program, which may not answer yet."""
        self._process = self.run(self.command)

    def run(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program here."""
        into = ["ip", "netns", "exec", self._space] if self._space else []
        if self.user is not None:
            into += ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*into, *command],
                cwd=CHECKOUT if self.user is None else "/",
                env={**os.environ, **self.variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End its program with all its processes at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


class Cluster:
    """All machines."""

    def __init__(self, folder: Path) -> None:
        """Nothing runs yet. ``folder``: an empty one."""
        self.separate = _bridge_made()
        folder.chmod(0o711)  # PostgreSQL has a user of its own
        self.machines = {
            name: Machine(name, number, folder, self.separate)
            for number, name in enumerate(NAMES, 2)
        }
        for machine in self.machines.values():
            machine.connect()
        self._source = folder / "corpus.jsonl"
        write_source(self._source)
        self._set_up_postgresql()
        self._set_up_redis()
        self._set_up_elasticsearch()
        self._set_up_service(folder)

    def _set_up_postgresql(self) -> None:
        machine = self.machines["PostgreSQL"]
        programs = max(_POSTGRESQL.glob("*/bin"), key=lambda one: int(one.parent.name))
        if os.geteuid() == 0:  # it refuses to run as root
            machine.user = pwd.getpwnam("postgres").pw_uid
            os.chown(machine.folder, machine.user, -1)
        data = machine.folder / "data"
        initdb = ["--pgdata", str(data), "--username=esoteric", "--auth=trust", "--encoding=UTF8"]
        if machine.run([str(programs / "initdb"), "--locale=C.UTF-8", *initdb]).wait():
            raise RuntimeError(f"PostgreSQL cannot be set up: {machine.log.read_text()[-1000:]}")
        with (data / "pg_hba.conf").open("a") as allowed:
            allowed.write(f"host all all {_NETWORK}.0/24 trust\n")
        where = (f"listen_addresses={machine.address}", f"port={machine.port}")
        options = _each("-c", (*where, "unix_socket_directories="))
        machine.command = [str(programs / "postgres"), "-D", str(data), *options]

    def _set_up_redis(self) -> None:
        machine = self.machines["Redis"]
        where = ("--port", str(machine.port), "--bind", machine.address)
        kept = ("--dir", str(machine.folder), "--appendonly", "yes")
        machine.command = ["redis-server", *where, *kept, "--protected-mode", "no"]

    def _set_up_elasticsearch(self) -> None:
        nodes = [self.machines[name] for name in NODES]
        ports = {node.name: free_port() for node in nodes}
        for node in nodes:
            settings = (
                *(f"node.name={node.folder.name}", f"path.data={node.folder}"),
                *(f"network.host={node.address}", f"http.port={node.port}"),
                f"transport.port={ports[node.name]}",
                "discovery.type=multi-node",
                f"discovery.seed_hosts={','.join(f'{o.address}:{ports[o.name]}' for o in nodes)}",
                f"cluster.initial_master_nodes={','.join(other.folder.name for other in nodes)}",
                "cluster.routing.allocation.disk.threshold_enabled=false",
            )
            program = f"{os.environ[ELASTICSEARCH]}/bin/elasticsearch"
            node.command = [program, "9.5", *_each("-E", settings)]
            node.variables = {"ES_JAVA_OPTS": "-Xms512m -Xmx512m"}

    def _set_up_service(self, folder: Path) -> None:
        recipes = folder / "recipes"
        recipes.mkdir()
        write_recipe(recipes)
        models = Settings.from_environment().home / "models"
        models.mkdir(parents=True, exist_ok=True)
        web, postgresql = self.machines["web server"], self.machines["PostgreSQL"]
        hosts = ",".join(self.machines[name].host for name in NODES)
        # As docs/deploying.md says for many machines.
        self.database = f"postgresql://esoteric@{postgresql.host}/postgres"
        settings = {
            "ESOTERIC_BROKER_URL": f"redis://{self.machines['Redis'].host}/0",
            "ESOTERIC_DATABASE_URL": self.database.replace("postgresql:", "postgresql+psycopg:"),
            "ESOTERIC_STORE": f"elasticsearch://{hosts}/machines",
            "ESOTERIC_RECIPES": str(recipes),
            "ESOTERIC_THREADS": "1",
        }
        for name in ("web server", *WORKERS):
            machine = self.machines[name]
            (machine.folder / "models").symlink_to(models.resolve())
            machine.variables = {**settings, "ESOTERIC_HOME": str(machine.folder)}
            machine.command = [sys.executable, "-m", "app" if machine is web else "worker"]
        web.variables |= {"HOST": web.address, "PORT": str(web.port)}
        web.variables |= {"ESOTERIC_ACCESS": "open", "ESOTERIC_CLAIMS_PER_MINUTE": "1000000"}

    def start(self) -> None:
        """Start the servers, build the index, and start the service.

        Raises:
            RuntimeError: the index cannot be built, or the service is not ready in time.
        """
        for name in ("PostgreSQL", "Redis", *NODES):
            self.machines[name].start()
        command = [sys.executable, "-m", "cli", "index", "build", "--source"]
        builder, give_up = self.machines[WORKERS[0]], time.monotonic() + START_SECONDS
        while builder.run([*command, f"jsonl:{self._source}"]).wait() != 0:
            if time.monotonic() > give_up:
                raise RuntimeError(f"The index cannot be built: {builder.log.read_text()[-1000:]}")
        for name in ("web server", *WORKERS):
            self.machines[name].start()
        if not self.wait_until_ready():
            raise RuntimeError("The service is not ready; the logs of the machines say why.")

    def wait_until_ready(self, seconds: float = START_SECONDS) -> bool:
        """Return whether ``/readyz`` says within this time that claims are checked."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            if self.is_ready():
                return True
            time.sleep(0.2)
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
        _address: str = "",
    ) -> tuple[int, str, str]:
        """Return status, Location and body of an answer of the web server.

        All clients have the address of this machine.

        Raises:
            OSError, HTTPException: there is none within ten seconds.
        """
        connection = http.client.HTTPConnection(self.machines["web server"].host, timeout=10)
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location") or "", answer.read().decode()
        finally:
            connection.close()

    def worker_logs(self) -> Iterator[Path]:
        """Yield the logs of the workers."""
        yield from (self.machines[name].log for name in WORKERS)

    def end(self) -> None:
        """End everything at once, and remove the network."""
        for machine in self.machines.values():
            machine.kill()
            machine.disconnect()
        if self.separate:
            _run("ip", "link", "del", _BRIDGE)


def _bridge_made() -> bool:
    """Return whether machines can have addresses of their own, and make what joins them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    _tried("ip", "link", "del", _BRIDGE)
    if not _tried("ip", "link", "add", _BRIDGE, "type", "bridge"):
        return False
    _run("ip", "address", "add", f"{_NETWORK}.1/24", "dev", _BRIDGE)
    _run("ip", "link", "set", _BRIDGE, "up")
    return True


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _tried(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
