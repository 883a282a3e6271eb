"""Commands that mend an installation, written so that they can be pasted as they are."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def esoteric_command(arguments: str) -> str:
    """Return the command line, with its folder where the shell would not find it by name."""
    script = Path(sys.executable).with_name("esoteric")
    by_name = shutil.which("esoteric") is not None or not script.exists()
    return f"{'esoteric' if by_name else shlex.quote(str(script))} {arguments}"


def install_command(requirement: str) -> str:
    """Return the command line that installs a requirement afresh for this Python."""
    return f"{shlex.quote(sys.executable)} -m pip install --force-reinstall {requirement}"
