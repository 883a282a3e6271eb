"""The stage ``verdict``: the verifier reads all selected sentences together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.config import RetrievalConfig
from retrieval.cross_encoders.evidence_model import EvidenceModel
from retrieval.language.model_texts import evidence_set_text
from retrieval.stages.stage import Stage, Step, count
from retrieval.state import ClaimState
from retrieval.sufficiency.proof_adjustment import adjusted_to_proof
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Evidence,
    Label,
    Opinion,
    Verdict,
)
from retrieval.wording import WITH_QUANTITIES

_VERBS: dict[Label, tuple[str, str]] = {
    SUPPORTS: ("supports", "support"),
    REFUTES: ("contradicts", "contradict"),
}


class CrossEncoderJudge(Stage):
    """Decides from all selected sentences together and from the most relevant one alone."""

    def __init__(self, model: EvidenceModel, name: str, settings: RetrievalConfig) -> None:
        """Store the model, loaded in ``warm_up``, and the ``name`` that verdicts contain."""
        self._model = model
        self._name = name
        self._settings = settings

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    def run(self, state: ClaimState) -> Step:
        """Decide the ``verdict``; its confidence drops if the proof disagrees."""
        selected = state.selected
        verdict = self.judge(state.claim, selected)
        message = f"{count(len(selected), 'sentence')} read together: {verdict.label.lower()}"
        verdict = _with_rulings(verdict, state)
        if state.proof is not None:
            verdict = adjusted_to_proof(state.claim, verdict, state.proof, self._settings)
        cut = bool(selected) and not self.reads_whole(state.claim, selected)
        return Step(replace(state, verdict=verdict, cut=cut), message)

    def judge(self, claim: str, evidence: Sequence[Evidence]) -> Verdict:
        """Return the verdict with its calibrated confidence and a rationale with a quotation.

        Without evidence the verdict is NOT ENOUGH INFO with the confidence 1.
        """
        if not evidence:
            rationale = "No sentence in the corpus is about this claim."
            return Verdict(
                NOT_ENOUGH_INFO, 1.0, self._name, rationale, probabilities=(0.0, 0.0, 1.0)
            )
        together = self.together(claim, evidence)
        weight = self._settings.together_weight
        opinion = opinion_of(together, evidence, weight, self._model.verdict_scale)
        confidence = max(opinion)
        label = LABELS[opinion.index(confidence)]
        firm = confidence >= self._settings.firm_confidence
        rationale = rationale_of(label, firm, evidence)
        return Verdict(label, confidence, self._name, rationale, probabilities=tuple(opinion))

    def reads_whole(self, claim: str, evidence: Sequence[Evidence]) -> bool:
        """Return whether all selected evidence fits the verifier's window.

        If it does, every single sentence, every path and the input of the prover, whose window is
        wider, fit too.
        """
        return self._model.fits(claim, _text(evidence))

    def together(self, claim: str, evidence: Sequence[Evidence]) -> Opinion:
        """Return the probabilities of all sentences read as one text.

        Those of a single sentence are known already.
        """
        if len(evidence) == 1:
            return evidence[0].opinion
        supports, refutes, undecided = self._model.probabilities([(claim, _text(evidence))])[0]
        return float(supports), float(refutes), float(undecided)


def _with_rulings(verdict: Verdict, state: ClaimState) -> Verdict:
    """Return the verdict with the arithmetic that gave selected evidence its label, if any did."""
    rulings = [state.rulings.get((item.path, item.key)) for item in state.selected]
    because = dict.fromkeys(
        one.because for one in rulings if one is not None and one.label == verdict.label
    )
    if not because:
        return verdict
    rationale = " ".join((verdict.rationale, *because))
    return replace(verdict, judge=f"{verdict.judge}{WITH_QUANTITIES}", rationale=rationale)


def _text(evidence: Sequence[Evidence]) -> str:
    return evidence_set_text([(item.heading, item.sentence.text) for item in evidence])


def opinion_of(
    together: Opinion, evidence: Sequence[Evidence], together_weight: float, scale: float
) -> list[float]:
    """Return the probabilities of ``LABELS`` for the verdict.

    ``together``: those of all sentences of ``evidence``, at least one, read as one text. ``scale``:
    the power that all are raised to. Below 1 it lowers the confidence: readings that were chosen
    from many are wrong more often than others of the same confidence.
    """
    most_relevant = max(evidence, key=lambda item: item.score)
    pooled = pooled_opinion(together, most_relevant.opinion, together_weight)
    odds = [p**scale for p in uncontradicted(pooled, [item.stance for item in evidence])]
    return [p / sum(odds) for p in odds]


def pooled_opinion(together: Sequence[float], alone: Sequence[float], weight: float) -> list[float]:
    """Return the linear pool of two opinions (Stone 1961); ``weight`` is that of the first.

    The reading of all sentences together and that of the most relevant one alone are wrong for
    different claims.
    """
    return [weight * a + (1 - weight) * b for a, b in zip(together, alone, strict=True)]


def uncontradicted(opinion: Sequence[float], stances: Sequence[Label]) -> list[float]:
    """Return the opinion without a label that the shown evidence contradicts.

    SUPPORTS or REFUTES is removed if some sentence has the opposite stance and no sentence has this
    one: the shown evidence would contradict the verdict.
    """
    sides = (SUPPORTS, REFUTES)
    left = [
        0.0 if label in sides and label not in stances and set(sides) & set(stances) else p
        for label, p in zip(LABELS, opinion, strict=True)
    ]
    return [p / sum(left) for p in left]


def rationale_of(label: Label, firm: bool, evidence: Sequence[Evidence]) -> str:
    """Return one sentence that quotes the evidence of the verdict.

    ``firm``: whether the confidence is high enough for a plain statement. ``evidence`` comes best
    first. For a decided claim the first sentence of the same stance is quoted; if no sentence has
    it alone, the first of those read together. Otherwise the first sentence is quoted, whatever its
    stance.
    """
    if label == NOT_ENOUGH_INFO:
        closest = evidence[0]
        settles = "does not settle the claim"
        if closest.stance != NOT_ENOUGH_INFO:
            settles = f"seems to {_VERBS[closest.stance][1]} it, but with too little confidence"
        return f"The closest sentence, in “{closest.title}”, {settles}: “{closest.sentence.text}”"
    one, several = _VERBS[label]
    if not firm:
        one, several = f"seems to {several}", f"seem to {several}"
    quoted = next((item for item in evidence if item.stance == label), None)
    if quoted is None:
        closest = evidence[0]
        return (
            f"Read together, the sentences {several} it; the most relevant, in “{closest.title}”:"
            f" “{closest.sentence.text}”"
        )
    others = len(
        {item.sentence.document_id for item in evidence if item.stance == label}
        - {quoted.sentence.document_id}
    )
    together = f", with {others} more document{'s' if others > 1 else ''}," if others else ""
    return f"“{quoted.title}”{together} {one} it: “{quoted.sentence.text}”"
