"""How evidence is written when a cross-encoder reads it, in training as in use."""

from __future__ import annotations

from collections.abc import Sequence


def evidence_text(title: str, sentence: str) -> str:
    """Return a sentence with its document's title, which says who "he" or "it" is."""
    return f"{title} : {sentence}"


def evidence_set_text(sentences: Sequence[tuple[str, str]]) -> str:
    """Return several (title, sentence) pairs as one text, best first."""
    return " [SEP] ".join(evidence_text(title, sentence) for title, sentence in sentences)
