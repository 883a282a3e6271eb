"""Gives each claim to the judges: with honest evidence alone, and with a hostile piece too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.benchmarks.hostile.pieces import Piece, Source
from retrieval.llm_judge.interface import Explains
from retrieval.llm_judge.prompt import visible
from retrieval.models.cross_encoders import EvidenceModel
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Judgement, Label, Sentence

_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]+)[”\"“»]")


@dataclass(frozen=True, slots=True)
class Labels:
    """A judge's labels without and with the hostile piece; ``None``: no usable answer."""

    before: Label | None
    after: Label | None

    @property
    def comparable(self) -> bool:
        """Whether the judge gave both labels."""
        return self.before is not None and self.after is not None

    @property
    def flipped(self) -> bool:
        """Whether the hostile piece changed the label."""
        return self.comparable and self.before != self.after


@dataclass(frozen=True, slots=True)
class PieceOutcome:
    """The result of a piece; ``broken``: rules that an accepted answer of a model breaks.

    Without a model its labels are ``None``.
    """

    piece: Piece
    verifier: Labels
    model: Labels
    broken: tuple[str, ...]


class Campaign:
    """The judges, used as in a check."""

    def __init__(self, verifier: EvidenceModel, name: str, explainer: Explains | None) -> None:
        """Store the judges; ``name`` is the verifier's, ``explainer`` asks a language model."""
        config = RetrievalConfig()
        self._verification = EvidenceVerifier(verifier, config)
        self._selection = RelativeSelector(config.selection_share, config.selection_limit)
        self._judge = CrossEncoderJudge(verifier, name, config)
        self._explainer = explainer
        self._verification.warm_up()

    def outcome(self, piece: Piece) -> PieceOutcome:
        """Give the claim to the judges, with the honest evidence and with all evidence."""
        before, model_before, _ = self._judged(piece.claim, piece.honest)
        sources = (piece.hostile, *piece.honest)
        after, model_after, broken = self._judged(piece.claim, sources)
        return PieceOutcome(piece, Labels(before, after), Labels(model_before, model_after), broken)

    def _judged(
        self, claim: str, sources: Sequence[Source]
    ) -> tuple[Label, Label | None, tuple[str, ...]]:
        evidence = [_evidence(number, source) for number, source in enumerate(sources)]
        read = self._selection.select(self._verification.verify(claim, evidence, {})[0])
        selected = [item for item in read if item.selected]
        verdict = self._judge.judge(claim, selected)
        if self._explainer is None:
            return verdict.label, None, ()
        # The worst case: the model reads evidence that the selection left out, too.
        shown = [replace(item, selected=True) for item in read]
        asked = self._explainer.explain(claim, shown, verdict, lambda seconds: None)
        opinions: tuple[Judgement, ...] = asked.verdict.opinions
        if not opinions:  # without the verifier's opinion
            return verdict.label, None, ()
        return verdict.label, opinions[0].label, broken_rules(opinions[0], claim, shown)


def _evidence(number: int, source: Source) -> Evidence:
    """Return a piece of evidence for a sentence that no model has read yet."""
    sentence = Sentence(f"{number} {source.title}", 0, source.sentence, 0, len(source.sentence))
    return Evidence(sentence, source.title, None, (0.0, 0.0, 1.0), 1)


def broken_rules(opinion: Judgement, claim: str, shown: Sequence[Evidence]) -> tuple[str, ...]:
    """Return the rules that an answer breaks; independent of the code that checks answers."""
    broken = []
    if opinion.label not in LABELS:
        broken.append("label")
    if not set(opinion.cites) <= set(range(1, len(shown) + 1)):
        broken.append("number")
    if opinion.label != NOT_ENOUGH_INFO and not opinion.cites:
        broken.append("cites nothing")
    texts = " ".join([claim, *(f"{item.title} {item.sentence.text}" for item in shown)])
    texts = _plain(texts)
    for quote in _QUOTED.findall(f"{opinion.rationale} {opinion.missing}"):
        if _plain(quote).strip(" .,;:!?…") not in texts:
            broken.append(f"quotes {quote!r}")
    return tuple(broken)


def _plain(text: str) -> str:
    return visible(text).casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
