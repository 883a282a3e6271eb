"""The stage ``quantities``: arithmetic decides where the networks guess at a stated quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.models.cross_encoders.evidence_model import EvidenceModel
from retrieval.quantities.facts import ParsedSentence
from retrieval.quantities.filled_halves import Filling
from retrieval.quantities.rank import claimed_first
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling, leaning, overruled
from retrieval.quantities.restated import candidates, measurement, restated, ruling
from retrieval.quantities.stated import may_be_decided_by, stated
from retrieval.quantities.units import load_units
from retrieval.stages.decide.denied_labels import DeniedLabels
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.text.model_texts import evidence_text
from retrieval.types import LABELS, SUPPORTS, Evidence
from retrieval.words import counted

if TYPE_CHECKING:
    from spacy.tokens import Doc

_MOST_RESTATED = 3  # sentences
UNREAD = (0.0, 0.0, 1.0)
"""The opinion on a sentence that says nothing alone."""


class QuantityRuler(Stage):
    """Overrules the verifier where the quantities of claim and evidence decide the claim.

    It rules on each sentence or path as it was read. Where the words of claim and sentence are too
    different for that, the verifier reads the claim with the quantity of the sentence in its place.
    """

    def __init__(self, parser: EnglishParser, model: EvidenceModel) -> None:
        """``parser`` reads the sentences that may decide the claim, ``model`` is the verifier."""
        self._parser = parser
        self._model = model

    def warm_up(self) -> None:
        """Load the models and the units."""
        self._parser.warm_up()
        self._model.warm_up()
        load_units()

    def run(self, state: ClaimState) -> Step:
        """Label ``evidence`` that is ruled on, put it first, and set ``rulings``."""
        measured = bool(dimensions(state.claim))
        found = (list(self._ruled(state)) or list(self._restated(state))) if measured else []
        found = found or list(self._ranked(state))
        if not found:
            return Step(replace(state, rulings={}), "")
        ruled = with_rulings(replace(state, rulings={}), found)
        return Step(ruled, f"{counted(len(found), 'reading')} decided by arithmetic")

    def _ruled(self, state: ClaimState) -> Iterator[tuple[Evidence, Ruling]]:
        """Yield the evidence that arithmetic decides, with its new opinion."""
        known = {item.key: item for item in (*state.read, *state.evidence)}
        for item in state.evidence:
            parts = [*(known[key] for key in item.path), item]
            if any(part.has_context for part in parts):
                continue
            texts = [(part.title, part.sentence.text) for part in parts]
            if not may_be_decided_by(state.parsed, texts):
                continue
            passages = [ParsedSentence(title, self._parser.parse(text)) for title, text in texts]
            decided = stated(state.parsed, passages)
            if decided is not None:
                yield replace(item, opinion=overruled(item.opinion, decided.label)), decided

    def _ranked(self, state: ClaimState) -> Iterator[tuple[Evidence, Ruling]]:
        """Yield the sentences by which what is claimed to be first comes later."""
        first = claimed_first(state.parsed)
        if first is None:
            return
        for item in state.evidence:
            if item.path or item.has_context:
                continue
            later = first.ruling(item.title, self._parser.parse(item.sentence.text))
            if later is not None:
                yield replace(item, opinion=overruled(item.opinion, later.label)), later

    def _restated(self, state: ClaimState) -> Iterator[tuple[Evidence, Ruling]]:
        """Yield the sentences whose measurement decides the claim, with their new opinions."""
        alone = [item for item in state.evidence if not item.path and not item.has_context]
        texts = [(item.title, item.sentence.text) for item in alone]
        denied = DeniedLabels(state.parsed, self._parser).denied
        for place, decided in self.restated(state.parsed, texts):
            item = alone[place]
            if decided.label not in denied([item]):  # only then are these sentences parsed again
                yield replace(item, opinion=leaning(item.opinion, decided.label)), decided

    def restated(
        self, claim: Doc, texts: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[int, Ruling]]:
        """Yield what (title, sentence) texts say about the only measurement of a claim.

        With each ruling comes the number of its text. The first few that may have one are read.
        """
        claimed = measurement(claim)
        if claimed is None:
            return
        usable = [n for n, text in enumerate(texts) if may_be_decided_by(claim, [text])]
        asked: dict[int, tuple[ParsedSentence, list[Filling]]] = {}
        for place in usable[:_MOST_RESTATED]:
            title, text = texts[place]
            sentence = ParsedSentence(title, self._parser.parse(text))
            if found := list(candidates(claim, claimed, sentence)):
                asked[place] = sentence, found
        if not asked:
            return
        supported = iter(
            self._model.probabilities(
                [
                    (restated(claim, claimed, one), evidence_text(*texts[place]))
                    for place, (_, found) in asked.items()
                    for one in found
                ]
            )[:, LABELS.index(SUPPORTS)].tolist()
        )
        for place, (sentence, found) in asked.items():
            decided = ruling(claim, claimed, sentence, [(one, next(supported)) for one in found])
            if decided is not None:
                yield place, decided


def with_rulings(state: ClaimState, found: list[tuple[Evidence, Ruling]]) -> ClaimState:
    """Return the state with what is ruled on first in ``evidence``, and more ``rulings``.

    ``found``: each sentence or path with the opinion that follows from its ruling. The sentences of
    its path come after it, each alone.
    """
    ruled = {item.key: item for item, _ in found}
    known = {item.key: replace(item, opinion=UNREAD, path=()) for item in state.read}
    known |= {item.key: item for item in state.evidence}
    first = dict(ruled)
    for item in ruled.values():
        for key in item.path:
            first.setdefault(key, known[key])
    others = (item for item in state.evidence if item.key not in first)
    rulings = {(item.path, item.key): decided for item, decided in found}
    return replace(state, evidence=(*first.values(), *others), rulings={**state.rulings, **rulings})


MAKERS: Makers = {"quantities": lambda r, c: QuantityRuler(r.models.parser, r.models.verifier)}
