"""How many inputs Hypothesis makes: a few that are always the same, or as many as you ask for.

``ESOTERIC_FUZZ=5000 pytest -n 0 tests/hostile`` tries 5,000 new ones in each test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ASKED = int(os.environ.get("ESOTERIC_FUZZ", "0"))

settings.register_profile(
    "hostile",
    max_examples=ASKED or 20,
    derandomize=not ASKED,
    database=None,
    deadline=None,  # ``quickly`` counts the time of the processor: others use this computer too
    suppress_health_check=list(HealthCheck),
    print_blob=bool(ASKED),
)
settings.load_profile("hostile")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of which some of many inputs have sentences, which a model reads."""
    for item in items:
        if ASKED and item.path == Path(__file__).with_name("test_requests.py"):
            item.add_marker("models")
