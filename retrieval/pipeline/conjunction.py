"""The report on a claim of several statements: what their reports say together.

The claim is true if all its statements are. So one refuted statement refutes it, and only if all
are supported it is supported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from retrieval.text.statement_cutter import CutStatement
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    CheckedStatement,
    Evidence,
    Hop,
    Judgement,
    Label,
    Mutation,
    NotSettled,
    Offsets,
    Proof,
    Report,
    Retrieved,
    SentenceKey,
    StanceOn,
    Usage,
    Verdict,
)

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement and the report on it."""

    statement: CutStatement
    report: Report

    @property
    def verdict(self) -> Verdict:
        """The verdict on the statement."""
        return self.report.verdict


def conjunction(claim: str, checked: Sequence[Checked], decided_cutoff: float) -> Report:
    """Return the report on a claim, from those on its statements, at least one.

    A claim is supported only with a confidence of at least ``decided_cutoff``. Hops are numbered
    through, in the order of the statements. Proof and missing parts are those that have a place in
    the claim: a subject that a statement takes from another has none.
    """
    if len(checked) == 1:
        return checked[0].report
    hops_before = accumulate((len(one.report.hops) for one in checked), initial=0)
    moved = [_renumbered(one, hops) for one, hops in zip(checked, hops_before, strict=False)]
    reports = [one.report for one in moved]
    evidence = _merged_evidence(reports)
    numbers = {item.key: number for number, item in enumerate(evidence, 1)}
    recited = [_recited(one, numbers) for one in moved]
    verdict = _verdict(recited, decided_cutoff)
    opened = _first((one.document.id, one) for report in reports for one in report.documents)
    # Documents of the evidence come first, in its order.
    order = dict.fromkeys((*(item.key.document_id for item in evidence), *opened))
    found = [report.retrieved for report in reports]
    return replace(
        reports[0],
        claim=claim,
        notices=_once(notice for report in reports for notice in report.notices),
        verdict=verdict,
        evidence=evidence,
        documents=tuple(opened[name] for name in order if name in opened),
        questions=_once(question for report in reports for question in report.questions),
        proof=_proof(moved),
        hops=tuple(hop for report in reports for hop in report.hops),
        usage=_usage([report.usage for report in reports if report.usage is not None]),
        statements=tuple(_statement(one, numbers) for one in recited),
        not_settled=_not_settled(moved) if verdict.label == NOT_ENOUGH_INFO else None,
        retrieved=Retrieved(
            tuple(_first(pair for one in found for pair in one.documents).items()),
            _once(key for one in found for key in one.passages),
        ),
    )


def _first(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, _Value]:
    """Return the first value of each key."""
    found: dict[_Key, _Value] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def _statement(one: Checked, numbers: dict[SentenceKey, int]) -> CheckedStatement:
    said = (
        StanceOn(numbers[item.key], item.decides, item.opinion[LABELS.index(item.decides)])
        for item in one.report.evidence
        if item.selected
    )
    return CheckedStatement(
        one.statement.text, one.statement.start, one.statement.end, one.verdict, tuple(said)
    )


def _not_settled(checked: Sequence[Checked]) -> NotSettled:
    """Return why the statements that are not settled are not, in the words of the claim."""
    found = [(one.statement, why) for one in checked if (why := one.report.not_settled) is not None]

    def placed(parts: Iterable[tuple[CutStatement, Offsets]]) -> tuple[Offsets, ...]:
        places = (statement.in_claim(*part) for statement, part in parts)
        return _once(place for place in places if place is not None)

    return NotSettled(
        absent=placed((statement, part) for statement, why in found for part in why.absent),
        open=placed((statement, part) for statement, why in found for part in why.open),
        about=_once(name for _, why in found for name in why.about),
    )


def _renumbered(one: Checked, before: int) -> Checked:
    """Return the report with its hops numbered from ``before`` on, and its parts in the claim."""
    report, statement = one.report, one.statement

    def hop(of: Hop) -> Hop:
        missing = (statement.in_claim(*part) for part in of.missing)
        changed = {"hop": of.hop + before, "missing": tuple(filter(None, missing))}
        return of.model_copy(update=changed)

    moved = replace(
        report,
        evidence=tuple(replace(item, hop=item.hop + before) for item in report.evidence),
        documents=tuple(replace(item, hop=item.hop + before) for item in report.documents),
        hops=tuple(map(hop, report.hops)),
    )
    return replace(one, report=moved)


def _merged_evidence(reports: Sequence[Report]) -> tuple[Evidence, ...]:
    """Return each sentence once, best first; where it decides a statement, as it was read there.

    It has what was computed for any of the statements.
    """
    merged: dict[SentenceKey, Evidence] = {}
    for item in (item for report in reports for item in report.evidence):
        kept = merged.get(item.key)
        notes = _once((*(kept.computed if kept else ()), *item.computed))
        if kept is None or (item.selected, item.score) > (kept.selected, kept.score):
            kept = item
        merged[item.key] = replace(kept, computed=notes)
    return tuple(sorted(merged.values(), key=lambda item: item.score, reverse=True))


def _recited(one: Checked, numbers: dict[SentenceKey, int]) -> Checked:
    """Return the statement with a verdict that cites the merged evidence."""
    keys = [item.key for item in one.report.evidence]

    def merged(cited: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(numbers[keys[n - 1]] for n in cited))

    opinions = tuple(
        replace(opinion, cites=merged(opinion.cites)) for opinion in one.verdict.opinions
    )
    verdict = replace(one.verdict, opinions=opinions, disagreement=merged(one.verdict.disagreement))
    return replace(one, report=replace(one.report, verdict=verdict))


def _verdict(checked: Sequence[Checked], cutoff: float) -> Verdict:
    """Return the verdict on the claim; where a language model was asked, it is the model's too.

    An undecided claim leans to the label that it would have if each statement had its lean.
    """
    asked_most = max((one.verdict for one in checked), key=lambda verdict: len(verdict.opinions))
    whole = _together(checked, asked_most.judge, [_opinion(one.verdict) for one in checked])
    label, confidence, rationale = whole.label, whole.confidence, whole.rationale
    if label == SUPPORTS and confidence < cutoff:
        label, confidence = NOT_ENOUGH_INFO, 1 - confidence
        rationale = f"Each statement is supported, but not clearly enough for all. {rationale}"
    leaning = _label(one.verdict.leans or one.verdict.label for one in checked)
    return Verdict(
        label=label,
        confidence=confidence,
        judge=whole.judge,
        rationale=rationale,
        leans=leaning if label == NOT_ENOUGH_INFO != leaning else None,
        disagreement=_once(sorted(n for one in checked for n in one.verdict.disagreement)),
        opinions=tuple(
            _together(checked, judge, [_opinion(one.verdict, judge) for one in checked])
            for judge in (opinion.judge for opinion in asked_most.opinions)
        ),
    )


def _opinion(verdict: Verdict, judge: str | None = None) -> Judgement:
    """Return what a judge says; the verdict where it was not asked because nothing was found."""
    own = Judgement(verdict.judge, verdict.label, verdict.confidence, verdict.rationale, ())
    return next((opinion for opinion in verdict.opinions if opinion.judge == judge), own)


def _together(checked: Sequence[Checked], judge: str, said: Sequence[Judgement]) -> Judgement:
    """Return what a judge says about the claim, from what it has said about each statement."""
    label = _label(one.label for one in said)
    supported = math.prod(one.confidence for one in said if one.label == SUPPORTS)
    confidence, deciding = supported, list(said)
    why = f"Each of the {len(said)} statements is supported."
    if label != SUPPORTS:
        # Of several that are refuted or not settled, the most certain one decides.
        most = max((one for one in said if one.label == label), key=lambda one: one.confidence)
        # A claim is undecided if one statement is and no other is refuted.
        confidence, deciding = most.confidence * (1 if label == REFUTES else supported), [most]
        outcome = "refuted" if label == REFUTES else "not settled"
        (text, *_) = [c.statement.text for c, one in zip(checked, said, strict=True) if one is most]
        why = f"The statement “{text}” is {outcome}."
    return Judgement(
        judge,
        label,
        confidence,
        " ".join([why, *(one.rationale for one in deciding)]),
        tuple(sorted({number for one in said for number in one.cites})),
        " ".join(_once(one.missing for one in said if one.missing)),
    )


def _label(labels: Iterable[Label]) -> Label:
    found = set(labels)
    if REFUTES in found:
        return REFUTES
    return SUPPORTS if found == {SUPPORTS} else NOT_ENOUGH_INFO


def _proof(checked: Sequence[Checked]) -> Proof | None:
    proofs = [(one.statement, proof) for one in checked if (proof := one.report.proof) is not None]
    if not proofs:
        return None
    placed = (
        Mutation(place, step.operator, step.evidence)
        for statement, proof in proofs
        for step in proof.mutations
        if (place := statement.in_claim(*step.claim_span)) is not None
    )
    return Proof(tuple(placed), _label(proof.label for _, proof in proofs))


def _usage(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        usages[0].model,
        sum(usage.calls for usage in usages),
        sum(usage.prompt_tokens for usage in usages),
        sum(usage.answer_tokens for usage in usages),
    )


def _once(values: Iterable[_Value]) -> tuple[_Value, ...]:
    return tuple(dict.fromkeys(values))
