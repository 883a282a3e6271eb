"""How well retrieval finds all evidence of claims that need several documents.

The measures are those of AdMIRaL (Aly & Vlachos 2022, section 4: recall@5, exact match, F1 of
documents; recall@100 on HoVer) and M3 (section 4, recall@5), and what a reader sees of them: is
every document opened, and is a whole set of evidence selected?
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim, SentenceKey, page_key
from research.evaluation.measures.scores import confidence_intervals, keys
from research.evaluation.tables import columns, markdown
from retrieval.result import ClaimResult
from retrieval.types import Retrieved

RANKS = (5, 20, 100)
MEASURES = (
    *(f"document_recall@{k}" for k in RANKS),
    *(f"evidence_recall@{k}" for k in RANKS),
    "exact_match",
    "document_f1",
    "all_opened",
    "set_selected",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a claim.

    ``documents``: those that were opened, best first. ``sentences``: all that were ranked, best
    first. ``selected``: the sentences that the verdict rests on.
    """

    documents: tuple[str, ...]
    sentences: tuple[SentenceKey, ...]
    selected: frozenset[SentenceKey]

    @classmethod
    def of_result(cls, result: ClaimResult, retrieved: Retrieved) -> Found:
        """Return what is in a result, then what else was retrieved; each thing once."""
        documents = (
            *(one.id for one in result.documents),
            *(one for one, _ in retrieved.documents),
        )
        sentences = (
            *((one.document, one.sentence_id) for one in result.evidence),
            *retrieved.passages,
        )
        return cls(
            tuple(dict.fromkeys(map(page_key, documents))),
            tuple(dict.fromkeys(keys(sentences))),
            frozenset(keys([(one.document, one.sentence_id) for one in result.selected])),
        )


def scores_of(claim: AnnotatedClaim, found: Found) -> list[float]:
    """Return the claim's row, in the order of ``MEASURES``; each 0..1.

    ``document_recall@k``: all documents of some evidence set are among the first ``k``; a system
    that opens fewer is measured on these. ``evidence_recall@k``: all sentences of some set are
    among the first ``k``. ``exact_match``: the documents of the selected sentences are those of
    some set. ``document_f1``: their F1, with the set for which it is highest. ``all_opened``: all
    documents of some set were opened. ``set_selected``: all sentences of some set are selected.
    """
    documents = [frozenset(page for page, _ in group) for group in claim.evidence]
    chosen = frozenset(page for page, _ in found.selected)
    scores = [_holds(documents, found.documents[:k]) for k in RANKS]
    scores += [_holds(claim.evidence, found.sentences[:k]) for k in RANKS]
    return [
        *map(float, scores),
        float(chosen in documents),
        max(2 * len(chosen & group) / (len(chosen) + len(group)) for group in documents),
        float(_holds(documents, found.documents)),
        float(_holds(claim.evidence, found.selected)),
    ]


def several_documents(
    claims: Sequence[CorpusClaim], found: Sequence[Found]
) -> dict[str, dict[str, Any]]:
    """Return the means of ``MEASURES`` with 95% intervals over the claims that need several.

    The groups of claims: ``all``, and by kind and by how many documents the smallest evidence set
    has, where that divides them. Empty if no claim needs several documents.
    """
    asked = [pair for pair in zip(claims, found, strict=True) if pair[0].needs_several_pages]
    groups: dict[str, list[tuple[CorpusClaim, Found]]] = {}
    for claim, one in asked:
        needed = "2 documents" if documents_needed(claim) == 2 else "3 or more documents"
        for name in ("all", claim.kind, needed):
            groups.setdefault(name, []).append((claim, one))
    return {
        name: _figures(pairs)
        for name, pairs in groups.items()
        if name == "all" or len(pairs) < len(asked)
    }


def documents_needed(claim: AnnotatedClaim) -> int:
    """Return the number of documents of the evidence set that has the fewest."""
    return min(len({page for page, _ in group}) for group in claim.evidence)


def _figures(pairs: Sequence[tuple[AnnotatedClaim, Found]]) -> dict[str, Any]:
    scores = np.array([scores_of(claim, one) for claim, one in pairs])
    about = [claim.evidence[0][0][0] for claim, _ in pairs]
    intervals = confidence_intervals(scores, about, _means)
    return {"claims": len(pairs)} | {
        name: {"mean": float(mean), "interval": [float(low), float(high)]}
        for name, mean, (low, high) in zip(MEASURES, _means(scores), intervals, strict=True)
    }


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    means: NDArray[np.float64] = scores.mean(axis=0)
    return means


def _holds(groups: Iterable[Iterable[Hashable]], found: Iterable[Hashable]) -> bool:
    there = set(found)
    return any(there.issuperset(group) for group in groups)


MEANING = (
    "Of the claims each of whose evidence sets is on several documents, the share, in per cent,"
    " with a whole set on the first k documents opened (document recall@k) and among the first k"
    " ranked sentences (evidence recall@k); whose selected sentences are on exactly the documents"
    " of a set (exact match), and the F1 of these documents; with all documents of a set opened,"
    " and with all its sentences selected; 95 % bootstrap intervals over the pages that claims are"
    " about. A system that opens fewer than k documents is measured on those."
)
_HEAD = tuple(measure.replace("_", " ").replace("f1", "F1") for measure in MEASURES)


def as_markdown(recipes: Mapping[str, Any], group: str) -> str:
    """Return one group of claims, a row for each recipe, as Markdown."""
    return markdown(_cells(recipes, group))


def as_text(recipes: Mapping[str, Any], group: str) -> str:
    """Return the same in columns: a row for each measure, a column for each recipe."""
    return columns(list(zip(*_cells(recipes, group), strict=True)))


def groups_of(recipes: Mapping[str, Any]) -> list[str]:
    """Return the groups of claims that were measured, each once."""
    return list(dict.fromkeys(name for r in recipes.values() for name in r["several_documents"]))


def _cells(recipes: Mapping[str, Any], group: str) -> list[Sequence[str]]:
    measured = {
        name: recipe["several_documents"][group]
        for name, recipe in recipes.items()
        if group in recipe["several_documents"]
    }
    claims = max(figures["claims"] for figures in measured.values())
    rows = [
        [name, *(_with_interval(figures[measure]) for measure in MEASURES)]
        for name, figures in measured.items()
    ]
    return [[f"{group}: {claims} claim{'s' * (claims > 1)}", *_HEAD], *rows]


def _with_interval(figure: Mapping[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{100 * figure['mean']:.1f} ({100 * low:.0f} to {100 * high:.0f})"
