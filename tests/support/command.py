"""The command ``esoteric`` without a process of its own: libraries are imported once for all tests.

What only a process shows (its output beyond Python's streams, signals, other processes that it
starts) needs ``in_a_process``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from retrieval.models import runtime
from settings import CHECKOUT

Ran = subprocess.CompletedProcess[str]


def esoteric(home: Path, *arguments: object, **variables: object) -> Ran:
    """Run the command with this home and these variables of the environment."""
    words = [str(argument) for argument in arguments]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ESOTERIC_HOME": home, **variables}.items():
            patch.setenv(name, str(value))
        patch.setattr(sys, "argv", ["esoteric", *words])
        # A command sets these for its whole process.
        patch.setattr(runtime, "_threads", runtime.threads())
        patch.setattr(runtime, "_kept", runtime.kept_folder())
        ran = CliRunner().invoke(main, words, prog_name="esoteric", catch_exceptions=False)
    return subprocess.CompletedProcess(words, ran.exit_code, ran.stdout, ran.stderr)


def in_a_process(home: Path, *arguments: object, **variables: object) -> Ran:
    """Run it as a user does."""
    given = {"ESOTERIC_HOME": home, **variables}
    return subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments)],
        cwd=CHECKOUT,
        env={**os.environ, **{name: str(value) for name, value in given.items()}},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def printed(code: str, *arguments: object) -> list[str]:
    """Run lines of Python that must not fail in a process of their own; return what they print."""
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()
