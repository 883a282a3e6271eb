"""Which sentences are copies of each other, as those of a press text that many papers print."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from retrieval.types import Document, SentenceKey

# Signs that change what a number means are kept: "-5", "1.5", "5 %".
_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+|(?<!\w)[-\u2212](?=\d)|[%°$€£¥+<>=]")
_NUMBER_OF_PASSAGE = re.compile(r"#\d+\Z", re.ASCII)
# A sentence that begins with one of these says something else after another sentence.
_REFERRING = {
    "he",
    "she",
    "it",
    "they",
    "this",
    "that",
    "these",
    "those",
    "his",
    "her",
    "its",
    "their",
}


class CopiedSentences:
    """The sentences of some documents, folded: without case, spacing, punctuation and quotes."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """Fold every sentence. One that refers to the sentence before is folded with it.

        If it is the first one, it refers to the title.
        """
        self._folded: dict[SentenceKey, str] = {}
        standing: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for document in documents:
            before = _folded(document.title)
            # Passages of a long document count as one document.
            whole = (_NUMBER_OF_PASSAGE.sub("", document.id), document.title)
            for sentence in document.sentences:
                words = _folded(sentence.text)
                refers = words.partition(" ")[0] in _REFERRING
                text = f"{before} . {words}" if refers else words
                self._folded[SentenceKey(sentence.document_id, sentence.sentence_id)] = text
                standing[text].add(whole)
                before = words
        self._copies = {text: len(of) for text, of in standing.items()}

    def text(self, key: SentenceKey) -> str:
        """Return the folded text of a sentence; copies have the same."""
        return self._folded[key]

    def documents_with(self, key: SentenceKey) -> int:
        """Return how many documents the sentence stands in, 1 or more."""
        return self._copies[self._folded[key]]


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
