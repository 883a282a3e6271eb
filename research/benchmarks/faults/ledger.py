"""What the clients of a campaign know: what was accepted, what has ended, and what goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["claims", "rows", "uploads"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Accepted:
    """What the service said it would do, and the round in which it said so.

    ``rows``: how many a list has. ``files``: those of an upload, whose id is the name of its
    corpus, a slash and a number.
    """

    kind: Kind
    round: int
    rows: int = 0
    files: tuple[str, ...] = ()


@dataclass
class Ledger:
    """Safe to share between threads, as long as only methods change it."""

    round: int = 0
    accepted: dict[str, Accepted] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    """Lists that a client wanted to be cancelled, whether this was answered or not."""
    refused: dict[str, int] = field(default_factory=dict)
    """Claims that were answered with 503, and the rounds; without those that may be checked."""
    wrong_pages: list[tuple[int, str]] = field(default_factory=list)
    """Rounds, and answers that were no good answer and no error with a reason."""
    moves: int = 0
    """How often something has ended, or has made a step."""
    _open: set[str] = field(default_factory=set)
    _seen: dict[str, tuple[object, float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _numbers: Iterator[int] = field(default_factory=count)

    def number(self) -> int:
        """Return a number that no other caller gets."""
        with self._lock:
            return next(self._numbers)

    def accept(self, name: str, kind: Kind, rows: int = 0, files: Iterable[str] = ()) -> None:
        """Note what the service has accepted, under its id."""
        with self._lock:
            self.accepted[name] = Accepted(kind, self.round, rows, tuple(files))
            self._open.add(name)

    def refuse(self, claim: str) -> None:
        """Note a claim that was answered with 503, which says that it is not checked."""
        with self._lock:
            self.refused[claim] = self.round

    def cancel(self, name: str) -> None:
        """Note that a list is about to be cancelled."""
        with self._lock:
            self.cancelled.add(name)

    def wrong(self, what: str) -> None:
        """Note a bad answer."""
        with self._lock:
            self.wrong_pages.append((self.round, what))

    def see(self, name: str, progress: object) -> None:
        """Note how far something is, as the service says."""
        with self._lock:
            if self._seen.get(name, (None, 0.0))[0] != progress:
                self._seen[name] = (progress, time.monotonic())
                self.moves += 1

    def end(self, name: str) -> None:
        """Note that something has ended, as the service says."""
        with self._lock:
            self._open.discard(name)
            self.moves += 1

    def open(self) -> set[str]:
        """Return what has not ended, as far as the clients know."""
        with self._lock:
            return set(self._open)

    def unmoved(self, names: Iterable[str], since: float) -> set[str]:
        """Return those of the names that have not ended, nor made a step since this moment.

        A claim has no steps. ``since``: by ``time.monotonic``.
        """
        with self._lock:
            return {name for name in names if name in self._open and not self._moved(name, since)}

    def _moved(self, name: str, since: float) -> bool:
        return self.accepted[name].kind != "claims" and self._seen.get(name, (0, 0.0))[1] > since
