"""Runs the rounds: a fault each, while claims keep coming, and what was found after it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from threading import Event

from research.benchmarks.faults.clients import CLIENTS, Client, Ledger
from research.benchmarks.faults.counting import Outcome, count
from research.benchmarks.faults.kinds import drawn, kinds
from research.benchmarks.faults.service import Service

LATEST_END_SECONDS = 60.0
_LAST_END_SECONDS = 120.0
_QUIET_SECONDS = 4.0


@dataclass(frozen=True)
class Round:
    """One fault, and what was found by its end; ``seed`` repeats it as the first round."""

    seed: int
    fault: str
    fault_seconds: float
    ready: bool
    """Whether the service said within minutes that it was ready again."""
    back_seconds: float
    """From the end of the fault until all claims had ended that were open when it was ready."""
    stuck: tuple[str, ...]
    """Ids of those that had not ended 60 seconds after it was ready."""


@dataclass(frozen=True)
class Campaign:
    """All rounds, what the clients saw, and what became of the claims."""

    rounds: tuple[Round, ...]
    ledger: Ledger
    outcome: Outcome


def run(service: Service, rounds: int, seed: int, say: Callable[[str], None]) -> Campaign:
    """Build the index, start the service, run this many rounds, and end the service.

    SIGINT or SIGTERM ends it after the current round.

    Raises:
        RuntimeError: one of the first two fails.
    """
    ledger, stop, enough = Ledger(), Event(), Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: enough.set())
    clients = [Client(service, ledger, stop, by_form=number == 0) for number in range(CLIENTS)]
    try:
        service.build()
        service.start()
        if not service.wait_until_ready():
            raise RuntimeError(f"The service did not start: {service.said()[-1000:]}")
        for client in clients:
            client.start()
        played = tuple(_rounds(service, ledger, range(rounds), seed, enough, say))
        stop.set()
        for client in clients:
            client.join(_LAST_END_SECONDS)
    finally:
        service.end()
    logs = sorted((service.home / "logs").glob("worker.log*"))
    database = service.home / "esoteric.db"
    outcome = count(database, logs, ledger.accepted, ledger.refused)
    return Campaign(played, ledger, outcome)


def _rounds(
    service: Service,
    ledger: Ledger,
    numbers: range,
    seed: int,
    enough: Event,
    say: Callable[[str], None],
) -> Iterator[Round]:
    for number in numbers:
        ledger.round = number
        played = _round(service, ledger, seed + number)
        say(
            f"{number + 1}/{len(numbers)} {played.fault}, {played.fault_seconds:.0f} s:"
            f" {'' if played.ready else 'not '}ready, {len(played.stuck)} stuck,"
            f" {played.back_seconds:.1f} s until all had ended"
        )
        yield played
        if enough.is_set():
            return


def _round(service: Service, ledger: Ledger, seed: int) -> Round:
    random = Random(seed)
    fault = drawn(service, random)
    time.sleep(random.uniform(0.5, _QUIET_SECONDS))
    began = time.monotonic()
    kinds(service)[fault](service, random)
    over = time.monotonic()
    ready = service.wait_until_ready()
    waiting, give_up = ledger.open(), time.monotonic() + LATEST_END_SECONDS
    while waiting and time.monotonic() < give_up:
        time.sleep(0.2)
        waiting &= ledger.open()
    back = time.monotonic() - over
    return Round(seed, fault, over - began, ready, back, tuple(sorted(waiting)))
