"""The faults: each is done to the running service, and is over when its function returns."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import TypeAlias

from research.benchmarks.faults.clocks import OTHERS, WORKER
from research.benchmarks.faults.language_model import Mode, set_mode
from research.benchmarks.faults.service import LANGUAGE_MODEL, Service

# Most faults are short, as few things in the service wait for longer than five seconds.
_SHORT_SECONDS = (1.0, 5.0)
LONGEST_SECONDS = 30.0
_LONG_SHARE = 0.15
_MOVED_BY = (-3600, -20, 20, 3600)
_LONGEST_LOOK_SECONDS = 10.0
_BLOCK = bytes(1 << 16)

Fault: TypeAlias = Callable[[Service, Random], None]


def kinds(service: Service) -> dict[str, Fault]:
    """Return the faults that this service can have, by what happens."""
    found: dict[str, Fault] = {}
    for name in ("worker", "worker's child", "web server"):
        found[f"{name} killed"] = partial(_kill, name)
        found[f"{name} paused"] = partial(_pause, name)
    found |= {
        "all killed and started": _kill_all,
        "all ended and started": _end_all,
        "database locked": _lock_database,
        "database read-only": _read_only,
        "disk full": _fill_disk,
        "indexing killed": _kill_indexing,
        f"{LANGUAGE_MODEL} answers 500": partial(_answer_badly, "500"),
        f"{LANGUAGE_MODEL} answers nonsense": partial(_answer_badly, "nonsense"),
        f"{LANGUAGE_MODEL} stops in its answers": partial(_answer_badly, "half"),
    }
    if service.clocks is not None:
        found["clock of all moved"] = partial(_move_clocks, (WORKER, OTHERS))
        for name in (WORKER, OTHERS):
            found[f"clock of the {name} moved"] = partial(_move_clocks, (name,))
    for name in service.servers:
        found[f"{name} killed"] = partial(_kill_server, name, False)
        found[f"{name} paused"] = partial(_pause_server, name)
    if "Redis" in service.servers:
        return found | {"Redis killed, file lost": partial(_kill_server, "Redis", True)}
    return found | {"messages lost": _lose_messages}


def drawn(service: Service, random: Random) -> str:
    """Return one of them by its name; the same everywhere, where it can be done."""
    bound = service.has_disk or service.permissions_bind
    while (name := random.choice(list(kinds(service)))) == "database read-only" and not bound:
        pass
    return name


def _wait(random: Random) -> None:
    long = random.random() < _LONG_SHARE
    time.sleep(LONGEST_SECONDS if long else random.uniform(*_SHORT_SECONDS))


def _kill(name: str, service: Service, _random: Random) -> None:
    service.signal(name, signal.SIGKILL)


def _pause(name: str, service: Service, random: Random) -> None:
    pid = service.processes().get(name)
    if pid is not None:
        _paused(pid, random)


def _paused(pid: int, random: Random) -> None:
    os.kill(pid, signal.SIGSTOP)
    _wait(random)
    with contextlib.suppress(ProcessLookupError):  # its keeper may have replaced it
        os.kill(pid, signal.SIGCONT)


def _kill_indexing(service: Service, _random: Random) -> None:
    """Kill the process that indexes documents, as soon as one runs."""
    give_up = time.monotonic() + _LONGEST_LOOK_SECONDS
    while "indexing" not in service.processes() and time.monotonic() < give_up:
        time.sleep(0.1)
    service.signal("indexing", signal.SIGKILL)


def _answer_badly(mode: Mode, service: Service, random: Random) -> None:
    folder = service.servers[LANGUAGE_MODEL].folder
    set_mode(folder, mode)
    _wait(random)
    set_mode(folder, "well")


def _move_clocks(names: tuple[str, ...], service: Service, random: Random) -> None:
    assert service.clocks is not None, "this fault is offered only where clocks can be moved"
    service.clocks.move(names, random.choice(_MOVED_BY))
    _wait(random)
    service.clocks.move((), 0)


def _kill_all(service: Service, _random: Random) -> None:
    service.kill()
    service.start()


def _end_all(service: Service, _random: Random) -> None:
    service.end()
    service.start()


def _lock_database(service: Service, random: Random) -> None:
    with contextlib.closing(_database(service)) as database:
        database.execute("BEGIN IMMEDIATE")
        _wait(random)
        database.execute("ROLLBACK")


def _database(service: Service) -> sqlite3.Connection:
    return sqlite3.connect(service.home / "esoteric.db", timeout=60, isolation_level=None)


def _read_only(service: Service, random: Random) -> None:
    """Make the database read-only, and kill the processes that have it open: they open it anew."""
    with _write_protected(service):
        service.signal("worker", signal.SIGKILL)
        service.signal("web server", signal.SIGKILL)
        _wait(random)


@contextlib.contextmanager
def _write_protected(service: Service) -> Iterator[None]:
    home = service.home
    if service.has_disk:  # the superuser, whom permissions do not bind
        while True:
            _run("mount", "--bind", str(home), str(home))
            made = subprocess.run(
                ["mount", "-o", "remount,bind,ro", str(home)], capture_output=True, check=False
            )
            if made.returncode == 0:
                break
            # A file was opened for writing between the two.
            _run("umount", "--lazy", str(home))
            time.sleep(0.1)
        yield
        _run("mount", "-o", "remount,bind,rw", str(home))
        _run("umount", "--lazy", str(home))
        return
    modes = {file: file.stat().st_mode for file in [home, *home.glob("esoteric.db*")]}
    for file in modes:
        file.chmod(0o500 if file is home else 0o400)
    yield
    for file, mode in modes.items():
        file.chmod(mode)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def _fill_disk(service: Service, random: Random) -> None:
    """Fill the disk of the home, or let no process write to a file if it has none of its own."""
    if not service.has_disk:
        pids = service.processes().values()
        for pid in pids:
            _limit_files(pid, 0)
        _wait(random)
        for pid in pids:
            _limit_files(pid, resource.RLIM_INFINITY)
        return
    filler = service.home / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(_BLOCK)
    _wait(random)
    filler.unlink()


def _limit_files(pid: int, most: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def _lose_messages(service: Service, _random: Random) -> None:
    for message in (service.home / "queue" / "messages").glob("*.msg"):
        message.unlink(missing_ok=True)


def _kill_server(name: str, with_data: bool, service: Service, random: Random) -> None:
    server = service.servers[name]
    server.kill(with_data)
    _wait(random)
    server.start()


def _pause_server(name: str, service: Service, random: Random) -> None:
    process = service.servers[name].process
    if process is not None:
        _paused(process.pid, random)
