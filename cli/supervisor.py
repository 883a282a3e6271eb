"""Runs the programs of ESOTERIC, restarts those that end, and ends all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from logging import Formatter, LogRecord, makeLogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import Thread
from typing import IO

from retrieval.system.files import make_private_file
from settings import CHECKOUT

LOG_BYTES = 5_000_000
LOGS_KEPT = 3
SECONDS_TO_END = 5.0
# A program that ends sooner than this after its start did not start properly.
QUICK_DEATH_SECONDS = 10.0
MOST_QUICK_DEATHS = 5
# Doubled with each quick death.
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 60.0


class GivenUp(Exception):
    """A program ends again and again; the message names it and its log."""


class LogFile(RotatingFileHandler):
    """A file of limited size that lines are appended to; only this user can read it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
        self.setFormatter(Formatter("%(message)s"))

    def _open(self) -> TextIOWrapper:
        # Also each new file after the size is reached.
        make_private_file(Path(self.baseFilename))
        return super()._open()

    def handleError(self, record: LogRecord) -> None:  # noqa: N802 - logging's name
        """Drop the line: a full disk must not end the program or fill its output with errors."""


class Program:
    """A module of ESOTERIC in its own process, with its log."""

    def __init__(
        self,
        name: str,
        module: str,
        log: Path,
        environment: Mapping[str, str],
        essential: bool = True,
        needs: Path | None = None,
    ) -> None:
        """Nothing is started yet. ``essential``: without it, the others are of no use.

        ``needs``: a file that it makes at its first start; where that is gone, the program is not
        started again, as it would make an empty one.
        """
        self.name = name
        self.trouble = ""
        """Why it cannot be kept running, "" while it can."""
        self._essential = essential
        self._needs = needs
        self._had_it = False
        self._module = module
        self._environment = environment
        self._log_path = log
        self._log = LogFile(log)
        self._last_line = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: Thread | None = None
        self._started = 0.0
        self._quick_deaths = 0
        self._start_at = 0.0

    def start(self) -> None:
        """Start the process."""
        self._process = subprocess.Popen(
            ending_with_parent(self._module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=with_our_modules(self._environment),
            # Only this process gets Ctrl-C; it then ends the programs in order.
            start_new_session=True,
        )
        self._started = time.monotonic()
        self._reader = Thread(target=self._keep_log, args=[self._process.stdout], daemon=True)
        self._reader.start()

    def check(self, say: Callable[[str], None]) -> None:
        """Restart the process if it ended, after a pause that grows.

        Raises:
            GivenUp: it is essential, and ended too often right after its start.
        """
        now = time.monotonic()
        if self._process is None:
            if now >= self._start_at and not self._lacks_its_file(say):
                self.start()
            return
        self._had_it = self._had_it or (self._needs is not None and self._needs.exists())
        if self._process.poll() is None:
            if now - self._started >= QUICK_DEATH_SECONDS:
                self.trouble = ""
            return
        how = _how_it_ended(self._process.returncode)
        self._tidy()
        quick = now - self._started < QUICK_DEATH_SECONDS
        self._quick_deaths = self._quick_deaths + 1 if quick else 0
        # The power is limited, since it may end for days.
        longer = 2.0 ** min(self._quick_deaths, 10)
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * longer)
        self._start_at = now + pause
        if self._quick_deaths < MOST_QUICK_DEATHS:
            say(f"The {self.name} {how} and is restarted. The log: {self._log_path}")
            return
        self.trouble = (
            f"The {self.name} {how} {self._quick_deaths} times right after its start."
            f" Its last line: {self._last_line or 'none'}. The log: {self._log_path}"
        )
        if self._essential:
            raise GivenUp(self.trouble)
        say(f"{self.trouble}. It is started again in {pause:.0f} seconds.")

    def _lacks_its_file(self, say: Callable[[str], None]) -> bool:
        if self._needs is None or not self._had_it or self._needs.exists():
            return False
        trouble = (
            f"{self._needs} is gone, so the {self.name} is not started again. Put the same file"
            " back, or stop ESOTERIC and run `esoteric restore FILE --replace`"
        )
        if self.trouble != trouble:
            self.trouble = trouble
            say(f"{trouble}.")
        return True

    def ask_to_end(self) -> None:
        """Send SIGTERM."""
        if self._process is not None:
            self._signal(self._process, signal.SIGTERM)

    def end(self, within: float) -> None:
        """Wait for the end; kill the process when the time is over."""
        if self._process is not None:
            try:
                self._process.wait(max(0.0, within))
            except subprocess.TimeoutExpired:
                self._signal(self._process, signal.SIGKILL)
                self._process.wait()
            self._tidy()
        self._log.close()

    def _signal(self, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        # The program leads a process group, so this also reaches the processes that it started.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)

    def _tidy(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
        if self._reader is not None:
            self._reader.join(1.0)

    def _keep_log(self, output: IO[bytes]) -> None:
        with output:
            for raw in output:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                if line.strip():
                    self._last_line = line.strip()
                self._log.handle(makeLogRecord({"msg": line}))


def ending_with_parent(module: str, *arguments: str) -> list[str]:
    """Return the command line of a module that ends when its standard input is closed."""
    # -P: files in the user's folder must not be imported as our modules.
    return [sys.executable, "-P", "-m", "cli.run_with_parent", module, *arguments]


def with_our_modules(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with this checkout on Python's path."""
    inherited = environment.get("PYTHONPATH")
    path = f"{CHECKOUT}{os.pathsep}{inherited}" if inherited else str(CHECKOUT)
    return {**environment, "PYTHONPATH": path}


def run(programs: list[Program], until: Callable[[], bool], say: Callable[[str], None]) -> None:
    """Keep the programs running until ``until`` returns true.

    Raises:
        GivenUp: one of them cannot be kept running.
    """
    while not until():
        for program in programs:
            program.check(say)
        time.sleep(0.1)


def end_all(programs: list[Program]) -> None:
    """End all programs at the same time; none is left running."""
    for program in programs:
        program.ask_to_end()
    deadline = time.monotonic() + SECONDS_TO_END
    for program in programs:
        program.end(deadline - time.monotonic())


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"stopped with status {status}"
    return f"was ended by {signal.Signals(-status).name}"
