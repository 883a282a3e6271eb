"""Waits for a server of the index that is away, so that long work need not begin again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import click

from cli.errors import printable
from retrieval.errors import IndexAway

Answer = TypeVar("Answer")

LONGEST_WAIT_SECONDS = 600.0
_PAUSE_SECONDS = 2.0


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
                _say(f"{error.message} Waiting for it, {longest_wait / 60:.0f} minutes at most.")
            waited = True
            time.sleep(_PAUSE_SECONDS)
        else:
            if waited:
                _say("The index answers again; the work goes on.")
            return answer


def _say(text: str) -> None:
    click.echo(printable(text), err=True)
