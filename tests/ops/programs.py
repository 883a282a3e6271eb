"""``python -m tests.ops.programs``: a program that behaves as BEHAVIOUR says."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


def main() -> None:
    """Append the process id to the file STARTS, then behave."""
    starts = Path(os.environ["STARTS"])
    with starts.open("a") as file:
        file.write(f"{os.getpid()}\n")
    behaviour = os.environ["BEHAVIOUR"]
    if behaviour == "die":
        sys.exit("no luck today")
    if behaviour == "die once" and len(starts.read_text().split()) == 1:
        sys.exit(3)
    if behaviour == "ignore SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "talk":
        sys.stdout.buffer.write(b"100% of caf\xc3\xa9 and \xff\n")
        sys.stdout.flush()
    print("at work", file=sys.stderr, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main()
