"""``python -m cli.tethered MODULE``: run a module that ends when its parent process ends.

The parent has the other end of the standard input. When the parent ends, also if it is
killed, the system closes that end. This works on every system with pipes; a signal from
the kernel at the parent's death does not.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import time
from threading import Thread

SECONDS_TO_END = 5.0


def main() -> None:
    """Run the module that the first argument names."""
    module = sys.argv.pop(1)
    Thread(target=_end_with_parent, name="tether", daemon=True).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


if __name__ == "__main__":
    main()
