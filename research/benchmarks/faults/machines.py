"""Kills the machines of a service one by one while claims and lists keep coming, and counts.

python -m research.benchmarks.faults.machines --out FOLDER [--rounds N] [--only TEXT]

Two workers, a web server, PostgreSQL, Redis and three nodes of Elasticsearch, each with a home and,
where that is allowed, an address of its own. FOLDER gets machines.md, faults.json and the logs.
PostgreSQL is Debian's; Elasticsearch is started from the folder that ESOTERIC_TEST_ELASTICSEARCH
names, by the Java of ES_JAVA_HOME; models are those of ESOTERIC_HOME.
"""

from __future__ import annotations

import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeAlias

import click
import psycopg

from research.benchmarks import processor
from research.benchmarks.faults import report
from research.benchmarks.faults.campaign import Played, results_of, stuck_after, wait_for_all
from research.benchmarks.faults.clients import PROGRAMS, ClaimClient, ListClient
from research.benchmarks.faults.cluster import NAMES, NODES, WORKERS, Cluster
from research.benchmarks.faults.counting import count
from research.benchmarks.faults.ledger import Ledger
from research.benchmarks.faults.results import Results

_AWAY_SECONDS = 15.0
_QUIET_SECONDS = 5.0

Fault: TypeAlias = Callable[[Cluster], None]


def faults(cluster: Cluster) -> dict[str, Fault]:
    """Return what is done, by what happens."""
    found: dict[str, Fault] = {}
    for name in ("worker 1", "web server", "Redis", "PostgreSQL"):
        found[f"{name} killed, started at once"] = partial(_killed, (name,), 0.0)
        found[f"{name} away"] = partial(_killed, (name,), _AWAY_SECONDS)
    found |= {
        "both workers away": partial(_killed, WORKERS, _AWAY_SECONDS),
        "a node of three away": partial(_killed, NODES[:1], _AWAY_SECONDS),
        "two nodes of three away": partial(_killed, NODES[:2], _AWAY_SECONDS),
        "all killed": partial(_killed, NAMES, 0.0),
    }
    if cluster.separate:
        for name in ("worker 1", "web server", "Redis", "PostgreSQL", "node 1"):
            found[f"cable of {name} pulled"] = partial(_unplugged, name)
    return found


def _killed(names: Sequence[str], seconds: float, cluster: Cluster) -> None:
    machines = [cluster.machines[name] for name in names]
    for machine in machines:
        machine.kill()
    time.sleep(seconds)
    for machine in machines:
        machine.start()


def _unplugged(name: str, cluster: Cluster) -> None:
    cluster.machines[name].pull_cable(True)
    time.sleep(_AWAY_SECONDS)
    cluster.machines[name].pull_cable(False)


def _round(cluster: Cluster, ledger: Ledger, name: str) -> Played:
    time.sleep(_QUIET_SECONDS)
    began = time.monotonic()
    faults(cluster)[name](cluster)
    over = time.monotonic()
    ready = cluster.wait_until_ready()
    stuck = stuck_after(cluster, ledger)
    back = time.monotonic() - over
    return Played(ledger.round, name, over - began, ready, back, tuple(sorted(stuck)))


def _played(cluster: Cluster, names: Sequence[str]) -> Results:
    """Run a round for each of these faults, and count what was accepted.

    SIGINT or SIGTERM ends it after the current round.
    """
    stop, enough, ledger = Event(), Event(), Ledger()
    person = ClaimClient(cluster, ledger, stop, by_form=True)
    programs = [ClaimClient(cluster, ledger, stop, by_form=False) for _ in range(PROGRAMS)]
    clients = [person, *programs, ListClient(cluster, ledger, stop)]
    for client in clients:
        client.start()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: enough.set())
    played: list[Played] = []
    for number, name in enumerate(names):
        if enough.is_set():
            break
        ledger.round = number
        played.append(_round(cluster, ledger, name))
        click.echo(f"{number + 1}/{len(names)} {played[-1]}")
    stop.set()
    wait_for_all(clients)
    with tempfile.TemporaryDirectory() as folder:
        _copy_home(cluster, Path(folder))
        return results_of(played, ledger, count(Path(folder), ledger, language_model=""))


def _copy_home(cluster: Cluster, home: Path) -> None:
    """Write what is counted as one machine has it: a file of SQLite, and the logs of workers."""
    tables = {
        "claims": "id, claim, state, error, result",
        "events": "claim_id, stage, done, n",
        "list_rows": "list_id, state, claim_id",
    }
    file = home / "esoteric.db"
    with (
        closing(psycopg.connect(cluster.database)) as server,
        closing(sqlite3.connect(file)) as copy,
        copy,
    ):
        for table, columns in tables.items():
            copy.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * len(columns.split(", ")))
            for row in server.execute(f"SELECT {columns} FROM {table}".encode()):
                copy.execute(f"INSERT INTO {table} VALUES ({marks})", row)
    (home / "logs").mkdir()
    for number, log in enumerate(cluster.worker_logs()):
        shutil.copy(log, home / "logs" / f"worker.log.{number}")


def _chosen(cluster: Cluster, only: str, rounds: int) -> Iterator[str]:
    for _ in range(rounds):
        yield from (name for name in faults(cluster) if only in name)


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option(
    "--rounds", type=click.IntRange(min=1), default=1, help="How often each fault is done."
)
@click.option("--only", default="", help="Do only faults with this text in their names.")
def main(out: Path, rounds: int, only: str) -> None:
    """Run the campaign; the status is 1 if something was found."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="machines-") as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start()
            played = _played(cluster, list(_chosen(cluster, only, rounds)))
        finally:
            cluster.end()
            for log in Path(folder).glob("*.log"):
                shutil.copy(log, out)
    text = report.text(played, again='--only "{0.fault}"')
    (out / "machines.md").write_text(f"{processor.described()}\n\n{text}", encoding="utf-8")
    played.write(out)
    click.echo(text)
    raise SystemExit(1 if played.findings else 0)


if __name__ == "__main__":
    main()
