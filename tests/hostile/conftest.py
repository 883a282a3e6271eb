"""How many inputs Hypothesis makes: a few that are always the same, or as many as you ask for.

``ESOTERIC_FUZZ=5000 pytest -n 0 tests/hostile`` tries 5,000 new ones in each test.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_ASKED = int(os.environ.get("ESOTERIC_FUZZ", "0"))

settings.register_profile(
    "hostile",
    max_examples=_ASKED or 20,
    derandomize=not _ASKED,
    database=None,
    deadline=None,  # ``quickly`` counts the time of the processor: others use this computer too
    suppress_health_check=list(HealthCheck),
    print_blob=bool(_ASKED),
)
settings.load_profile("hostile")
