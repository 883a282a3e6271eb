"""The retriever: from a claim to sentences that support or refute it, and a verdict.

``retrieval.pipeline.check`` shows every stage in order; ``retrieval.stages`` has one file for each.
"""

from __future__ import annotations

import os

# Haystack sends usage statistics, and the model libraries connect to a hub, unless these variables
# are set before their first import. Only ``report/fetching.py`` uses a hub, when it is called.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"
