"""Runs the rounds: a fault each, while the clients go on, and what was found after it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from threading import Event
from typing import Protocol

from research.benchmarks.faults.client import Client
from research.benchmarks.faults.clients import clients
from research.benchmarks.faults.counting import Counts, Outcome, count
from research.benchmarks.faults.kinds import drawn, kinds
from research.benchmarks.faults.ledger import KINDS, Ledger
from research.benchmarks.faults.results import Finding, Results, Round
from research.benchmarks.faults.service import Service

STUCK_SECONDS = 60.0
MOST_PASSING = 60
_LAST_END_SECONDS = 300.0
_QUIET_SECONDS = 3.0
_LOOK_SECONDS = 0.5
_LONGEST_SECONDS = 600.0


class Served(Protocol):
    """A service whose clients wait."""

    def is_ready(self) -> bool:
        """Return whether it says now that claims are checked."""
        ...


@dataclass(frozen=True)
class Played:
    """A fault, before it is known what became of what was accepted in its round."""

    seed: int
    fault: str
    fault_seconds: float
    ready: bool
    back_seconds: float
    stuck: tuple[str, ...]


def run(service: Service, rounds: int, seed: int, say: Callable[[str], None]) -> Results:
    """Build the index, start the service, run this many rounds, and end the service.

    SIGINT or SIGTERM ends it after the current round.

    Raises:
        RuntimeError: one of the first two fails.
    """
    ledger, stop, enough = Ledger(), Event(), Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: enough.set())
    at_work = clients(service, ledger, stop)
    try:
        service.build()
        service.start()
        if not service.wait_until_ready():
            raise RuntimeError(f"The service did not start: {service.said()[-1000:]}")
        for client in at_work:
            client.start()
        played = list(_rounds(service, ledger, range(rounds), seed, enough, say))
        stop.set()
        wait_for_all(at_work)
    finally:
        service.end()
    return results_of(played, ledger, count(service.home, ledger))


def wait_for_all(at_work: Sequence[Client]) -> None:
    """Wait until the clients have seen the end of what they began, for five minutes at most."""
    give_up = time.monotonic() + _LAST_END_SECONDS
    for client in at_work:
        client.join(max(0.0, give_up - time.monotonic()))


def _rounds(
    service: Service,
    ledger: Ledger,
    numbers: range,
    seed: int,
    enough: Event,
    say: Callable[[str], None],
) -> Iterator[Played]:
    for number in numbers:
        ledger.round = number
        played = _round(service, ledger, seed + number)
        say(
            f"{number + 1}/{len(numbers)} {played.fault}, {played.fault_seconds:.0f} s:"
            f" {'' if played.ready else 'not '}ready, {len(played.stuck)} stuck,"
            f" {played.back_seconds:.1f} s until all went on"
        )
        yield played
        if enough.is_set():
            return


def _round(service: Service, ledger: Ledger, seed: int) -> Played:
    random = Random(seed)
    fault = drawn(service, random)
    time.sleep(random.uniform(0.5, _QUIET_SECONDS))
    began = time.monotonic()
    kinds(service)[fault](service, random)
    over = time.monotonic()
    ready = service.wait_until_ready()
    stuck = stuck_after(service, ledger)
    back = time.monotonic() - over
    return Played(seed, fault, over - began, ready, back, tuple(sorted(stuck)))


def stuck_after(service: Served, ledger: Ledger) -> set[str]:
    """Wait until all that is open now has ended or gone on, and return what does not.

    That is what has not when nothing of it has for 60 seconds, while the service was ready and did
    either nothing or 60 other things: on a machine that has much to do, all of it is slow.
    """
    waiting, moves = ledger.open(), ledger.moves
    began = moved_at = worked_at = time.monotonic()
    seen = moves
    while waiting:
        time.sleep(_LOOK_SECONDS)
        still, now = ledger.unmoved(waiting, began), time.monotonic()
        # A worker that was killed just now still counts as alive, so readiness may end again.
        if still != waiting or not service.is_ready():
            waiting, moves, moved_at = still, ledger.moves, now
        if ledger.moves != seen:
            seen, worked_at = ledger.moves, now
        passed_over = ledger.moves - moves >= MOST_PASSING
        idle = now - worked_at >= STUCK_SECONDS
        over = now - moved_at >= STUCK_SECONDS and (passed_over or idle)
        if over or now - began > _LONGEST_SECONDS:
            break
    return waiting


def results_of(played: Sequence[Played], ledger: Ledger, outcome: Outcome) -> Results:
    """Return what a campaign found."""
    counts = [dict.fromkeys(KINDS, Counts()) for _ in played]
    found = [(number, f"bad page: {what}") for number, what in ledger.wrong_pages]
    for name, accepted in ledger.accepted.items():
        ends = outcome.ends[name]
        counts[accepted.round][accepted.kind] += ends
        for what, number in (
            ("lost", ends.lost),
            ("twice", ends.twice),
            ("failed without a reason", ends.failed_without),
            ("no word that the language model had no part", ends.unsaid),
        ):
            if number:
                found.append((accepted.round, f"{what}: {number} of {accepted.kind} {name}"))
    for claim in outcome.refused_but_kept:
        found.append((ledger.refused[claim], f"answered with 503, but kept: {claim}"))
    for number, one in enumerate(played):
        found += [(number, f"stuck: {ledger.accepted[name].kind} {name}") for name in one.stuck]
        if not one.ready:
            found.append((number, "the service was not ready again"))
    return Results(
        tuple(
            Round(
                *(one.seed, one.fault, one.fault_seconds, one.ready, one.back_seconds),
                stuck=len(one.stuck),
                bad_pages=sum(wrong == number for wrong, _ in ledger.wrong_pages),
                counts=counts[number],
            )
            for number, one in enumerate(played)
        ),
        tuple(Finding(played[n].seed, played[n].fault, what) for n, what in sorted(found)),
        dict(outcome.reasons),
        len(ledger.refused),
        len(outcome.refused_but_kept),
    )
