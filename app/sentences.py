"""The sentences that a result refers to by document and number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contexts import Cited


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """Evidence number ``rank``; it is ``text[start:end]`` of its document's text."""

    rank: int
    title: str
    text: str
    start: int
    end: int


class CitedSentences:
    """Finds the sentences that the proof, the hops and the evidence of a result name."""

    def __init__(self, result: dict[str, Any]) -> None:
        """Read the evidence and the documents of a claim document."""
        self._sentences = {
            (item["document"], item["sentence_id"]): CitedSentence(
                rank, item["title"], item["sentence"], item["start"], item["end"]
            )
            for rank, item in enumerate(result["evidence"], 1)
        }
        self._documents = {document["id"]: document for document in result["documents"]}

    def sentence(self, document: str, sentence_id: int) -> CitedSentence | None:
        """Return a sentence, if it is among the evidence."""
        return self._sentences.get((document, sentence_id))

    def cited(self, document: str, sentence_id: int) -> Cited:
        """Return what names a sentence; a document that was not read goes by its id."""
        read, sentence = self._documents.get(document), self.sentence(document, sentence_id)
        return Cited(
            title=document if read is None else read["title"],
            rank=None if sentence is None else sentence.rank,
        )


def words_at(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``; offsets before the text are cut to it."""
    return text[max(0, start) : max(0, end)]
