"""Programs are started again, given up, and ended, whatever happens to who started them."""

from __future__ import annotations

import logging
import os
import signal
import stat
import time
from itertools import pairwise
from pathlib import Path

import pytest

from cli import supervisor
from cli.home_lock import running
from cli.supervisor import GivenUp, LogFile, Program, end_all, run
from tests.ops.up_process import alive

pytestmark = pytest.mark.server


def program(
    folder: Path, behaviour: str, essential: bool = True, needs: Path | None = None
) -> Program:
    return Program(
        "kettle",
        "tests.ops.programs",
        folder / "kettle.log",
        {**os.environ, "STARTS": str(folder / "starts"), "BEHAVIOUR": behaviour},
        essential,
        needs,
    )


def started(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / "starts").read_text().split()]
    except FileNotFoundError:
        return []


def test_only_this_user_can_read_the_logs_also_those_that_are_full(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with running(tmp_path / "home", 1, "127.0.0.1", 8000):
            log = LogFile(tmp_path / "home" / "logs" / "kettle.log")
        log.maxBytes = 1000
        for _ in range(50):
            log.handle(logging.makeLogRecord({"msg": "The kettle boils. " * 5}))
        log.close()
    finally:
        os.umask(before)
    logs = tmp_path / "home" / "logs"
    assert len(list(logs.iterdir())) == 4
    assert {stat.S_IMODE(file.stat().st_mode) for file in logs.iterdir()} == {0o600}
    for folder in (logs, logs.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_program_whose_database_is_gone_is_not_started_again_until_it_is_back(
    tmp_path: Path,
) -> None:
    file, away = tmp_path / "esoteric.db", tmp_path / "away.db"
    file.touch()
    kettle, said = program(tmp_path, "die once", needs=file), []
    run([kettle], lambda: len(said) == 1, said.append)
    assert said == [
        f"The kettle stopped with status 3 and is restarted. The log: {tmp_path}/kettle.log"
    ]
    file.rename(away)
    run([kettle], lambda: len(said) == 2, said.append)
    end = time.monotonic() + 1
    run([kettle], lambda: time.monotonic() > end, said.append)
    assert len(started(tmp_path)) == 1
    assert len(said) == 2
    assert said[1].startswith(f"{file} is gone, so the kettle is not started again. Put the same")
    away.rename(file)
    run([kettle], lambda: len(started(tmp_path)) == 2, said.append)
    end_all([kettle])


def test_a_program_that_is_killed_is_started_again(tmp_path: Path) -> None:
    kettle, said = program(tmp_path, "talk"), []
    log = tmp_path / "kettle.log"
    run([kettle], lambda: log.exists() and "at work" in log.read_text("utf-8"), said.append)
    assert log.read_text("utf-8") == "100% of caf\u00e9 and \ufffd\nat work\n"
    os.kill(started(tmp_path)[0], signal.SIGKILL)
    run([kettle], lambda: len(started(tmp_path)) == 2, said.append)
    end_all([kettle])
    assert len(said) == 1
    assert "was ended by SIGKILL and is restarted" in said[0]
    assert alive(started(tmp_path)) == []


def test_a_program_that_others_can_do_without_is_started_again_after_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.05)
    kettle, said, starts = program(tmp_path, "die", essential=False), [], []

    def six() -> bool:
        if len(started(tmp_path)) > len(starts):
            starts.append(time.monotonic())
        return len(starts) == 6

    run([kettle], six, said.append)
    end_all([kettle])
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    assert all(pause >= 0.05 * 2 ** (n + 1) for n, pause in enumerate(pauses))
    assert kettle.trouble.startswith("The kettle stopped with status 1 5 times right after its")
    assert "no luck today" in kettle.trouble
    assert said[-1] == f"{kettle.trouble}. It is started again in 2 seconds."


def test_a_program_that_keeps_ending_is_given_up_with_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.02)
    kettle = program(tmp_path, "die")
    with pytest.raises(GivenUp, match="status 1 5 times") as caught:
        run([kettle], lambda: False, lambda _text: None)
    end_all([kettle])
    assert "no luck today" in str(caught.value)
    assert str(tmp_path / "kettle.log") in str(caught.value)
    assert len(started(tmp_path)) == 5


def test_a_program_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SECONDS_TO_END", 1.0)
    kettle = program(tmp_path, "ignore SIGTERM")
    log = tmp_path / "kettle.log"
    run([kettle], lambda: log.exists() and "at work" in log.read_text(), print)
    asked = time.monotonic()
    end_all([kettle])
    assert time.monotonic() - asked >= 1
    (pid,) = started(tmp_path)
    assert alive([pid]) == []
