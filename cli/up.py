"""``esoteric up``: the web pages and the worker, until Ctrl-C."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

import click

from cli.errors import reports_errors
from cli.home_lock import CannotStart, running
from cli.service_client import Service
from cli.supervisor import GivenUp, Program, end_all, ending_with_parent, run, with_our_modules
from retrieval.index.open import needs_build
from retrieval.recipes.recipe_files import recipes_with
from retrieval.system.fixes import esoteric_command
from settings import Settings
from worker import sqlite
from worker.database import Database, StoreUnavailable, read_url
from worker.heartbeat import BEAT_SECONDS
from worker.reports import WorkerDies
from worker.worker_store import WorkerStore

_DEFAULT_SOURCE = "vital"
_WAITING_SECONDS = 10.0  # between two lines that say that it is waiting


@click.command("up", epilog="Example: esoteric up --port 8080 --home ~/esoteric")
@click.option("--host", help="Address to listen on [default: HOST, else 127.0.0.1].")
@click.option("--port", type=click.IntRange(1, 65535), help="Port [default: PORT, else 8000].")
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for all data [default: ESOTERIC_HOME].",
)
@reports_errors
def command(host: str | None, port: int | None, home: Path | None) -> None:
    """Start the web pages and the worker, and build the default index if it is missing.

    An index on Elasticsearch is not built; use esoteric index build.
    """
    environment = dict(os.environ)
    if host is not None:
        environment["HOST"] = host
    if port is not None:
        environment["PORT"] = str(port)
    if home is not None:
        environment["ESOTERIC_HOME"] = str(home)
    settings = Settings.from_environment(environment)
    settings.check_who_may()
    # What is bad is reported before anything is built or started.
    recipes_with(settings.recipes)
    read_url(settings.database_url)
    # The programs may run in another folder, so the path is made absolute here.
    environment["ESOTERIC_HOME"] = str(settings.home)
    stop = _stop_event()
    with running(settings.home, os.getpid(), _local_host(settings.host), settings.port):
        _check_address(settings)
        _build_default_index(settings, environment, stop)
        if not stop.is_set():
            _serve(settings, environment, stop)


def _serve(settings: Settings, environment: dict[str, str], stop: Event) -> None:
    logs = settings.home / "logs"
    database = sqlite.file_of(read_url(settings.database_url))
    worker = Program("worker", "worker", logs / "worker.log", environment, False, database)
    programs = [Program("web server", "app", logs / "web.log", environment, True, database), worker]
    readiness, trouble = _Readiness(settings), _Trouble(settings, worker)

    def done() -> bool:
        if not readiness.reached and readiness.check():
            click.echo(f"ESOTERIC is ready at {address(settings)}")
        trouble.report()
        return stop.is_set()

    _say("Starting the web server and the worker, which loads the models.")
    try:
        for program in programs:
            program.start()
        run(programs, done, _say)
    except GivenUp as error:
        raise CannotStart(
            "program_dies", str(error), "Fix this and run the command again."
        ) from error
    finally:
        end_all(programs)
        with contextlib.suppress(StoreUnavailable):  # the programs have said so
            # One that was killed may have left what it wrote beside the file.
            Database(settings.database_url).settle()


class _Trouble:
    """Tells the web server why there is no worker, in the place of the worker's heartbeats."""

    def __init__(self, settings: Settings, worker: Program) -> None:
        self._workers = WorkerStore(Database(settings.database_url))
        self._worker = worker
        self._name = f"up-{os.getpid()}"
        self._started_at = datetime.now(UTC)
        self._next = 0.0
        self._reported = False

    def report(self) -> None:
        if time.monotonic() < self._next or not (self._worker.trouble or self._reported):
            return
        self._next = time.monotonic() + BEAT_SECONDS
        with contextlib.suppress(StoreUnavailable):  # the web server says so itself
            if self._worker.trouble:
                problem = WorkerDies(self._worker.trouble)
                self._workers.beat(self._name, self._started_at, "broken", problem)
            else:
                self._workers.forget(self._name)
            self._reported = bool(self._worker.trouble)


class _Readiness:
    """Asks the web server whether claims can be checked; prints each reason why not once."""

    def __init__(self, settings: Settings) -> None:
        self._service = Service(_local_host(settings.host), settings.port, settings.home_id)
        self._printed = ""
        self._started = self._last_line = time.monotonic()
        self.reached = False

    def check(self) -> bool:
        self.reached, answer = self._service.ready()
        if not self.reached:
            self._print(answer)
        return self.reached

    def _print_waiting(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= _WAITING_SECONDS:
            self._last_line = now
            _say(f"Still waiting for the worker, {now - self._started:.0f} s so far.")

    def _print(self, answer: Mapping[str, Any]) -> None:
        try:
            error = answer["error"]
            code, message = error["code"], f"{error['message']} {error['hint']}"
        except (LookupError, TypeError):
            return
        if code in ("worker_loading", "no_worker"):
            self._print_waiting()
        elif message != self._printed:
            self._printed = message
            _say(f"Not ready: {message}")


def _build_default_index(settings: Settings, environment: dict[str, str], stop: Event) -> None:
    """Build the default index if it is missing or was built by another version.

    It is built in a separate process, so that its memory is freed. An index on a server may be
    shared, so it is left to the user; the worker reports what is wrong with it.
    """
    store = settings.store
    why = needs_build(store, _DEFAULT_SOURCE) if isinstance(store, Path) else None
    if why is None:
        return
    if why == "outdated":
        _say("Another version of ESOTERIC built the index, so it is built again.")
    with subprocess.Popen(
        ending_with_parent("cli", "index", "build", "--source", _DEFAULT_SOURCE),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=with_our_modules(environment),
        start_new_session=True,
    ) as build:
        while build.poll() is None:
            if stop.wait(0.1):
                build.kill()  # the next build continues from here
                return
    if build.returncode != 0:
        raise CannotStart(
            "index_not_built",
            "The index was not built; the reason is above.",
            "Fix this and run the command again: it continues where it stopped.",
        )


def _check_address(settings: Settings) -> None:
    """Check that the address can be listened on, before anything is built or started."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name is no valid host name
        reason = getattr(error, "strerror", None) or "this is not a host name"
        raise CannotStart(
            "address",
            f"Cannot listen on {settings.host} port {settings.port}: {reason}.",
            "End the program that uses it, or choose another address with --host or --port:"
            f" {esoteric_command(f'up --port {min(settings.port + 80, 65535)}')}",
        ) from error


def _stop_event() -> Event:
    """Return an event that is set by Ctrl-C, by SIGTERM and when the terminal closes."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup ignores this signal
        signal.signal(signal.SIGHUP, on_signal)
    return stop


def _local_host(host: str) -> str:
    """Return the address for connections from this machine if the server listens on ``host``."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return host


def address(settings: Settings) -> str:
    """Return the address to open on this machine."""
    host = _local_host(settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _say(text: str) -> None:
    click.echo(text, err=True)
