"""What commands say on standard error: how far they are, what they wait for, who gets claims."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click
from tqdm import tqdm

from cli.errors import say
from retrieval.errors import IndexAway
from retrieval.sources.address import given_source, written_source
from settings import Settings

if TYPE_CHECKING:
    from retrieval.index.interface import BuildProgress

Answer = TypeVar("Answer")

LONGEST_WAIT_SECONDS = 600.0
_PAUSE_SECONDS = 2.0
_FIRST_SECONDS = 2.0
_SECONDS = 10.0
_FORMAT = "{desc}|{bar}| {percentage:3.0f}% [{elapsed}<{remaining}]"


def say_where_claims_go(receiver: str) -> None:
    """Say which language model claims are sent to; "" says nothing."""
    if receiver:
        say(f"Claims and the sentences that are found are sent to {receiver}.")


def say_what_is_sent(settings: Settings, corpora: tuple[str, ...] | None) -> None:
    """Say what of the claims is sent to the sources among these corpora.

    Raises:
        BadSource: one of them may not be asked without a contact.
    """
    for name in corpora or ():
        source = given_source(name, settings.sources) or written_source(name)
        if source is not None and source.sent:
            source.check_contact(settings.contact)
            say(source.sent)


class LongWork:
    """Reports how much is done, and the estimated time left.

    A bar on a terminal; else a line after two seconds, then every ten.
    """

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


class IndexBar:
    """Shows how much of a corpus is read, then how much is encoded."""

    def __init__(self, label: str) -> None:
        """Show nothing until the first progress is reported."""
        self._label = label
        self._step = ""
        self._work: LongWork | None = None

    def show(self, progress: BuildProgress) -> None:
        """Show the progress of the build."""
        if self._work is None or self._step != progress.step:
            self.close()
            self._step = progress.step
            what = f"{self._label}, {progress.step}"
            self._work = LongWork(what, progress.of, progress.done)
            self._before = progress.documents
        seconds = self._work.seconds
        rate = f", {(progress.documents - self._before) / seconds:,.0f}/s" if seconds >= 1 else ""
        self._work.show(progress.done, f"{progress.documents:,} documents{rate}")

    def close(self) -> None:
        """Leave the line as it is."""
        if self._work is not None:
            self._work.close()


def patiently(ask: Callable[[], Answer], longest_wait: float = LONGEST_WAIT_SECONDS) -> Answer:
    """Return the result of ``ask``, called again for as long as the server of the index is away.

    A line on standard error says that it waits, and another one that it goes on.

    Raises:
        IndexAway: the server is still away after ``longest_wait`` seconds.
    """
    give_up, waited = time.monotonic() + longest_wait, False
    while True:
        try:
            answer = ask()
        except IndexAway as error:
            if time.monotonic() >= give_up:
                raise
            if not waited:
                say(f"{error.message} Waiting for it, {longest_wait / 60:.0f} minutes at most.")
            waited = True
            time.sleep(_PAUSE_SECONDS)
        else:
            if waited:
                say("The index answers again; the work goes on.")
            return answer
