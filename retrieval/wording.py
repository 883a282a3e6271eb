"""Texts that the pages and the command line share."""

from __future__ import annotations

from retrieval.types import Stopped

STOPPED: dict[Stopped, str] = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new was found",
    "hops": "the limit of hops was reached",
    "time": "the time allowed was used up",
}

WITH_QUANTITIES = " + quantities"
"""Follows the verifier's name in a verdict that the stage ``quantities`` had a part in."""
