"""The retriever: from a claim to sentences that support or refute it, and a verdict.

``retrieval.pipeline`` shows every stage in order; each folder holds one stage,
each file one implementation.
"""

from __future__ import annotations

import os

# Haystack reports usage home and the model libraries look for a hub unless they
# are set otherwise before their first import. Nothing here leaves the machine, and only
# ``report/fetching.py`` asks a hub, when it is called.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"
