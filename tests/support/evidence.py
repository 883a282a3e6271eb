"""Short ways to write documents and evidence down in a test."""

from __future__ import annotations

from retrieval.types import (
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Document,
    Evidence,
    Label,
    RankedDocument,
    Sentence,
)


def document(title: str, *sentences: str) -> Document:
    """A document whose text is its sentences, joined by spaces."""
    made, start = [], 0
    for number, text in enumerate(sentences):
        made.append(Sentence(title, number, text, start, start + len(text)))
        start += len(text) + 1
    return Document(title, title, None, " ".join(sentences), tuple(made))


def ranked(title: str, *sentences: str, score: float = 1.0) -> RankedDocument:
    """The same, as the ranking hands it on."""
    return RankedDocument(document(title, *sentences), score, ("title",), 1)


def evidence(
    title: str, text: str, score: float = 0.9, stance: Label = SUPPORTS, sentence_id: int = 0
) -> Evidence:
    """One sentence of one document; ``score`` is its relevance, all of it for the stance."""
    opinion = {
        SUPPORTS: (score, 0.0, 1 - score),
        REFUTES: (0.0, score, 1 - score),
        NOT_ENOUGH_INFO: (score / 2, score / 2, 1 - score),
    }[stance]
    sentence = Sentence(title, sentence_id, text, 0, len(text))
    return Evidence(sentence, title, None, opinion, 1)
