"""The stage ``verdict``: the verifier reads all selected sentences together.

``decided_or_leaning`` says whether it decides; ``retrieval/words.py``, how sure that is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.quantities.halves import Ruling
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Makers, Stage, Step, opinions
from retrieval.text.context import evidence_set_text, passage_of, path_text
from retrieval.text.subject import ANYTHING, Subject
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    OPPOSITE,
    REFUTES,
    SUPPORTS,
    Document,
    Evidence,
    Label,
    Opinion,
    SentenceKey,
    Verdict,
    VerdictReadings,
)
from retrieval.words import VERDICTS, WITH_QUANTITIES, counted, is_firm

_WORD = re.compile(r"\w+")
_LEANING: dict[Label, str] = {SUPPORTS: "supporting", REFUTES: "refuting"}
_VERBS: dict[Label, tuple[str, str]] = {
    SUPPORTS: ("supports", "support"),
    REFUTES: ("contradicts", "contradict"),
}


class VerdictJudge(Stage):
    """Decides from all selected sentences together, and the best one alone and in its passage."""

    def __init__(self, model: EvidenceModel, name: str, settings: RetrievalConfig) -> None:
        """Store the model, loaded in ``warm_up``, and the ``name`` that verdicts contain."""
        self._model = model
        self._name = name
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Decide the ``verdict``."""
        notes = {i.key: self._model.computed(state.claim, i.in_context) for i in state.selected}
        evidence = tuple(replace(i, computed=notes.get(i.key, ())) for i in state.evidence)
        state = replace(state, evidence=evidence)
        selected = state.selected
        said_by = ((i.key, state.rulings.get((i.path, i.key))) for i in selected)
        rulings = {key: ruling for key, ruling in said_by if ruling is not None}
        documents = [ranked.document for ranked in state.documents]
        verdict = self.judge(state.claim, selected, documents, state.subject, frozenset(rulings))
        verdict = replace(verdict, disagreement=disagreement(verdict, state.evidence))
        together = " together" if len(selected) > 1 else ""
        said = VERDICTS[verdict.label].lower()
        message = f"{counted(len(selected), 'sentence')} read{together}: {said}"
        verdict = _with_rulings(verdict, rulings.values())
        words = self.read_words(state.claim, selected) if selected else None
        return Step(replace(state, verdict=verdict, read_words=words), message)

    def judge(
        self,
        claim: str,
        evidence: Sequence[Evidence],
        documents: Sequence[Document],
        subject: Subject = ANYTHING,
        ruled: Collection[SentenceKey] = (),
    ) -> Verdict:
        """Return the verdict with its calibrated confidence and a rationale.

        ``documents``: those of the evidence, and others. ``ruled``: the sentences whose reading
        arithmetic takes part in; these are not read in their passage. What the readings say is
        decided or leans (``decided_or_leaning``). Without evidence the verdict is NOT ENOUGH INFO
        with the confidence 1.
        """
        if not evidence:
            rationale = "No sentence in the corpus is close enough to this claim."
            return Verdict(
                NOT_ENOUGH_INFO, 1.0, self._name, rationale, probabilities=(0.0, 0.0, 1.0)
            )
        best = max(evidence, key=lambda item: item.score)
        together, several = self.together(claim, evidence), len(evidence) > 1
        value = best.key in ruled
        passage = best.opinion if value else self.in_passage(claim, best, evidence, documents)
        readings = VerdictReadings(together, best.opinion, passage, several, bool(best.path), value)
        supports, refutes, undecided = self._model.verdict_fit.probabilities([readings])[0].tolist()
        opinion: Opinion = supports, refutes, undecided
        confidence = max(opinion)
        label = LABELS[opinion.index(confidence)]
        rationale = rationale_of(label, is_firm(confidence), evidence, subject)
        verdict = Verdict(
            label, confidence, self._name, rationale, probabilities=opinion, readings=readings
        )
        return decided_or_leaning(verdict, evidence, self._settings.decided_cutoff, subject)

    def read_words(self, claim: str, evidence: Sequence[Evidence]) -> int | None:
        """Return how many words of the selected evidence fit the verifier's window, None for all.

        If all do, every single sentence, every path and the input of the prover, whose window is
        wider, fit too.
        """
        text = _text(evidence)
        if self._model.fits(claim, text):
            return None
        ends = [found.end() for found in _WORD.finditer(text)]
        return bisect_left(ends, True, key=lambda end: not self._model.fits(claim, text[:end]))

    def together(self, claim: str, evidence: Sequence[Evidence]) -> Opinion:
        """Return the probabilities of all sentences read as one text.

        Those of a single sentence are known already.
        """
        if len(evidence) == 1:
            return evidence[0].opinion
        return opinions(self._model, claim, [_text(evidence)])[0]

    def in_passage(
        self,
        claim: str,
        best: Evidence,
        evidence: Sequence[Evidence],
        documents: Sequence[Document],
    ) -> Opinion:
        """Return the probabilities of a sentence between its neighbours, after its path."""
        document = next(one for one in documents if one.id == best.key.document_id)
        passage = passage_of(document, best.key)
        if passage == best.in_context:
            return best.opinion
        known = {item.key: item.as_read for item in evidence}
        path = [known[key] for key in best.path if key in known]
        return opinions(self._model, claim, [path_text((best.heading, passage), path)])[0]


def _with_rulings(verdict: Verdict, rulings: Iterable[Ruling]) -> Verdict:
    """Return the verdict with the arithmetic that gave the best evidence its label, if any did."""
    because = next((one.because for one in rulings if one.label == verdict.label), None)
    if because is None:
        return verdict
    rationale = f"{verdict.rationale} {because}"
    return replace(verdict, judge=f"{verdict.judge}{WITH_QUANTITIES}", rationale=rationale)


def _text(evidence: Sequence[Evidence]) -> str:
    return evidence_set_text([item.as_read for item in evidence])


def decided_or_leaning(
    verdict: Verdict, evidence: Sequence[Evidence], cutoff: float, subject: Subject = ANYTHING
) -> Verdict:
    """Return the verdict, or NOT ENOUGH INFO that ``leans`` to its label if that is too uncertain.

    SUPPORTS and REFUTES need a confidence of at least ``cutoff``, and a sentence or a path with
    this stance; without one there is no lean either. An undecided verdict has the probability of
    NOT ENOUGH INFO as its confidence, also where that is the less probable label: it never says how
    sure the lean is.
    """
    if verdict.label == NOT_ENOUGH_INFO:
        return verdict
    has_stance = any(item.decides == verdict.label for item in evidence)
    if has_stance and verdict.confidence >= cutoff:
        return verdict
    leaning = f"leans towards {_LEANING[verdict.label]} the claim"
    return replace(
        verdict,
        label=NOT_ENOUGH_INFO,
        confidence=verdict.probabilities[LABELS.index(NOT_ENOUGH_INFO)],
        rationale=f"The best evidence {leaning}, but not clearly enough to decide."
        if has_stance
        else rationale_of(NOT_ENOUGH_INFO, firm=False, evidence=evidence, subject=subject),
        leans=verdict.label if has_stance else None,
    )


def disagreement(verdict: Verdict, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the selected evidence that is against the verdict.

    Against an undecided one is what is against its lean.
    """
    against = OPPOSITE.get(verdict.leans or verdict.label)
    return tuple(
        number
        for number, item in enumerate(evidence, 1)
        if item.selected and item.stance == against
    )


def rationale_of(
    label: Label, firm: bool, evidence: Sequence[Evidence], subject: Subject = ANYTHING
) -> str:
    """Return one sentence that quotes the evidence of the verdict.

    ``firm``: whether the confidence is high enough for a plain statement. ``evidence`` comes best
    first. For a decided claim the first sentence that has the same stance alone is quoted; if none
    has it but together with others, all of these. Otherwise the first sentence is quoted,
    whatever its stance, unless no sentence is about the ``subject`` of the claim; before all others
    comes that of the document about it.
    """
    if label == NOT_ENOUGH_INFO:
        closest = next((one for one in evidence if subject.is_titled(one.title)), evidence[0])
        if not subject.is_of(evidence):
            return f"No sentence about “{subject.text}” was found that decides it."
        settles = "does not settle the claim"
        if closest.stance != NOT_ENOUGH_INFO:
            settles = f"seems to {_VERBS[closest.stance][1]} it, but with too little confidence"
        return f"The closest sentence, in “{closest.title}”, {settles}: “{closest.quoted}”"
    one, several = _VERBS[label]
    if not firm:
        one, several = f"seems to {several}", f"seem to {several}"
    alone = [item for item in evidence if item.stance == label]
    if not alone:
        last = next((item for item in evidence if item.decides == label), evidence[0])
        known = {item.key: item for item in evidence}
        together = [*(known[key] for key in last.path if key in known), last]
        quotes = " and ".join(f"“{item.quoted}” (“{item.title}”)" for item in together)
        return f"Read together, the sentences {several} it: {quotes}"
    first = alone[0]
    others = len({item.title for item in alone} - {first.title})  # not of passages
    more = f", with {others} more document{'s' if others > 1 else ''}," if others else ""
    return f"“{first.title}”{more} {one} it: “{first.quoted}”"


MAKERS: Makers = {"verdict": lambda r, c: VerdictJudge(r.verifier, r.verifier.version, c)}
