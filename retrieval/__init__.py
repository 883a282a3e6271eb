"""The retriever: from a claim to sentences that support or refute it, and a verdict.

``retrieval.pipeline`` shows every stage in order; each folder holds one stage,
each file one implementation.
"""

from __future__ import annotations

import os

# Haystack reports usage home and the model libraries look for a hub unless they
# are told otherwise before their first import. Nothing here leaves the machine.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"
# Threads that wait for each other spin for some microseconds and then sleep: quicker than to sleep
# at once where nothing else runs, and than to spin on beside a busy program, such as a browser
# (benchmarks/waiting.py). The first is for every OpenMP, the second for libgomp alone.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
