"""The table of the ESOTERIC report (sections 4.1 to 4.3, table 8), with its definitions.

They differ from FEVER's: retrieved items are counted over all claims together,
every annotated sentence is relevant in whichever set it is, and undecided claims
are left out. The report used 200 other claims and another corpus, so the figures
are shown side by side, but are not comparable.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

from evaluation.claims import AnnotatedClaim, page_key
from evaluation.measures.scores import keys
from evaluation.predictions import MOST_EVIDENCE, Answer


@dataclass(frozen=True, slots=True)
class Ratio:
    """Share of relevant items among those retrieved, and of retrieved among those relevant."""

    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """Their harmonic mean; 0 where both are."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


@dataclass(frozen=True, slots=True)
class EsotericTable:
    """Rows of table 8, each 0..1.

    ``document``: documents passed to the sentence stage; a relevant one has a
    relevant sentence. ``passage``: sentences given as evidence, counted only on
    relevant documents that were retrieved. ``combined``: sentences given
    as evidence, all of them. ``…_oracle``: claims with a whole evidence set
    among them (OFEVER); for passages, of claims whose documents have one.
    """

    document: Ratio
    passage: Ratio
    combined: Ratio
    document_oracle: float
    passage_oracle: float
    combined_oracle: float


def esoteric_table(claims: Sequence[AnnotatedClaim], answers: Sequence[Answer]) -> EsotericTable:
    """Return the table over the decided claims; rows without any are 0."""
    document, passage, combined = _Tally(), _Tally(), _Tally()
    decided = with_documents = with_sentences = 0
    for claim, answer in zip(claims, answers, strict=True):
        if not claim.evidence:
            continue
        pages = {page_key(page) for page in answer.pages}
        given = set(keys(answer.evidence[:MOST_EVIDENCE]))
        relevant_pages = pages & claim.pages
        document.add(pages, set(claim.pages))
        combined.add(given, set(claim.gold))
        passage.add(
            {key for key in given if key[0] in relevant_pages},
            {key for key in claim.gold if key[0] in relevant_pages},
        )
        decided += 1
        with_documents += any(pages.issuperset(p for p, _ in group) for group in claim.evidence)
        with_sentences += any(given.issuperset(group) for group in claim.evidence)
    return EsotericTable(
        document=document.ratio(),
        passage=passage.ratio(),
        combined=combined.ratio(),
        document_oracle=_share(with_documents, decided),
        passage_oracle=_share(with_sentences, with_documents),
        combined_oracle=_share(with_sentences, decided),
    )


class _Tally:
    """Counts of what was retrieved, what was relevant and what was both."""

    def __init__(self) -> None:
        self._retrieved = self._relevant = self._both = 0

    def add(self, retrieved: Set[Hashable], relevant: Set[Hashable]) -> None:
        self._retrieved += len(retrieved)
        self._relevant += len(relevant)
        self._both += len(retrieved & relevant)

    def ratio(self) -> Ratio:
        return Ratio(_share(self._both, self._relevant), _share(self._both, self._retrieved))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
