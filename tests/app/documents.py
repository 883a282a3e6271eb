"""Claim documents as the retriever makes them, about things made up for the tests.

Offsets are counted by hand where a test relies on them, and found in the text
where it only needs them to be right.
"""

from __future__ import annotations

from typing import Any

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
    """Return a piece of evidence that lies in ``text``."""
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
    }


def document(
    title: str, text: str, score: float, found_by: list[str], hop: int = 1
) -> dict[str, Any]:
    """Return a document that was read."""
    return {
        "id": title,
        "title": title,
        "url": address(title),
        "score": score,
        "found_by": found_by,
        "hop": hop,
        "text": text,
    }


def address(title: str) -> str:
    """Return the address of an article."""
    return f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"


def claim_document(claim: str, label: str = "SUPPORTS", confidence: float = 0.93) -> dict[str, Any]:
    """Return a result with evidence of every stance, from two rounds and four documents."""
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
            document("Ida Holm", HOLM, 0.7, ["mention"], hop=2),
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
        "hops": [
            {"hop": 1, "sufficient": False, "missing": [[4, 14]], "documents": 3, "sentences": 2},
            {"hop": 2, "sufficient": True, "missing": [], "documents": 1, "sentences": 2},
        ],
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
    }


def document_without_evidence(claim: str) -> dict[str, Any]:
    """Return the result of a claim on which nothing was found."""
    result = claim_document(claim, "NOT ENOUGH INFO", 1.0)
    result["evidence"] = []
    result["documents"] = []
    result["questions"] = []
    result["verdict"]["rationale"] = "No sentence in the corpus speaks about this claim."
    result["hops"] = [
        {"hop": 1, "sufficient": False, "missing": [], "documents": 0, "sentences": 0}
    ]
    return result
