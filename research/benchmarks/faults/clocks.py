"""The clocks of the service: moved while its processes run, without the machine's own clock.

A small library is loaded before the programs (moved_clock.c). It is not libfaketime, because in the
one of Debian 12 a sleep of Python fails (EINVAL) where monotonic clocks are left alone.
"""

from __future__ import annotations

import mmap
import struct
import subprocess
from collections.abc import Collection
from pathlib import Path

_SOURCE = Path(__file__).with_name("moved_clock.c")
WORKER, OTHERS = "worker", "web server"
"""The worker with its children; the web server and ``up``."""
_NUMBERS = struct.Struct("=qq")


class Clocks:
    """By how much the clocks of the service differ from the machine's."""

    def __init__(self, folder: Path) -> None:
        """Compile the library into ``folder``, which is made.

        Raises:
            CalledProcessError, OSError: that cannot be done.
        """
        folder.mkdir()
        library, file = folder / "moved_clock.so", folder / "seconds"
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)], check=True
        )
        file.write_bytes(_NUMBERS.pack(0, 0))
        with file.open("r+b") as opened:
            self._seconds = mmap.mmap(opened.fileno(), _NUMBERS.size)
        self.environment = {"LD_PRELOAD": str(library), "MOVED_CLOCKS": str(file)}

    def move(self, names: Collection[str], seconds: int) -> None:
        """Let the clocks of these names differ by so many seconds, and no other."""
        numbers = (seconds if name in names else 0 for name in (WORKER, OTHERS))
        self._seconds[:] = _NUMBERS.pack(*numbers)
