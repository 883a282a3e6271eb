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
# Threads that wait for each other sleep instead of spinning: hardly slower where nothing else
# runs, two thirds of the time beside a busy program, such as a browser (benchmarks/waiting.py).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
