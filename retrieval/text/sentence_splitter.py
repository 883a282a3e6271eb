"""Splits a text into sentences once, when its document is indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from retrieval.system.leave_out_torch import leave_out_torch
from retrieval.text import sentence_rules
from retrieval.text.english import english_folder
from retrieval.text.sentence_rules import Stretch

# spaCy's statistical splitter knows "No. 1" and "c. 1503" but sometimes splits at
# a bracket or a hyphen; a boundary counts only after a sentence's last mark.
_ENDED = re.compile(rf"[.!?…][\"'”’)\]]*{sentence_rules.NOTES}\s*$")  # noqa: RUF001 - curly quotes are meant

# Texts and their characters that are looked through before the model reads what is unclear.
_TEXTS = 512
_CHARACTERS = 200_000
# Stretches that it reads together; each character takes 4 kB of memory meanwhile.
_BATCH = 128

_MARKS = 64  # most characters of quotes, brackets and white space after a sentence's last mark


class SentenceSplitter:
    """Rules, and spaCy's ``senter`` for the few boundaries that they leave unclear.

    Of ``vital`` they make the sentences that ``senter`` makes alone; the packaged vectors depend
    on these. One difference is meant: a sentence that ends clearly also ends at the end of a
    paragraph, which ``senter`` often overlooks.
    """

    def __init__(self) -> None:
        """Nothing is loaded until a boundary is unclear."""
        self._nlp: Any = None

    def split(self, texts: Iterable[str]) -> Iterator[list[tuple[int, int]]]:
        """Yield each text's sentences as (start, end), trimmed of white space.

        Raises:
            ModelUnavailable: en_core_web_sm is not installed, and a boundary is unclear.
        """
        for batch in _batches(texts):
            read = [sentence_rules.read(text) for text in batch]
            decided = self._decided(
                [
                    (text, stretch)
                    for text, (_, stretches) in zip(batch, read, strict=True)
                    for stretch in stretches
                ]
            )
            for text, (clear, stretches) in zip(batch, read, strict=True):
                unclear = [start for _ in stretches for start in next(decided)]
                yield bounds_of(text, sorted([0, *clear, *unclear]))

    def _decided(self, stretches: Sequence[tuple[str, Stretch]]) -> Iterator[list[int]]:
        """Yield at which of its unclear places each stretch of a text begins a sentence."""
        if not stretches:
            return
        if self._nlp is None:
            self._nlp = load_senter()
        contents = (text[stretch.start : stretch.end] for text, stretch in stretches)
        documents = self._nlp.pipe(contents, batch_size=_BATCH)
        for (_, stretch), document in zip(stretches, documents, strict=True):
            starts = [stretch.start + sentence.start_char for sentence in document.sents]
            yield [start for start in starts if stretch.asked(start)]


@cache
def shared_splitter() -> SentenceSplitter:
    """Return the one splitter of this process, so that its model is loaded once."""
    return SentenceSplitter()


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _TEXTS or size + len(text) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def bounds_of(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the sentences between the starts that come after the end of a sentence."""
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


def load_senter() -> Any:
    """Return spaCy with ``senter`` alone: about eight times as fast as with the parser.

    Raises:
        ModelUnavailable: en_core_web_sm is not installed.
    """
    with leave_out_torch():
        import spacy

    nlp = spacy.load(
        english_folder(),
        exclude=["tagger", "parser", "ner", "attribute_ruler", "lemmatizer"],
    )
    nlp.enable_pipe("senter")
    return nlp
