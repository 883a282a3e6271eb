"""Words that the pages and the command line share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrieval.types import Stopped

STOPPED: dict[Stopped, str] = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new was found",
    "hops": "the limit of rounds was reached",
    "time": "the time allowed was used up",
}


def decided_by_model(document: Mapping[str, Any]) -> bool:
    """Return whether the verdict of a claim document is a language model's."""
    usage = document.get("usage")  # documents that are kept from before have none
    return usage is not None and bool(usage["model"] == document["verdict"]["judge"])


def lowered_by_proof(document: Mapping[str, Any]) -> bool:
    """Return whether the verdict is less confident because the proof comes to another label.

    The proof is compared with the verifier's verdict alone.
    """
    differs = bool(document["proof"]) and document["proof_label"] != document["verdict"]["label"]
    return differs and not decided_by_model(document)
