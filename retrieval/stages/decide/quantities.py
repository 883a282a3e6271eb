"""The stage ``quantities``: arithmetic decides where the networks guess at a stated quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.quantities.amounts import load_units
from retrieval.quantities.halves import Filling
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling
from retrieval.quantities.restated import (
    candidates,
    may_be_decided_by,
    measurement,
    restated,
    ruling,
)
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.text.model_texts import evidence_text
from retrieval.types import UNREAD, Evidence
from retrieval.words import counted

if TYPE_CHECKING:
    from spacy.tokens import Doc

_MOST_RESTATED = 3  # sentences


class ArithmeticStage(Stage):
    """Asks the verifier what sentences give, and computes what follows."""

    def __init__(self, parser: EnglishParser, model: EvidenceModel) -> None:
        """``parser`` reads the sentences that may decide the claim, ``model`` is the verifier."""
        self._parser = parser
        self._model = model

    def warm_up(self) -> None:
        """Load the models and the units."""
        super().warm_up()
        load_units()

    def supported(self, asked: Iterable[tuple[str, tuple[str, str]]]) -> list[float]:
        """Return for each claim how probable it is that its (title, sentence) text supports it."""
        pairs = [(claim, evidence_text(*text)) for claim, text in asked]
        return [supports for supports, _, _ in self._model.probabilities(pairs).tolist()]


class QuantityRuler(ArithmeticStage):
    """Decides a claim that states a quantity by the quantity that a sentence gives.

    The verifier reads the claim with the quantity of the sentence in its place. If the sentence
    supports that, arithmetic says what follows for the claim, as surely as the verifier is.
    """

    def run(self, state: ClaimState) -> Step:
        """Label ``evidence`` that is ruled on, put it first, and set ``rulings``."""
        state = replace(state, rulings={})
        if not dimensions(state.claim):
            return Step(state, "")
        alone = [item for item in state.evidence if not item.path and not item.has_context]
        texts = [(item.title, item.sentence.text) for item in alone]
        found = [
            (replace(alone[place], opinion=decided.opinion), decided)
            for place, decided in self.restated(state.parsed, texts)
        ]
        if not found:
            return Step(state, "")
        message = f"{counted(len(found), 'reading')} decided by arithmetic"
        return Step(with_rulings(state, found), message)

    def restated(
        self, claim: Doc, texts: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[int, Ruling]]:
        """Yield what (title, sentence) texts say about the only measurement of a claim.

        With each ruling comes the number of its text. The first few that may have one are read.
        """
        claimed = measurement(claim)
        if claimed is None:
            return
        usable = [n for n, text in enumerate(texts) if may_be_decided_by(claim, text)]
        asked: dict[int, tuple[Doc, list[Filling]]] = {}
        for place in usable[:_MOST_RESTATED]:
            title, text = texts[place]
            sentence = self._parser.parse(text)
            if found := list(candidates(claim, claimed, title, sentence)):
                asked[place] = sentence, found
        if not asked:
            return
        supported = iter(
            self.supported(
                (restated(claim, claimed, one), texts[place])
                for place, (_, found) in asked.items()
                for one in found
            )
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
