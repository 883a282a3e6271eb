"""The claims: those that need several pages, over the ids of ``pages``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation.claims import AnnotatedClaim, read_fever_claims
from evaluation.corpus_claims import read_corpus_claims
from retrieval.corpora.fever_spelling import plain_title

FILE = "claims.jsonl"


def write_claims(data: Path, out: Path) -> None:
    """Write the several-page claims of FEVER's dev and the everyday two-hop claims of dev.

    The ids of FEVER's evidence become titles, as those of its pages (``pages.write_pages``).
    """
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _records(data))
    (out / FILE).write_text("".join(lines), encoding="utf-8")


def _records(data: Path) -> Iterator[dict[str, Any]]:
    for claim in read_fever_claims(data / "fever-dev/dev.jsonl"):
        if claim.needs_several_pages:
            yield _record(claim, "fever")
    for everyday in read_corpus_claims(data / "vital/dev.jsonl"):
        if everyday.kind == "two-hop":
            yield _record(everyday, "everyday")


def _record(claim: AnnotatedClaim, kind: str) -> dict[str, Any]:
    evidence = [[[plain_title(page), n] for page, n in group] for group in claim.evidence]
    return {"claim": claim.text, "label": claim.label, "kind": kind, "evidence": evidence}
