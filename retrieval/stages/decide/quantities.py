"""The stages ``quantities`` and ``comparison``: arithmetic decides where the networks guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.quantities.amounts import load_units
from retrieval.quantities.halves import (
    Comparison,
    Filled,
    Filling,
    Half,
    Halves,
    compared,
    comparison,
    filled,
    fillings,
)
from retrieval.quantities.reading import dimensions
from retrieval.quantities.relation import Ruling
from retrieval.quantities.restated import (
    candidates,
    may_be_decided_by,
    measurement,
    restated,
    ruling,
    words_of,
)
from retrieval.stages.stage import ClaimState, Makers, Stage, Step
from retrieval.text.context import evidence_text
from retrieval.text.english import EnglishParser
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


_LEAST = 0.4  # probability that a sentence supports a filled half


class ComparisonReader(ArithmeticStage):
    """Compares the quantities or dates that sentences give for the two halves of a claim.

    The verifier reads each half with the quantities of a few sentences in its gap ("Ada moved to
    Selm in 1935"); arithmetic compares those that a sentence supports. A verifier that reads the
    whole claim with both sentences guesses which is more (docs/stages.md, "Quantities").
    """

    def __init__(self, parser: EnglishParser, model: EvidenceModel, sentences: int) -> None:
        """Read at most so many ``sentences`` for each half."""
        super().__init__(parser, model)
        self._sentences = sentences

    def run(self, state: ClaimState) -> Step:
        """Put the two sentences that decide a comparison first, and add to ``rulings``."""
        claim = comparison(state.parsed)
        if claim is None:
            return Step(state, "")
        known = {item.key: item for item in (*state.read, *state.evidence)}
        read = [item for item in known.values() if not item.has_context]
        found = self.compared(claim, [(item.title, item.sentence.text) for item in read])
        if found is None:
            return Step(state, "")
        decided, one, other = found
        lead, last = read[one.place], read[other.place]
        path = () if lead.key == last.key else (lead.key,)
        item = replace(last, opinion=decided.opinion, path=path, alone=None)
        ruled = with_rulings(_without_guesses(state), [(item, decided)])
        return Step(ruled, "Both halves of the comparison found, and compared")

    def compared(
        self, claim: Comparison, texts: Sequence[tuple[str, str]]
    ) -> tuple[Ruling, Filled, Filled] | None:
        """Return what (title, sentence) texts say about a comparison, and its two filled halves.

        None if they do not give both, or disagree. ``Filled.place`` is the number of a text.
        """
        parsed: dict[int, Doc] = {}
        sides = [
            list(self._candidates(side, texts, parsed)) for side in (claim.first, claim.second)
        ]
        if not all(sides):
            return None
        asked = [candidate for side in sides for candidate in side]
        supported = self.supported((filled(half, gap), texts[n]) for half, gap, n in asked)
        read = [
            Filled(*one, probability) for one, probability in zip(asked, supported, strict=True)
        ]
        first, second = (
            [one for one in side if one.probability > _LEAST]
            for side in (read[: len(sides[0])], read[len(sides[0]) :])
        )
        return compared(claim, first, second)

    def _candidates(
        self, halves: Halves, texts: Sequence[tuple[str, str]], parsed: dict[int, Doc]
    ) -> Iterator[tuple[Half, Filling, int]]:
        """Yield what may fill each half, with the numbers of texts that have most of its words.

        ``parsed``: the texts that were parsed before, by their numbers.
        """
        for half in halves:
            wanted = words_of(half.text)
            usable = [n for n, (_, text) in enumerate(texts) if half.measured_in(text)]
            usable.sort(key=lambda n: -len(wanted & words_of(" ".join(texts[n]))))
            for place in usable[: self._sentences]:
                if place not in parsed:
                    parsed[place] = self._parser.parse(texts[place][1])
                for filling in fillings(parsed[place]):
                    if half.takes(filling.quantity.dimension):
                        yield half, filling, place


def _without_guesses(state: ClaimState) -> ClaimState:
    """Return the state without what the verifier made of several sentences read together.

    They are a guess at what arithmetic decides.
    """
    evidence = tuple(
        replace(item, opinion=UNREAD, path=(), alone=None) if item.path else item
        for item in state.evidence
    )
    return replace(state, evidence=evidence)


MAKERS: Makers = {
    "quantities": lambda r, c: QuantityRuler(r.models.parser, r.verifier),
    "comparison": lambda r, c: ComparisonReader(r.models.parser, r.verifier, c.compared_sentences),
}
