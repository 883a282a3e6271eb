"""Progress of long work: a bar on a terminal; else a line after two seconds, then every ten."""

from __future__ import annotations

import sys
import time

import click
from tqdm import tqdm

_FIRST_SECONDS = 2.0
_SECONDS = 10.0
_FORMAT = "{desc}|{bar}| {percentage:3.0f}% [{elapsed}<{remaining}]"


class LongWork:
    """Reports on standard error how much is done, and the estimated time left."""

    def __init__(self, what: str, of: int, done: int = 0) -> None:
        """Begin; an earlier run did ``done`` of ``of``."""
        self._what = what
        self._of = of
        self._started = time.monotonic()
        self._begun: tuple[int, float] | None = None  # done and time at the first call
        self._next_line = self._started + _FIRST_SECONDS
        self._bar: tqdm[None] | None = None
        if sys.stderr.isatty():
            self._bar = tqdm(desc=what, total=of, initial=done, bar_format=_FORMAT)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def show(self, done: int, detail: str) -> None:
        """Report that ``done`` are done; ``detail`` is shown after the share.

        The time left is estimated from the first call on, so loading the models does not count.
        """
        self._begun = self._begun or (done, time.monotonic())
        if self._bar is not None:
            self._bar.set_description_str(f"{self._what}: {detail} ", refresh=False)
            self._bar.update(done - self._bar.n)
        elif time.monotonic() >= self._next_line and done < self._of:
            self._next_line = time.monotonic() + _SECONDS
            share = f"{100 * done // self._of} %"
            click.echo(", ".join([f"{self._what}: {share}", detail, *self._left(done)]), err=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def _left(self, done: int) -> list[str]:
        assert self._begun is not None  # ``show`` sets it
        before, started = self._begun
        if done <= before:
            return []
        seconds = (time.monotonic() - started) * (self._of - done) / (done - before)
        return [f"about {seconds:.0f} s left"]
