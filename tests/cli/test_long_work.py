"""Progress of long work, on a terminal and in a log."""

from __future__ import annotations

import sys

import pytest

from cli import progress
from cli.progress import LongWork


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_gets_a_line_after_two_seconds_and_then_every_ten(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    work = LongWork("Indexing islands", of=400)
    lines = []
    for second in range(25):
        clock.now = 100.0 + second
        work.show(10 * second, f"{10 * second} documents")
        if line := capsys.readouterr().err:
            lines.append((second, line))
    work.close()
    # Ten a second: 380 are left after two seconds.
    assert lines == [
        (2, "Indexing islands: 5 %, 20 documents, about 38 s left\n"),
        (12, "Indexing islands: 30 %, 120 documents, about 28 s left\n"),
        (22, "Indexing islands: 55 %, 220 documents, about 18 s left\n"),
    ]
    assert capsys.readouterr().err == ""


def test_neither_an_earlier_try_nor_loading_counts_as_speed(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    work = LongWork("Checking", of=100, done=89)
    clock.now += 1000  # the models are loaded
    work.show(90, "90 of 100 claims")
    assert capsys.readouterr().err == "Checking: 90 %, 90 of 100 claims\n"
    clock.now += 10
    work.show(95, "95 of 100 claims")
    assert capsys.readouterr().err == "Checking: 95 %, 95 of 100 claims, about 10 s left\n"


def test_quick_work_writes_nothing_to_a_log(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    work = LongWork("Checking", of=2)
    work.show(1, "1 of 2 claims")
    clock.now += 60
    work.show(2, "2 of 2 claims")
    work.close()
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    work = LongWork("Checking", of=4)
    work.show(4, "4 of 4 claims")
    work.close()
    shown = capsys.readouterr().err
    assert "Checking: 4 of 4 claims |" in shown
    assert "100%" in shown
