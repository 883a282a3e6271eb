"""Kills the machines of a service one by one while claims and lists keep coming, and counts.

python -m research.benchmarks.faults.machines --out FOLDER [--rounds N] [--only TEXT]

Two workers, a web server, PostgreSQL, Redis and three nodes of Elasticsearch, each with a home and,
where that is allowed, an address of its own. FOLDER gets machines.md, machines.json and the logs.
PostgreSQL is Debian's; Elasticsearch is started from the folder that ESOTERIC_TEST_ELASTICSEARCH
names, by the Java of ES_JAVA_HOME; models are those of ESOTERIC_HOME.
"""

from __future__ import annotations

import json
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
from research.benchmarks.faults.campaign import LATEST_END_SECONDS, Campaign, Round
from research.benchmarks.faults.clients import CLIENTS, Client, Ledger
from research.benchmarks.faults.cluster import NAMES, NODES, WORKERS, Cluster
from research.benchmarks.faults.corpus import RECIPE, claim
from research.benchmarks.faults.counting import Outcome, count

_AWAY_SECONDS = 15.0
_QUIET_SECONDS = 5.0
_LAST_END_SECONDS = 120.0
_ROWS = 8
_JSON = {"Content-Type": "application/json"}

Fault: TypeAlias = Callable[[Cluster], None]


class ListClient(Client):
    """A client that submits lists, one after the other; the ledger holds ids of lists."""

    pages = ("/lists", "/lists/{}", "/api/v1/lists/{}/results")

    def _submit(self) -> None:
        if self._open:
            return
        with self._ledger.lock:
            claims = [claim(next(self._ledger.numbers)) for _ in range(_ROWS)]
        body = json.dumps({"claims": claims, "recipe": RECIPE})
        status, location, _ = self._ask("POST", "/api/v1/lists", body, _JSON)
        if status == 202:
            list_id = location.rpartition("/")[2]
            with self._ledger.lock:
                self._ledger.accepted[list_id] = self._ledger.round
            self._open.append(list_id)

    def _look_after(self, list_id: str) -> None:
        status, _, body = self._ask("GET", f"/api/v1/lists/{list_id}")
        if status == 200 and json.loads(body)["state"] == "done":
            self._open.remove(list_id)
            with self._ledger.lock:
                self._ledger.ended.add(list_id)


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


def _round(cluster: Cluster, ledgers: Sequence[Ledger], number: int, name: str) -> Round:
    time.sleep(_QUIET_SECONDS)
    began = time.monotonic()
    faults(cluster)[name](cluster)
    over = time.monotonic()
    ready = cluster.wait_until_ready()
    waiting = {job_id for ledger in ledgers for job_id in ledger.open()}
    give_up = time.monotonic() + LATEST_END_SECONDS
    while waiting and time.monotonic() < give_up:
        time.sleep(0.2)
        waiting &= {job_id for ledger in ledgers for job_id in ledger.open()}
    back = time.monotonic() - over
    return Round(number, name, over - began, ready, back, tuple(sorted(waiting)))


def _played(cluster: Cluster, names: Sequence[str]) -> Campaign:
    """Run a round for each of these faults, and count the claims, those of lists too.

    SIGINT or SIGTERM ends it after the current round.
    """
    stop, enough, singles = Event(), Event(), Ledger()
    lists = Ledger(lock=singles.lock, numbers=singles.numbers, wrong_pages=singles.wrong_pages)
    clients = [Client(cluster, singles, stop, by_form=number == 0) for number in range(CLIENTS)]
    clients.append(ListClient(cluster, lists, stop, by_form=False))
    for client in clients:
        client.start()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: enough.set())
    rounds: list[Round] = []
    for number, name in enumerate(names):
        if enough.is_set():
            break
        singles.round = lists.round = number
        rounds.append(_round(cluster, (singles, lists), number, name))
        click.echo(f"{number + 1}/{len(names)} {rounds[-1]}")
    stop.set()
    for client in clients:
        client.join(_LAST_END_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "claims.db"
        singles.accepted |= _copied(cluster.database, copied, lists.accepted)
        logs = list(cluster.worker_logs())
        outcome: Outcome = count(copied, logs, singles.accepted, singles.refused)
    return Campaign(tuple(rounds), singles, outcome)


def _copied(database: str, file: Path, lists: dict[str, int]) -> dict[str, int]:
    """Copy what is counted into a file of SQLite; return the claims of these lists' rows."""
    tables = {"claims": "id, claim, state, error", "events": "claim_id, stage, done, n"}
    with closing(psycopg.connect(database)) as server, closing(sqlite3.connect(file)) as copy, copy:
        for table, columns in tables.items():
            copy.execute(f"CREATE TABLE {table} ({columns})")
            for row in server.execute(f"SELECT {columns} FROM {table}".encode()):
                copy.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", row)
        rows = server.execute("SELECT list_id, number, claim_id FROM list_rows").fetchall()
    # A row without a claim counts as lost.
    return {
        claim_id or f"row {number} of {list_id}": lists[list_id]
        for list_id, number, claim_id in rows
        if list_id in lists
    }


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
    text = report.text(
        played, "python -m research.benchmarks.faults.machines", processor.described()
    )
    (out / "machines.md").write_text(text, encoding="utf-8")
    (out / "machines.json").write_text(json.dumps(report.document(played), indent=1), "utf-8")
    click.echo(text)
    raise SystemExit(1 if report.findings(played) else 0)


if __name__ == "__main__":
    main()
