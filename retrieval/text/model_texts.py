"""The texts that cross-encoders read as evidence, in training and in use."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " [SEP] "
_MARK, _AS_TEXT = "[SEP]", "(SEP)"  # of one length, so that offsets into a text stay


def evidence_text(title: str, sentence: str) -> str:
    """Return a sentence with its document's title, which says who "he" or "it" is.

    A separator that occurs in the document itself is replaced.
    """
    return f"{title} : {sentence}".replace(_MARK, _AS_TEXT)


def evidence_set_text(sentences: Sequence[tuple[str, str]]) -> str:
    """Return several (title, sentence) pairs as one text, best first."""
    return SEPARATOR.join(evidence_text(title, sentence) for title, sentence in sentences)


def path_text(candidate: tuple[str, str], path: Sequence[tuple[str, str]]) -> str:
    """Return a candidate and the path that led to it as one text, each a (title, sentence).

    The candidate comes first, then the path in reverse order, so that a text that does not fit a
    model's window loses its least important part.
    """
    return evidence_set_text([candidate, *reversed(path)])
