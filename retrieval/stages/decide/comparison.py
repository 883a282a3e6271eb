"""The stage ``comparison``: arithmetic says which of two quantities is more, or earlier."""

from __future__ import annotations

import re
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
    Ruling,
    compared,
    comparison,
    filled,
    fillings,
)
from retrieval.stages.stage import ClaimState, Makers, Stage, Step
from retrieval.text.context import evidence_text
from retrieval.text.english import EnglishParser
from retrieval.text.word_forms import stem
from retrieval.types import UNREAD, Evidence

if TYPE_CHECKING:
    from spacy.tokens import Doc


_LEAST = 0.4  # probability that a sentence supports a filled half
_BRACKETS = re.compile(r"(?<!\s)\s*\([^)]*+(?:\)|\Z)")


class ComparisonReader(Stage):
    """Compares the quantities or dates that sentences give for the two halves of a claim.

    The verifier reads each half with the quantities of a few sentences in its gap ("Ada moved to
    Selm in 1935"); arithmetic compares those that a sentence supports. A verifier that reads the
    whole claim with both sentences guesses which is more (docs/stages.md, "Comparisons").
    """

    def __init__(self, parser: EnglishParser, model: EvidenceModel, sentences: int) -> None:
        """Read at most so many ``sentences`` for each half.

        ``parser`` reads the sentences that may decide the claim, ``model`` is the verifier.
        """
        self._parser = parser
        self._model = model
        self._sentences = sentences

    def warm_up(self) -> None:
        """Load the models and the units."""
        super().warm_up()
        load_units()

    def run(self, state: ClaimState) -> Step:
        """Put the two sentences that decide a comparison first, and set ``rulings``."""
        state = replace(state, rulings={})
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
        ruled = _with_ruling(_without_guesses(state), item, decided)
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
        supported = self._supported((filled(half, gap), texts[n]) for half, gap, n in asked)
        read = [
            Filled(*one, probability) for one, probability in zip(asked, supported, strict=True)
        ]
        first, second = (
            [one for one in side if one.probability > _LEAST]
            for side in (read[: len(sides[0])], read[len(sides[0]) :])
        )
        return compared(claim, first, second)

    def _supported(self, asked: Iterable[tuple[str, tuple[str, str]]]) -> list[float]:
        """Return for each claim how probable it is that its (title, sentence) text supports it."""
        pairs = [(claim, evidence_text(*text)) for claim, text in asked]
        return [supports for supports, _, _ in self._model.probabilities(pairs).tolist()]

    def _candidates(
        self, halves: Halves, texts: Sequence[tuple[str, str]], parsed: dict[int, Doc]
    ) -> Iterator[tuple[Half, Filling, int]]:
        """Yield what may fill each half, with the numbers of texts that have most of its words.

        ``parsed``: the texts that were parsed before, by their numbers.
        """
        for half in halves:
            wanted = _words_of(half.text)
            usable = [n for n, (_, text) in enumerate(texts) if half.measured_in(text)]
            usable.sort(key=lambda n: -len(wanted & _words_of(" ".join(texts[n]))))
            for place in usable[: self._sentences]:
                if place not in parsed:
                    parsed[place] = self._parser.parse(texts[place][1])
                for filling in fillings(parsed[place]):
                    if half.takes(filling.quantity.dimension):
                        yield half, filling, place


def _words_of(text: str) -> set[str]:
    """Return the stems of a text's words, without those in brackets."""
    return {stem(word) for word in re.findall(r"\w+", _BRACKETS.sub("", text))} - {"the", "of"}


def _with_ruling(state: ClaimState, item: Evidence, decided: Ruling) -> ClaimState:
    """Return the state with what is ruled on first in ``evidence``, and ``rulings``.

    ``item``: the last sentence of a path, or a sentence alone, with the opinion that follows from
    its ruling. The sentences of its path come after it, each alone.
    """
    known = {one.key: replace(one, opinion=UNREAD, path=()) for one in state.read}
    known |= {one.key: one for one in state.evidence}
    first = {item.key: item} | {key: known[key] for key in item.path}
    others = (one for one in state.evidence if one.key not in first)
    rulings = {(item.path, item.key): decided}
    return replace(state, evidence=(*first.values(), *others), rulings=rulings)


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
    "comparison": lambda r, c: ComparisonReader(r.models.parser, r.verifier, c.compared_sentences),
}
