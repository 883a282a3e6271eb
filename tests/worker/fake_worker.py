"""``python -m tests.worker.fake_worker``: the real worker process around the fake retriever."""

from __future__ import annotations

import sys

from tests.worker.fake_retriever import open_retriever
from worker.main import main

if __name__ == "__main__":
    sys.exit(main(open_retriever))
