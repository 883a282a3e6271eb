"""Runs the command in a process of its own."""

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
