"""What the evidence does not speak of yet: the claim's spans that no selected sentence covers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from retrieval.language.function_words import FUNCTION_WORDS
from retrieval.types import Evidence, Span

_WORD = re.compile(r"\w+")
_STEM = 5  # "novelist" is covered by "novels", "Cubist" by "Cubism"


def missing_spans(spans: Sequence[Span], evidence: Sequence[Evidence]) -> list[Span]:
    """Return the spans none of whose words occur in any of the sentences or their titles.

    Words are compared by their first five letters, case and accents ignored. A
    span inside another missing span is left out. This says what nothing has been
    found about; it does not say that the rest is proved.
    """
    spoken = _spoken(evidence)
    missing = [span for span in spans if (words := _stems(span.text)) and not words & spoken]
    return [
        span
        for span in missing
        if not any(
            other is not span and other.start <= span.start and span.end <= other.end
            for other in missing
        )
    ]


def share_a_word(spans: Sequence[Span], evidence: Sequence[Evidence]) -> bool:
    """Return whether some sentence, or its title, holds a word of some span.

    Words are compared as in ``missing_spans``.
    """
    spoken = _spoken(evidence)
    return any(_stems(span.text) & spoken for span in spans)


def _spoken(evidence: Sequence[Evidence]) -> set[str]:
    return {stem for item in evidence for stem in _stems(item.title) | _stems(item.sentence.text)}


def _stems(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return {word[:_STEM] for word in _WORD.findall(plain) if word not in FUNCTION_WORDS}
