"""Finds the clear boundaries between sentences, and the unclear ones for a model to decide.

A boundary can only be after a sentence mark (``. ! ? …``, and the quotes and brackets that
close after it), and what follows is not lower case. A full stop after an ordinary word, followed
by white space and a capital letter, is clear. It is unclear after initials, abbreviations, most
numbers and formulas: "J. S. Bach", "Dr. No", "No. 1", "at 44° N. Its name".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
_ABBREVIATED = """
adm brig capt cmdr col esq gen gov hon insp ltd maj messrs mlle mme mrs pres prof rep rev sen sgt
assoc ave bldg blvd bros corp dept dist inc inst intl mtn mts natl univ
ala ariz ark calif colo conn del fla ill ind kan mass mich minn miss mont neb nebr nev okla ore
penn tenn tex wash wis wyo
jan feb mar apr jun jul aug sep sept oct nov dec
abbr anon approx cap cert cont eds esp est etc excl fig figs ibid illus incl lat lit max min misc
nos obs orig publ ref refs ser spp subsp supp suppl syn transl var viz vol vols
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())

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


def read(text: str) -> tuple[list[int], list[Stretch]]:
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
