"""How evidence is written when a cross-encoder reads it, in training as in use."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " [SEP] "
_MARK, _AS_TEXT = "[SEP]", "(SEP)"  # of one length, so that offsets into a text stay


def evidence_text(title: str, sentence: str) -> str:
    """Return a sentence with its document's title, which says who "he" or "it" is.

    A separator that stands in the document itself separates nothing.
    """
    return f"{title} : {sentence}".replace(_MARK, _AS_TEXT)


def evidence_set_text(sentences: Sequence[tuple[str, str]]) -> str:
    """Return several (title, sentence) pairs as one text, best first."""
    return SEPARATOR.join(evidence_text(title, sentence) for title, sentence in sentences)


def path_text(candidate: tuple[str, str], path: Sequence[tuple[str, str]]) -> str:
    """Return a candidate beside the path that led to it, each a (title, sentence).

    The candidate stands first, and behind it the path from its end, so that what
    does not fit a model's window is cut where it matters least.
    """
    return evidence_set_text([candidate, *reversed(path)])
