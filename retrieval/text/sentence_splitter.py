"""Splits a text into sentences once, when its document is indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from retrieval.system.packages import leave_out_torch
from retrieval.text.english import english_folder
from retrieval.text.word_forms import lexicon

_CLOSING = "\"'”’)]"  # noqa: RUF001 - curly quotes are meant
_OPENING = "\"'“‘(["  # noqa: RUF001

# Marks of notes between two sentences belong to the first: "It is old.[1] It is red."
NOTES = r"(?:\[\d{1,3}\]|[¹²³⁰⁴-⁹]{1,3})*"
_MARK = re.compile(rf"([.!?…]+[{re.escape(_CLOSING)}]*){NOTES}(\s*)")

# Not among them: "…", which often stands within a sentence, and "?" or "!" in a quotation that the
# sentence continues after ('"Why?" Ann asked.').
_CLEAR_MARKS = {*(f".{quote}" for quote in ["", '"', "'", "”", "’"]), "!", "?"}  # noqa: RUF001

# Words of three letters or more that often end in a full stop within a sentence; shorter ones are
# never clear. That some are words of their own ("mass", "miss") costs only the model's time.
_ABBREVIATIONS = lexicon("abbreviated")

# Most characters before a mark, and in a chunk after it, that are looked at: a text without white
# space (Chinese, a long address) may have many megabytes.
_LOOKED_AT = 64
_WIDEST = 1000  # characters of marks and white space; what is unclear about more is no boundary
_LONGEST = 500  # characters of a stretch from which on no further boundary is added to it

# ``senter`` decides on each token from two tokens on either side (two layers with a window of one).
# Two chunks between white space before the mark and three after it contain these tokens, so that it
# decides as if it read all of the text.
_AFTER = re.compile(rf"\S{{1,{_LOOKED_AT}}}(?:\s{{1,9}}\S{{1,{_LOOKED_AT}}}){{0,2}}\s?")
_BEFORE = 2


# The letters that a word begins with, unless a hyphen follows.
_LETTERS = re.compile(rf"[^\W\d_]{{1,{_LOOKED_AT}}}+(?!-)")


@dataclass(slots=True)
class Stretch:
    """The characters of a text from ``start`` to before ``end``, for a model to read.

    ``unclear``: pairs of a mark's place and that of what follows; a sentence may begin after
    the first, up to the second.
    """

    start: int
    end: int
    unclear: list[tuple[int, int]] = field(default_factory=list)

    def asked(self, start: int) -> bool:
        """Return whether it is unclear if a sentence begins here."""
        return any(mark < start <= following for mark, following in self.unclear)


def is_abbreviation(word: str) -> bool:
    """Return whether a word of three letters or more often ends in a full stop within a sentence.

    ``word``: without the full stop.
    """
    return word.lower() in _ABBREVIATIONS


def boundaries(text: str) -> tuple[list[int], list[Stretch]]:
    """Return where sentences clearly begin, and the stretches with unclear boundaries."""
    starts: list[int] = []
    stretches: list[Stretch] = []
    for found in _MARK.finditer(text):
        mark, following = found.start(), found.end()
        if following == len(text):
            break
        marks, space = found.groups()
        first = text[following]
        if not space and not _may_run_together(text[mark - 1 : mark], first):
            continue
        if space == " " and first.islower():
            continue
        clear = (
            space
            and marks in _CLEAR_MARKS
            and _begins_clearly(text, following)
            and _ends_clearly(text, mark)
        )
        if clear:
            starts.append(following)
        elif following - mark <= _WIDEST:
            _add(stretches, text, mark, following)
    return starts, stretches


def _may_run_together(last: str, first: str) -> bool:
    """Return whether a sentence may begin right after a mark, as in "the end.Then".

    ``last``: the character before the mark. None begins in "3.5", "example.com" and "U.S.".
    """
    return not last.isupper() and (
        (first.isalpha() and not first.islower()) or (first in _OPENING and first not in _CLOSING)
    )


def _begins_clearly(text: str, start: int) -> bool:
    """Return whether there is an ordinary capitalised word here.

    Other words are unclear, as ``senter`` has seen few of them: "Uto-Aztecan", "NaCl".
    """
    found = _LETTERS.match(text, start)
    if found is None:
        return False
    word = found.group()
    return word[0].isupper() and (len(word) == 1 or word[1:].islower() or word.isupper())


def _ends_clearly(text: str, end: int) -> bool:
    """Return whether there is an ordinary word or a year before this place.

    Words of less than three letters, or four if capitalised, are often abbreviations ("c.",
    "St.", "Raj."), and other numbers those of a list or a part ("1.", "Voyager 2.").
    """
    chunks = text[max(0, end - _LOOKED_AT) : end].rsplit(None, 1)
    word = chunks[-1].rstrip(_CLOSING).lstrip(_OPENING).rpartition("-")[2] if chunks else ""
    if word.isdigit():
        return len(word) == 4
    return (
        word.isalpha()
        and len(word) > 2
        and (word.islower() or (len(word) > 3 and word[1:].islower()))
        and not is_abbreviation(word)
    )


def _add(stretches: list[Stretch], text: str, mark: int, following: int) -> None:
    """Add an unclear boundary, to the last stretch if they overlap."""
    start, end = _surroundings(text, mark, following)
    last = stretches[-1] if stretches else None
    if last is None or start >= last.end or end - last.start > _LONGEST:
        last = Stretch(start, end)
        stretches.append(last)
    last.end = end
    last.unclear.append((mark, following))


def _surroundings(text: str, mark: int, following: int) -> tuple[int, int]:
    looked_at = max(0, mark - _LOOKED_AT)
    chunks = text[looked_at:mark].rsplit(None, _BEFORE)
    start = looked_at + (len(chunks[0]) if len(chunks) > _BEFORE else 0)
    after = _AFTER.match(text, following)
    return start, after.end() if after else following


# spaCy's statistical splitter knows "No. 1" and "c. 1503" but sometimes splits at
# a bracket or a hyphen; a boundary counts only after a sentence's last mark.
_ENDED = re.compile(rf"[.!?…][\"'”’)\]]*{NOTES}\s*$")  # noqa: RUF001 - curly quotes are meant

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
            read = [boundaries(text) for text in batch]
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
        # A sentence ended between two starts, or in the marks just before.
        if start == 0
        or (
            _ENDED.search(text, max(0, min(before, start - _MARKS)), start)
            and not text[start].islower()
        )
    ]
    bounds = []
    for start, end in pairwise([*kept, len(text)]):
        sentence = text[start:end]
        if sentence.strip():
            leading = len(sentence) - len(sentence.lstrip())
            bounds.append((start + leading, start + len(sentence.rstrip())))
    return bounds


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
