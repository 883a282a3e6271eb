"""Which labels a reading cannot give a claim, whatever the verifier makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from retrieval.quantities.owner import is_of_another
from retrieval.text.beside_the_point import point_of
from retrieval.text.borders import borders_of
from retrieval.text.compared_things import compared_things
from retrieval.text.english import EnglishParser
from retrieval.text.linked import linked
from retrieval.text.membership import of_kind
from retrieval.text.negation import not_of_kind
from retrieval.text.notices import asks_for_a_thing
from retrieval.text.subject import subject_of
from retrieval.types import REFUTES, SUPPORTS, Evidence, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NONE: frozenset[Label] = frozenset()
_REFUTES: frozenset[Label] = frozenset((REFUTES,))
_BOTH: frozenset[Label] = frozenset((SUPPORTS, REFUTES))


class DeniedLabels:
    """What a claim asks of the sentences that settle it."""

    def __init__(self, claim: Doc, parser: EnglishParser) -> None:
        """``parser`` reads the sentences for which the words alone are not enough."""
        self._claim = claim
        self._parser = parser
        # A sentence is in several readings: alone and on paths.
        self._parse = cache(parser.parse)
        self._subject = subject_of(claim)
        self._point = point_of(claim)
        self._of_kind = of_kind(claim)
        self._not_of_kind = not_of_kind(claim)
        self._borders = borders_of(claim.text)
        self._compared = compared_things(claim)
        self._asks = asks_for_a_thing(claim.text)

    def denied(self, read: Sequence[Evidence]) -> frozenset[Label]:
        """Return the labels that these sentences, read together, cannot give.

        A question for a thing has no label. What is not about the claim's subject gives none, nor
        what is not about both things that it compares (``retrieval.text.compared_things``), nor
        what only shares words with it (``retrieval.text.beside_the_point``), nor a number of
        another thing. Sentences that have nothing to do with each other say nothing together
        (``retrieval.text.linked``). What a thing has is not what it is
        (``retrieval.text.membership``), and what another thing is does not refute what this one is
        not (``retrieval.text.negation``), nor whom others border, whom this one borders
        (``retrieval.text.borders``).
        """
        pairs = [item.as_read for item in read]
        if self._asks or not self._subject.is_in(pairs):
            return _BOTH
        if len(read) > 1 and not linked(self._claim.text, pairs):
            return _BOTH
        if self._compared and not self._compared.may_be_settled_by(pairs):
            return _BOTH
        texts = [text for pair in pairs for text in pair]
        if missed := self._point.missed_by(texts, self._parse):
            return missed
        if not any(item.has_context for item in read) and self._is_of_another(read):
            return _BOTH
        if self._of_kind and self._of_kind.is_beside([doc for _, doc in self._parsed(read)]):
            return _BOTH
        if not self._may_deny(read):
            return _REFUTES
        return _NONE

    def _may_deny(self, read: Sequence[Evidence]) -> bool:
        borders = self._borders
        if borders and not any(
            borders.may_be_refuted_by(item.title, item.sentence.text) for item in read
        ):
            return False
        claimed = self._not_of_kind
        return claimed is None or claimed.is_denied_by(self._parsed(read))

    def _parsed(self, read: Sequence[Evidence]) -> list[tuple[str, Doc]]:
        return [(item.title, self._parse(item.sentence.text)) for item in read]

    def _is_of_another(self, read: Sequence[Evidence]) -> bool:
        texts = [(item.title, item.sentence.text) for item in read]
        return is_of_another(self._claim, texts, self._parser)
