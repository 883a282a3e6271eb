"""``python -m tests.worker.fake_worker``: the real worker process around the fake retriever.

It looks around more often than the real one, so that tests wait less. CLOCK_AHEAD: by how many
seconds the clock of its machine is ahead. LEASE_SECONDS: after how many seconds it takes a claim
of a worker that is silent.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

from tests.worker.fake_retriever import open_retriever
from worker import clock, feeder, heartbeat, keeper, reaper, retriever
from worker.main import main

if __name__ == "__main__":
    ahead = timedelta(seconds=float(os.environ.get("CLOCK_AHEAD", "0")))
    clock.now = lambda: datetime.now(UTC) + ahead
    heartbeat.BEAT_SECONDS = keeper.LOOK_SECONDS = reaper.LOOK_SECONDS = 0.5
    feeder.IDLE_SECONDS = retriever.WATCH_SECONDS = 0.5
    reaper.LEASE_SECONDS = float(os.environ.get("LEASE_SECONDS", reaper.LEASE_SECONDS))
    sys.exit(main(open_retriever))
