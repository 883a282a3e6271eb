"""Ends this process when another one closes its end of a pipe, which the system does at its death.

This works on every system with pipes; a signal from the kernel at the parent's death does not.
"""

from __future__ import annotations

import os
import signal
import time
from threading import Thread

SECONDS_TO_END = 5.0


def end_this_process_when_closed(descriptor: int) -> None:
    """Send SIGTERM to this process when the pipe is closed, and end it five seconds later."""
    Thread(target=_end, args=[descriptor], name="parent watch", daemon=True).start()


def _end(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
