"""Claim documents as the retriever makes them, about things invented for the tests.

Offsets are counted by hand where a test relies on them, and found in the text
where it only needs them to be right.
"""

from __future__ import annotations

from typing import Any

from retrieval.types import Label, Operator, Stopped

LIGHTHOUSE = (
    "The Lighthouse of Varn stands on a rock off the coast of Ostrea. It was built in 1874 by the"
    " engineer Ida Holm, who lived in it until her death. Its lamp is seen from forty kilometres."
    " A storm took the gallery in 1902; it was put back a year later in cast iron."
)
HOLM = (
    "Ida Holm (1831 to 1899) was an Ostrean engineer. She planned eleven lighthouses and two"
    " bridges. Her diaries were printed in 1951."
)
OSTREA = "Ostrea is a country of islands. Its capital is Varnby, and its flag is blue and white."
VARNBY = "Varnby is the capital of Ostrea. It has a harbour, a theatre and a museum of whaling."


def evidence(
    document: str,
    text: str,
    sentence: str,
    stance: str,
    score: float,
    *,
    sentence_id: int = 0,
    hop: int = 1,
    selected: bool = True,
) -> dict[str, Any]:
    """Return a piece of evidence whose sentence is in ``text``."""
    start = text.index(sentence)
    return {
        "document": document,
        "title": document,
        "url": address(document),
        "sentence_id": sentence_id,
        "sentence": sentence,
        "start": start,
        "end": start + len(sentence),
        "score": score,
        "stance": stance,
        "stance_confidence": round(0.6 + score / 3, 4),
        "hop": hop,
        "selected": selected,
        "path": [],
    }


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


def mutation(
    claim: str,
    words: str,
    operator: Operator,
    document: str = "",
    sentence_id: int = 0,
    text: str = "",
    aligned: str = "",
) -> dict[str, Any]:
    """Return one step of a proof; without ``aligned`` words it has no evidence."""
    start = claim.index(words)
    at = text.index(aligned)
    return {
        "claim_span": [start, start + len(words)],
        "operator": operator,
        "evidence": [document, sentence_id, at, at + len(aligned)] if aligned else None,
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
    best = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."
    stances = {
        "SUPPORTS": ("SUPPORTS", "SUPPORTS"),
        "REFUTES": ("REFUTES", "REFUTES"),
        "NOT ENOUGH INFO": ("NOT ENOUGH INFO", "NOT ENOUGH INFO"),
    }[label]
    return {
        "claim": claim,
        "recipe": "esoteric",
        "notices": [],
        "corpus": {"name": "vital", "documents": 9842, "built_at": "2026-11-20T09:30:00Z"},
        "verdict": {
            "label": label,
            "confidence": confidence,
            "judge": "cross-encoder-1",
            "rationale": f"“Lighthouse of Varn” says: “{best}”",
            "opinions": [
                opinion("cross-encoder-1", label, confidence, f"It says: “{best}”", [1, 2, 3])
            ],
        },
        "evidence": [
            evidence("Lighthouse of Varn", LIGHTHOUSE, best, stances[0], 0.981, sentence_id=1),
            evidence(
                "Ida Holm",
                HOLM,
                "Ida Holm (1831 to 1899) was an Ostrean engineer.",
                stances[1],
                0.84,
                hop=2,
            ),
            evidence(
                "Lighthouse of Varn",
                LIGHTHOUSE,
                "The Lighthouse of Varn stands on a rock off the coast of Ostrea.",
                "NOT ENOUGH INFO",
                0.41,
            ),
            evidence(
                "Ida Holm",
                HOLM,
                "She planned eleven lighthouses and two bridges.",
                "REFUTES",
                0.22,
                sentence_id=1,
                hop=2,
                selected=False,
            ),
        ],
        "documents": [
            document("Ostrea", OSTREA, 1.0, ["title"]),
            document("Lighthouse of Varn", LIGHTHOUSE, 0.8, ["title", "text"]),
            document("Ida Holm", HOLM, 0.7, ["mention"], hop=2, led_by=("Lighthouse of Varn", 1)),
            document("Varnby", VARNBY, 0.3, ["text"]),
        ],
        "questions": [
            {
                "text": "Who built the Lighthouse of Varn?",
                "answer_span": "Ida Holm",
                "kind": "wh",
            },
            {
                "text": "Was the Lighthouse of Varn built by Ida Holm?",
                "answer_span": None,
                "kind": "polar",
            },
        ],
        "proof": [],
        "proof_label": None,
        "hops": [hop(1, [[4, 14]], 3, 2), hop(2, [], 1, 2, "decided")],
        "seconds": {
            "total": 0.8123,
            "spans": 0.0312,
            "titles": 0.0021,
            "texts": 0.0154,
            "questions": 0.0043,
            "ranking": 0.1402,
            "sentences": 0.0018,
            "relevance": 0.4411,
            "semantic": 0.0511,
            "verdict": 0.1251,
        },
        "usage": None,
    }


MODEL = "small at models.example:8080"


def opinion(
    judge: str,
    label: str,
    confidence: float,
    rationale: str,
    cites: list[int],
    missing: str = "",
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
    claim: str, model: str, verifier: str = "SUPPORTS", *, decides: bool = True
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


LOCAL = "qwen2.5-1.5b (local)"


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


PROVED_CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def document_with_proof(label: Label = "SUPPORTS") -> dict[str, Any]:
    """Return a result whose proof covers ``PROVED_CLAIM``: three parts, one sentence."""
    claim, lighthouse = PROVED_CLAIM, "Lighthouse of Varn"
    builder = "by the engineer Ida Holm"
    result = claim_document(claim, label)
    result["proof"] = [
        mutation(claim, "The Lighthouse of Varn", "equivalence", lighthouse, 1, LIGHTHOUSE, "It"),
        mutation(claim, "was built", "equivalence", lighthouse, 1, LIGHTHOUSE, "was built"),
        mutation(claim, "by Ida Holm", "equivalence", lighthouse, 1, LIGHTHOUSE, builder),
    ]
    result["proof_label"] = "SUPPORTS"
    result["evidence"][1]["path"] = [["Lighthouse of Varn", 1]]
    result["hops"][-1]["stopped"] = "proved"
    return result


LONG_CLAIM = (
    "The Lighthouse of Varn was built in 1875 by Ida Holm, an Ostrean engineer who planned eleven"
    " bridges and was born in Varnby."
)


def document_with_a_long_proof() -> dict[str, Any]:
    """Return a result with eight parts, every operator and three hops."""
    claim, lighthouse, holm = LONG_CLAIM, "Lighthouse of Varn", "Ida Holm"
    result = claim_document(claim, "NOT ENOUGH INFO", 0.78)
    result["evidence"][3]["selected"] = True  # a proof uses only selected evidence
    stands = "The Lighthouse of Varn"
    builder = "by the engineer Ida Holm"
    found = "eleven lighthouses and two bridges"
    result["proof"] = [
        mutation(claim, stands, "equivalence", lighthouse, 0, LIGHTHOUSE, stands),
        mutation(claim, "was built", "equivalence", lighthouse, 1, LIGHTHOUSE, "was built"),
        mutation(claim, "in 1875", "alternation", lighthouse, 1, LIGHTHOUSE, "in 1874"),
        mutation(claim, "by Ida Holm", "equivalence", lighthouse, 1, LIGHTHOUSE, builder),
        mutation(claim, "an Ostrean engineer", "equivalence", holm, 0, HOLM, "an Ostrean engineer"),
        mutation(claim, "who planned", "equivalence", holm, 1, HOLM, "She planned"),
        mutation(claim, "eleven bridges", "negation", holm, 1, HOLM, found),
        mutation(claim, "was born in Varnby", "independence"),
    ]
    result["proof_label"] = "NOT ENOUGH INFO"
    ostrean, who, bridges, born = (m["claim_span"] for m in result["proof"][4:])
    result["documents"].append(
        document("Whaling", "Whaling was a trade.", 0.2, ["dense"], 3, ("Varnby", 0))
    )
    result["documents"].append(
        document("Ostrean bridges", "They are many.", 0.1, ["generation"], 3, ("Ida Holm", 1))
    )
    result["hops"] = [
        hop(1, [ostrean, who, bridges, born], 3, 2),
        hop(2, [born], 1, 2),
        hop(3, [born], 2, 0, "nothing new"),
    ]
    return result


REPORT_CLAIM = "The harbour of Varnby earned four million crowns in 1931."
_EARNED = "The harbour earned four million crowns, a tenth more than in the year before."
_FISH = "Fish brought a quarter of it."
_PLAN = "For the next year the board expects four million crowns again."
_BOARD = "The board had seven members. It met each month in the old customs house."


def document_with_passages() -> dict[str, Any]:
    """Return a result with evidence in two of four passages of a report, and in an article."""
    found = [
        evidence("report.pdf#7", f"{_EARNED} {_FISH}", _EARNED, "SUPPORTS", 0.97),
        evidence("report.pdf#4", _PLAN, _PLAN, "SUPPORTS", 0.5),
        evidence(
            "Varnby",
            VARNBY,
            "It has a harbour, a theatre and a museum of whaling.",
            "NOT ENOUGH INFO",
            0.2,
            sentence_id=1,
        ),
    ]
    read = [
        document("report.pdf#7", f"{_EARNED} {_FISH}", 0.8, ["text"]),
        document("Varnby", VARNBY, 0.7, ["title"]),
        document("report.pdf#9", _BOARD, 0.5, ["dense"], 2, ("report.pdf#7", 0)),
        document("report.pdf#4", _PLAN, 0.4, ["dense"], 2, ("report.pdf#7", 0)),
        document("report.pdf#1", "Printed in Varnby in 1932.", 0.3, ["title"]),
        document("rules.html#2", "Ships pay by their weight.", 0.2, ["dense"]),
        document("rules.html#1", "These are the rules of the harbour.", 0.2, ["dense"]),
    ]
    places: dict[str, tuple[str, str | None, int | None]] = {
        "report.pdf#7": ("Annual report 1931", "Results > Revenue", 12),
        "report.pdf#9": ("Annual report 1931", "The board", 15),
        "report.pdf#4": ("Annual report 1931", "Results > Outlook", 3),
        "report.pdf#1": ("Annual report 1931", None, 1),
        "rules.html#2": ("Rules of the harbour", "Dues", None),
        "rules.html#1": ("Rules of the harbour", None, None),
    }
    for one, name in [*((item, "document") for item in found), *((one, "id") for one in read)]:
        if one[name] not in places:
            continue
        one["title"], one["section"], one["page"] = places[one[name]]
        file = one[name].partition("#")[0]
        anchor = f"#page={one['page']}" if one["page"] else "#dues" if one["section"] else ""
        one["url"] = f"https://varnby.example/{file}{anchor}"
    found[1]["path"] = [["report.pdf#7", 0]]
    result = claim_document(REPORT_CLAIM)
    result |= {"evidence": found, "documents": read, "questions": []}
    result["verdict"]["rationale"] = f"“Annual report 1931” supports it: “{_EARNED}”"
    result["verdict"]["opinions"] = []
    earned = mutation(
        REPORT_CLAIM,
        "four million crowns",
        "equivalence",
        "report.pdf#7",
        0,
        _EARNED,
        "four million crowns",
    )
    result |= {"proof": [earned], "proof_label": "SUPPORTS"}
    result["hops"] = [hop(1, [], 5, 2), hop(2, [], 2, 1, "decided")]
    return result
