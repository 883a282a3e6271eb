"""The measures of claims against the served corpus, from their claim documents.

How well retrieval finds all evidence of claims that need several documents is measured as by
AdMIRaL (Aly & Vlachos 2022, section 4: recall@5, exact match, F1 of documents; recall@100 on HoVer)
and M3 (section 4, recall@5), and by what a reader sees of them: is every document opened, and is a
whole set of evidence selected? The last part is what a language model adds to the verifier, and
what it costs.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim, SentenceKey, page_key
from research.evaluation.measures.scores import calibration_error, confidence_intervals, keys
from research.evaluation.tables import columns, markdown
from retrieval import types
from retrieval.agreement import mcnemar
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.result import ClaimResult, Verdict
from retrieval.types import NOT_ENOUGH_INFO, OPPOSITE, Label, Retrieved, Usage

FIRST = 5  # sentences that evidence recall looks at
SHOWN = 3  # sentences that a user sees first


def corpus_results(
    claims: Sequence[CorpusClaim], answers: Sequence[ClaimResult | None]
) -> dict[str, Any]:
    """Return the measures of a recipe, of all claims, by label and by kind (all 0 to 1).

    ``label_accuracy``: claims with the right one of three labels, or a right one of the two that
    HoVer joins. ``with_evidence``: claims with sets of sentences as evidence, and
    ``evidence_recall@5``: those of them with a whole set among the first five sentences.
    ``opposite_stances``: of the first three sentences of decided claims, those whose stance is the
    opposite of the label. ``contradicted``: decided verdicts none of whose selected sentences has
    the verdict's stance, while one has the opposite. ``calibration_error``: expected, ten bins.
    A claim that could not be checked (``None``) is in no figure; ``failed`` counts these.
    ``proofs``: decided verdicts, those whose proof decides too (``both``), and of these the
    ``opposite`` ones, with how often the verdict or the proof is right.
    """
    pairs = [(claim, one) for claim, one in zip(claims, answers, strict=True) if one is not None]
    results = _measures(pairs)
    results["failed"] = len(claims) - len(pairs)
    for key, attribute in (("label", "label_in_file"), ("kind", "kind")):
        names = dict.fromkeys(getattr(claim, attribute) for claim, _ in pairs)
        results[f"by_{key}"] = {
            name: _measures([pair for pair in pairs if getattr(pair[0], attribute) == name])
            for name in names
        }
    seconds = [answer.seconds["total"] for _, answer in pairs]
    results["proofs"] = _proofs(pairs)
    results["seconds"] = {
        "p50": float(np.percentile(seconds, 50)) if seconds else None,
        "p95": float(np.percentile(seconds, 95)) if seconds else None,
    }
    return results


def differences(
    claims: Sequence[CorpusClaim], answers: Mapping[str, Sequence[ClaimResult | None]]
) -> dict[str, Any]:
    """Return by how much the label accuracy of each system differs from the first one's.

    ``answers``: of each system, to these claims. ``interval``: of ``label_accuracy``, 95 %,
    bootstrap over the claims. ``gained``, ``lost``: claims that only this system, or only the
    first, labels rightly; ``p``: how often chance alone divides these so. Claims that either could
    not check are left out.
    """
    (first, base), *others = answers.items()
    differs = {}
    for name, given in others:
        both = [
            (one.verdict.label in claim.right) - (two.verdict.label in claim.right)
            for claim, one, two in zip(claims, given, base, strict=True)
            if one is not None and two is not None
        ]
        if not both:
            continue
        changes = np.array(both, float)
        interval = confidence_intervals(
            changes[:, None], range(len(both)), lambda rows: rows.mean(axis=0)
        )
        differs[name] = {
            "from": first,
            "label_accuracy": float(changes.mean()),
            "interval": interval[0].tolist(),
            "gained": both.count(1),
            "lost": both.count(-1),
            "p": mcnemar(both.count(1), both.count(-1)),
        }
    return differs


def _measures(pairs: Sequence[tuple[CorpusClaim, ClaimResult]]) -> dict[str, Any]:
    decided = [pair for pair in pairs if pair[0].label != NOT_ENOUGH_INFO]
    annotated = [pair for pair in pairs if pair[0].evidence]
    right = [answer.verdict.label in claim.right for claim, answer in pairs]
    confidence = [answer.verdict.confidence for _, answer in pairs]
    opposite = [
        item.stance == OPPOSITE[claim.label]
        for claim, answer in decided
        for item in answer.evidence[:SHOWN]
    ]
    return {
        "claims": len(pairs),
        "label_accuracy": _mean(right),
        "with_evidence": len(annotated),
        f"evidence_recall@{FIRST}": _mean([_found(claim, answer) for claim, answer in annotated]),
        "opposite_stances": _mean(opposite),
        "contradicted": sum(contradicted(answer) for _, answer in pairs),
        "calibration_error": calibration_error(np.array(confidence), np.array(right))
        if pairs
        else None,
    }


def _proofs(pairs: Sequence[tuple[CorpusClaim, ClaimResult]]) -> dict[str, int]:
    decided = [(claim.right, one) for claim, one in pairs if one.verdict.label in OPPOSITE]
    both = [(right, one) for right, one in decided if one.proof_label in OPPOSITE]
    opposite = [(right, one) for right, one in both if one.proof_label != one.verdict.label]
    return {
        "decided": len(decided),
        "both": len(both),
        "opposite": len(opposite),
        "verdict_right": sum(one.verdict.label in right for right, one in opposite),
        "proof_right": sum(one.proof_label in right for right, one in opposite),
    }


def contradicted(answer: ClaimResult) -> bool:
    """Return whether some selected evidence contradicts the verdict and none supports it."""
    label = answer.verdict.label
    stances = {item.stance for item in answer.selected}
    return label != NOT_ENOUGH_INFO and label not in stances and OPPOSITE[label] in stances


def _found(claim: CorpusClaim, answer: ClaimResult) -> bool:
    """Return whether a whole set is among the first sentences, by number or by text."""
    first = answer.evidence[:FIRST]
    numbers = set(keys([(item.document, item.sentence_id) for item in first]))
    texts = {(page_key(item.document), item.sentence) for item in first}
    sets = [
        [
            key in numbers or (bool(claim.texts) and (key[0], claim.texts[n][m]) in texts)
            for m, key in enumerate(group)
        ]
        for n, group in enumerate(claim.evidence)
    ]
    return any(all(group) for group in sets)


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


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


SEVERAL_DOCUMENTS = (
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
    return list(
        dict.fromkeys(name for r in recipes.values() for name in r.get("several_documents", ()))
    )


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


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a claim; ``seconds`` and ``usage``: of the language model."""

    verdict: Verdict | types.Verdict
    usage: Usage | types.Usage | None
    seconds: float


def language_model_results(
    choice: LanguageModelChoice,
    labels: Sequence[Collection[Label]],
    judged: Sequence[Judged | None],
) -> dict[str, Any]:
    """Return figures of both judges on the claims with both opinions, and the usage.

    ``labels``: the right labels of each claim in ``judged``. ``without_answer``: claims with
    evidence, but without a usable answer; ``not_asked``: claims without evidence. ``accuracy`` and
    ``verifier_accuracy``: 0 to 1, of claims with both opinions; ``when_they_agree`` and
    ``when_they_differ``: of the model, likewise. ``cost``: by the prices of the settings, ``None``
    without them. ``kept``: answers stored before, which took no tokens. Tokens of answers that
    could not be used count. ``seconds``: of the model alone, median of the claims with its opinion.
    """
    checked = [(right, one) for right, one in zip(labels, judged, strict=True) if one]
    asked = [(right, one, one.usage) for right, one in checked if one.usage]
    answered = [(right, one, used) for right, one, used in asked if len(one.verdict.opinions) > 1]
    both = [(right, *_labels(choice, one)) for right, one, _ in answered]
    prompt = sum(usage.prompt_tokens for _, _, usage in asked)
    answer = sum(usage.answer_tokens for _, _, usage in asked)
    price = choice.price
    agree = [model in right for right, model, verifier in both if model == verifier]
    differ = [model in right for right, model, verifier in both if model != verifier]
    return {
        "model": choice.name,
        "decides": choice.decides,
        "opinions": len(both),
        "without_answer": len(asked) - len(both),
        "not_asked": len(checked) - len(asked),
        "accuracy": _share([model in right for right, model, _ in both]),
        "verifier_accuracy": _share([verifier in right for right, _, verifier in both]),
        "agreement": _share([model == verifier for _, model, verifier in both]),
        "when_they_agree": _share(agree),
        "when_they_differ": _share(differ),
        "calls": sum(usage.calls for _, _, usage in asked),
        "kept": sum(usage.calls == 0 for _, _, usage in answered),
        "prompt_tokens": prompt,
        "answer_tokens": answer,
        "cost": (prompt * price.prompt + answer * price.answer) / _MILLION if price else None,
        "seconds": float(np.median([one.seconds for _, one, _ in answered])) if answered else None,
    }


def _labels(choice: LanguageModelChoice, judged: Judged) -> tuple[str, str]:
    """Return the labels of the model and of the verifier."""
    opinions = judged.verdict.opinions
    model = next(one.label for one in opinions if one.judge == choice.name)
    verifier = next(one.label for one in opinions if one.judge != choice.name)
    return model, verifier


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
