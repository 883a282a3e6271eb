"""``python -m cli.run_with_parent MODULE``: run a module that ends when its parent process ends.

The parent has the other end of the standard input.
"""

from __future__ import annotations

import runpy
import sys

from retrieval.system.processes import end_this_process_when_closed


def main() -> None:
    """Run the module that the first argument names."""
    module = sys.argv.pop(1)
    end_this_process_when_closed(sys.stdin.fileno())
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
