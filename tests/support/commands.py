"""Runs the command, or a few lines of Python, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from settings import CHECKOUT


def esoteric(*arguments: object, **variables: object) -> subprocess.CompletedProcess[str]:
    """Run the command with these arguments, and these variables in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments)],
        cwd=CHECKOUT,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def printed(code: str, *arguments: object) -> list[str]:
    """Run lines of Python that must not fail, and return the lines that they print."""
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()
