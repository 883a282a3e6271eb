"""The claims: those that need several pages, over the ids of ``pages``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.claims import AnnotatedClaim, read_fever_claims
from evaluation.corpus_claims import read_corpus_claims
from retrieval.corpora.fever_spelling import plain_title

KINDS = ("fever", "everyday")


def write_claims(kind: str, data: Path, path: Path) -> None:
    """Write the claims of a kind, which ``esoteric evaluate --claims`` reads.

    ``fever``: the claims of FEVER's dev that need several pages. ``everyday``: the two-hop claims
    of dev about the default corpus. The ids of FEVER's pages become titles, as in ``pages``.
    """
    claims = _fever(data) if kind == "fever" else _everyday(data)
    lines = (json.dumps(_record(claim, kind), ensure_ascii=False) + "\n" for claim in claims)
    path.write_text("".join(lines), encoding="utf-8")


def _fever(data: Path) -> Sequence[AnnotatedClaim]:
    claims = read_fever_claims(data / "fever-dev/dev.jsonl")
    return [claim for claim in claims if claim.needs_several_pages]


def _everyday(data: Path) -> Sequence[AnnotatedClaim]:
    claims = read_corpus_claims(data / "vital/dev.jsonl")
    return [claim for claim in claims if claim.kind == "two-hop"]


def _record(claim: AnnotatedClaim, kind: str) -> dict[str, Any]:
    evidence = [[[plain_title(page), n] for page, n in group] for group in claim.evidence]
    return {"claim": claim.text, "label": claim.label, "kind": kind, "evidence": evidence}
