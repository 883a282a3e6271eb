"""``python -m tests.ops.supervised``: supervise two programs until killed."""

from __future__ import annotations

import os
from pathlib import Path

from cli.supervisor import Program, run

if __name__ == "__main__":
    folder = Path(os.environ["STARTS"]).parent
    programs = [
        Program(name, "tests.ops.programs", folder / f"{name}.log", os.environ)
        for name in ("one", "two")
    ]
    for program in programs:
        program.start()
    run(programs, lambda: False, print)
