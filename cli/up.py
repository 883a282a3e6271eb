"""``esoteric up``: the web pages and the worker, until Ctrl-C."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

import click

from cli.errors import reports_errors
from cli.home_lock import CannotStart, running
from cli.service import Service
from cli.supervisor import GivenUp, Program, end_all, run, tethered, with_our_modules
from retrieval.fixes import esoteric_command
from retrieval.index.versions import lacks_index
from settings import Settings

_DEFAULT_SOURCE = "vital"
_WAITING_SECONDS = 10.0  # between two lines that say what is waited for


@click.command("up", epilog="Example: esoteric up --port 8080 --home ~/esoteric")
@click.option("--host", help="Address to listen on; HOST otherwise, 127.0.0.1 by default.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port; PORT otherwise, 8000 by default."
)
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for everything that is kept; ESOTERIC_HOME otherwise.",
)
@reports_errors
def command(host: str | None, port: int | None, home: Path | None) -> None:
    """Start the web pages and the worker, and build the default index where it is missing.

    An index on Elasticsearch is not built: esoteric index build does that.
    """
    environment = dict(os.environ)
    if host is not None:
        environment["HOST"] = host
    if port is not None:
        environment["PORT"] = str(port)
    if home is not None:
        environment["ESOTERIC_HOME"] = str(home)
    settings = Settings.from_environment(environment)
    # The programs are started elsewhere, so a relative path is settled here.
    environment["ESOTERIC_HOME"] = str(settings.home)
    stop = _told_to_stop()
    with running(settings.home, os.getpid(), _local_host(settings.host), settings.port):
        _check_address(settings)
        _build_default_index(settings, environment, stop)
        if not stop.is_set():
            _serve(settings, environment, stop)


def _serve(settings: Settings, environment: dict[str, str], stop: Event) -> None:
    logs = settings.home / "logs"
    programs = [
        Program("web server", "app", logs / "web.log", environment),
        Program("worker", "worker", logs / "worker.log", environment),
    ]
    readiness = _Readiness(settings)

    def done() -> bool:
        if not readiness.reached and readiness.look():
            click.echo(f"ESOTERIC is ready at {address(settings)}")
        return stop.is_set()

    _complain("Starting the web server and the worker, which loads the models.")
    try:
        for program in programs:
            program.start()
        run(programs, done, _complain)
    except GivenUp as error:
        raise CannotStart("program_dies", str(error), "Mend it and run this again.") from error
    finally:
        end_all(programs)


class _Readiness:
    """Asks the web server whether claims can be checked, and tells why not, once."""

    def __init__(self, settings: Settings) -> None:
        self._service = Service(_local_host(settings.host), settings.port, settings.home_id)
        self._told = ""
        self._started = self._last_line = time.monotonic()
        self.reached = False

    def look(self) -> bool:
        self.reached, answer = self._service.ready()
        if not self.reached:
            self._tell(answer)
        return self.reached

    def _tell_waiting(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= _WAITING_SECONDS:
            self._last_line = now
            _complain(f"Still waiting for the worker, {now - self._started:.0f} s so far.")

    def _tell(self, answer: Mapping[str, Any]) -> None:
        try:
            error = answer["error"]
            code, message = error["code"], f"{error['message']} {error['hint']}"
        except (LookupError, TypeError):
            return
        if code in ("worker_loading", "no_worker"):
            self._tell_waiting()
        elif message != self._told:
            self._told = message
            _complain(f"Not ready: {message}")


def _build_default_index(settings: Settings, environment: dict[str, str], stop: Event) -> None:
    """Build the default index where it is missing or another version's.

    In a process of its own, so that its memory goes with it. An index on a server may be
    others' too and is left to the user: the worker tells what is wrong with it.
    """
    store = settings.store
    if not isinstance(store, Path) or not lacks_index(store, _DEFAULT_SOURCE):
        return
    if (store / "current").exists():
        _complain("The index was built by another version of ESOTERIC and is built anew.")
    with subprocess.Popen(
        tethered("cli", "index", "build", "--source", _DEFAULT_SOURCE),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=with_our_modules(environment),
        start_new_session=True,
    ) as build:
        while build.poll() is None:
            if stop.wait(0.1):
                build.kill()  # nothing is lost: what is built so far is used the next time
                return
    if build.returncode != 0:
        raise CannotStart(
            "index_not_built",
            "The index was not built, for the reason above.",
            "Mend it and run this again: it goes on where it stopped.",
        )


def _check_address(settings: Settings) -> None:
    """Find out before anything is built or started whether the address can be listened on."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except (OSError, UnicodeError) as error:  # the latter for a name that none can be
        reason = getattr(error, "strerror", None) or "this is no name of a host"
        raise CannotStart(
            "address",
            f"Cannot listen on {settings.host} port {settings.port}: {reason}.",
            "End what uses it, or choose another with --host or --port:"
            f" {esoteric_command(f'up --port {min(settings.port + 80, 65535)}')}",
        ) from error


def _told_to_stop() -> Event:
    """Return an event that is set by Ctrl-C, by SIGTERM and when the terminal closes."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup asks to stay
        signal.signal(signal.SIGHUP, on_signal)
    return stop


def _local_host(host: str) -> str:
    """Return the address at which this machine reaches itself if it listens on ``host``."""
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


def _complain(text: str) -> None:
    click.echo(text, err=True)
