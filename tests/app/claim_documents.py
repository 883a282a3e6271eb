"""Claim documents as the retriever makes them, about things invented for the tests.

The whole ones are in ``claim_documents.json``; their offsets are those of their texts.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from retrieval.types import Label, Stopped

_WHOLE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
MODEL = "small at models.example:8080"
LOCAL = "qwen2.5-1.5b (local)"
PROVED_CLAIM = "The Lighthouse of Varn was built by Ida Holm."
LONG_CLAIM: str = _WHOLE["long proof"]["claim"]
REPORT_CLAIM: str = _WHOLE["report"]["claim"]
HOLM: str = _WHOLE["lighthouse"]["documents"][2]["text"]


def document(
    title: str,
    text: str,
    score: float,
    found_by: list[str],
    hop: int = 1,
    led_by: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """Return a document that was read."""
    return {
        "id": title,
        "title": title,
        "url": address(title),
        "score": score,
        "found_by": found_by,
        "hop": hop,
        "led_by": list(led_by) if led_by else None,
        "text": text,
    }


def hop(
    number: int,
    missing: list[list[int]],
    documents: int,
    sentences: int,
    stopped: Stopped | None = None,
) -> dict[str, Any]:
    """Return a hop; the last one is sufficient if the search ended as proved or decided."""
    return {
        "hop": number,
        "sufficient": stopped in ("proved", "decided"),
        "missing": missing,
        "documents": documents,
        "sentences": sentences,
        "label": "SUPPORTS" if stopped in ("proved", "decided") else "NOT ENOUGH INFO",
        "best": [["Lighthouse of Varn", 1]],
        "stopped": stopped,
    }


def statement(text: str, start: int, end: int, label: Label, cites: list[int]) -> dict[str, Any]:
    """Return a statement of a claim that makes several; without ``cites`` nothing was found."""
    said = {"judge": "verifier", "label": label, "confidence": 0.9, "rationale": "So."}
    verdict = said | {"opinions": [said | {"cites": cites}]}
    return {"text": text, "span": [start, end], "verdict": verdict}


def address(title: str) -> str:
    """Return the address of an article."""
    return f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"


def claim_document(claim: str, label: str = "SUPPORTS", confidence: float = 0.93) -> dict[str, Any]:
    """Return a result with evidence of every stance, from two hops and four documents."""
    result: dict[str, Any] = deepcopy(_WHOLE["lighthouse"])
    for said in (result["verdict"], *result["verdict"]["opinions"]):
        said |= {"label": label, "confidence": confidence}
    for item in result["evidence"][:2]:
        item["stance"] = label
    return result | {"claim": claim}


def opinion(
    judge: str, label: str, confidence: float, rationale: str, cites: list[int], missing: str = ""
) -> dict[str, Any]:
    """Return what one judge says."""
    return {
        "judge": judge,
        "label": label,
        "confidence": confidence,
        "rationale": rationale,
        "cites": cites,
        "missing": missing,
    }


def document_with_a_model(
    claim: str, model: str, verifier: str = "SUPPORTS", decides: bool = True
) -> dict[str, Any]:
    """Return a result with the opinion ``model`` of a language model."""
    result = claim_document(claim, verifier)
    said = opinion(MODEL, model, 0.42, "It was “built in 1874”, says the page.", [1, 3], "who paid")
    (own,) = result["verdict"]["opinions"]
    result["verdict"]["opinions"] = [said, own] if decides else [own, said]
    if decides:
        result["verdict"] |= {key: said[key] for key in ("label", "confidence", "judge")}
        result["verdict"]["rationale"] = said["rationale"]
    result["usage"] = {"model": MODEL, "calls": 1, "prompt_tokens": 400, "answer_tokens": 50}
    result["seconds"]["explain"] = 1.5
    return result


def document_with_a_local_model(claim: str, model: str, decided: str) -> dict[str, Any]:
    """Return a result that both judges decided together: the verifier says SUPPORTS."""
    result = document_with_a_model(claim, model)
    said, own = result["verdict"]["opinions"]
    said |= {
        "judge": LOCAL,
        "rationale": "It was asked about the evidence in 2 wordings.",
        "missing": "",
    }
    result["verdict"] |= {"label": decided, "judge": f"{own['judge']} with {LOCAL}"}
    result["usage"]["model"] = LOCAL
    return result


def document_without_evidence(claim: str) -> dict[str, Any]:
    """Return the result of a claim on which nothing was found."""
    result = claim_document(claim, "NOT ENOUGH INFO", 1.0)
    result["evidence"] = []
    result["documents"] = []
    result["questions"] = []
    result["verdict"]["rationale"] = "No sentence in the corpus is about this claim."
    result["hops"] = [hop(1, [], 0, 0, "nothing new")]
    return result


def document_kept_from_before(claim: str) -> dict[str, Any]:
    """Return a result as it was stored before there were proofs."""
    result = claim_document(claim)
    del result["proof_label"], result["usage"], result["verdict"]["opinions"]
    for document in result["documents"]:
        del document["led_by"]
    for item in result["evidence"]:
        del item["path"]
    for hop in result["hops"]:
        del hop["label"], hop["best"], hop["stopped"]
    return result


def document_with_proof(label: Label = "SUPPORTS") -> dict[str, Any]:
    """Return a result whose proof covers ``PROVED_CLAIM``: three parts, one sentence."""
    result = claim_document(PROVED_CLAIM, label)
    result |= {"proof": deepcopy(_WHOLE["proof of the lighthouse"]), "proof_label": "SUPPORTS"}
    result["evidence"][1]["path"] = [["Lighthouse of Varn", 1]]
    result["hops"][-1]["stopped"] = "proved"
    return result


def document_with_a_long_proof() -> dict[str, Any]:
    """Return a result with eight parts, every operator and three hops."""
    result: dict[str, Any] = deepcopy(_WHOLE["long proof"])
    return result


def document_with_passages() -> dict[str, Any]:
    """Return a result with evidence in two of four passages of a report, and in an article."""
    result: dict[str, Any] = deepcopy(_WHOLE["report"])
    return result
