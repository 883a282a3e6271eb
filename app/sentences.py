"""The sentences that a result refers to by document and number."""

from __future__ import annotations

from app.contexts import Cited
from retrieval.result import ClaimResult, Evidence


class CitedSentences:
    """Finds the sentences that the proof, the hops and the evidence of a result name."""

    def __init__(self, result: ClaimResult) -> None:
        """Read the evidence and the documents of a claim document."""
        self._sentences = {
            (item.document, item.sentence_id): (rank, item)
            for rank, item in enumerate(result.evidence, 1)
        }
        self._titles = {document.id: document.reference for document in result.documents}

    def sentence(self, document: str, sentence_id: int) -> tuple[int, Evidence] | None:
        """Return a sentence with its rank, if it is among the evidence."""
        return self._sentences.get((document, sentence_id))

    def cited(self, document: str, sentence_id: int) -> Cited:
        """Return title and rank of a sentence; a document that was not read has its id as title."""
        found = self.sentence(document, sentence_id)
        return Cited(self._titles.get(document, document), found[0] if found else None)


def words_at(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``; negative offsets count as 0."""
    return text[max(0, start) : max(0, end)]
