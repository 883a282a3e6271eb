"""Splits a text into sentences once, when its document is indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from retrieval.language.english import english_folder

# spaCy's statistical splitter knows "No. 1" and "c. 1503" but sometimes splits at
# a bracket or a hyphen; a boundary counts only behind a sentence's last mark.
_ENDED = re.compile(r"[.!?…][\"'”’)\]]*\s*$")  # noqa: RUF001 - curly quotes are meant

_MARKS = 64  # most characters of quotes, brackets and white space behind a sentence's last mark


class SentenceSplitter:
    """spaCy's ``senter``, alone: about eight times as fast as the parser."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._nlp: Any = None

    def split(self, texts: Iterable[str]) -> Iterator[list[tuple[int, int]]]:
        """Yield each text's sentences as (start, end), trimmed of white space.

        Raises:
            ModelUnavailable: en_core_web_sm is not installed.
        """
        if self._nlp is None:
            self._nlp = _load()
        for document in self._nlp.pipe(texts, batch_size=64):
            yield bounds_of(document.text, [sentence.start_char for sentence in document.sents])


def bounds_of(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the sentences between those of the starts that stand behind a sentence's end."""
    kept = [
        start
        for before, start in pairwise([0, *starts])
        if start == 0 or (_ended(text, before, start) and not text[start].islower())
    ]
    bounds = []
    for start, end in pairwise([*kept, len(text)]):
        sentence = text[start:end]
        if sentence.strip():
            leading = len(sentence) - len(sentence.lstrip())
            bounds.append((start + leading, start + len(sentence.rstrip())))
    return bounds


def _ended(text: str, before: int, start: int) -> bool:
    """Return whether a sentence ended between two starts, or in the marks just before."""
    return _ENDED.search(text, max(0, min(before, start - _MARKS)), start) is not None


def _load() -> Any:
    import spacy

    nlp = spacy.load(
        english_folder(),
        exclude=["tagger", "parser", "ner", "attribute_ruler", "lemmatizer"],
    )
    nlp.enable_pipe("senter")
    nlp.max_length = 50_000_000  # the limit guards parser and NER, which are left out
    return nlp
