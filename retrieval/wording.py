"""Words that the pages and the command line share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from retrieval.types import Stopped

Decider: TypeAlias = Literal["verifier", "model", "both"]
STOPPED: dict[Stopped, str] = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new was found",
    "hops": "the limit of rounds was reached",
    "time": "the time allowed was used up",
}


def decider(document: Mapping[str, Any]) -> Decider:
    """Return whose verdict a claim document holds."""
    usage = document.get("usage")  # documents that are kept from before have none
    judge = document["verdict"]["judge"]
    if usage is None or len(document["verdict"]["opinions"]) < 2:
        return "verifier"
    if judge == usage["model"]:
        return "model"
    return "verifier" if judge == document["verdict"]["opinions"][0]["judge"] else "both"


def lowered_by_proof(document: Mapping[str, Any]) -> bool:
    """Return whether the verdict is less confident because the proof comes to another label.

    The proof is compared with the verifier's verdict alone.
    """
    differs = bool(document["proof"]) and document["proof_label"] != document["verdict"]["label"]
    return differs and decider(document) == "verifier"
