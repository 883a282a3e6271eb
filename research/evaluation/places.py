"""Where annotated sentences stand in the documents of an index, which may cut them differently."""

from __future__ import annotations

from collections.abc import Mapping

from research.evaluation.claims import SentenceKey, page_key
from research.evaluation.corpus_claims import CorpusClaim
from research.evaluation.measures.esoteric_table import Search
from retrieval.index.interface import DocumentStore
from retrieval.types import Document, Retrieved


class Places:
    """The sentences of an index as spans of their documents."""

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index that the claims were checked against."""
        self._store = store

    def search(
        self, claim: CorpusClaim, retrieved: Retrieved, seconds: Mapping[str, float]
    ) -> Search:
        """Return the search for a claim; a passage covers the annotated sentences it overlaps."""
        ids = [document_id for document_id, _ in retrieved.documents]
        documents = {page_key(one.id): one for one in self._store.documents(ids)}
        annotated = _annotated(claim, documents)

        def covered(key: SentenceKey) -> frozenset[SentenceKey]:
            page = page_key(key[0])
            span = _span(documents[page], key[1]) if page in documents else None
            return frozenset(
                gold
                for gold, place in annotated.items()
                if gold[0] == page and span and span[0] < place[1] and span[1] > place[0]
            )

        return Search.of(claim, retrieved, seconds, covered)


def _annotated(
    claim: CorpusClaim, documents: Mapping[str, Document]
) -> dict[SentenceKey, tuple[int, int]]:
    """Return the place of each annotated sentence of these documents.

    It is that of its text, where the claim has it and the document contains it, or else that of the
    sentence with its number.
    """
    places: dict[SentenceKey, tuple[int, int]] = {}
    for number, group in enumerate(claim.evidence):
        for position, key in enumerate(group):
            document = documents.get(key[0])
            if document is None:
                continue
            text = claim.texts[number][position] if claim.texts else ""
            start = document.text.find(text) if text else -1
            place = (start, start + len(text)) if start >= 0 else _span(document, key[1])
            if place is not None:
                places[key] = place
    return places


def _span(document: Document, number: int) -> tuple[int, int] | None:
    return next(
        ((s.start, s.end) for s in document.sentences if s.sentence_id == number),
        None,
    )
