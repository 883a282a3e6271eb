"""Notes of arithmetic in brackets, added to the numbers and dates of an evidence text.

The verifier understands sentences, but does not compute. So for a claim in percent, "480 of 900
delegates" is read as "480 of 900 (53 percent of 900) delegates", and for a claim about 1955, "from
1948 to 1960" as "from 1948 to 1960 (1955 is between 1948 and 1960)". Only what the claim asks for
is computed, and what it means for the claim is the verifier's to say. People see the sentence as it
stands, and the notes below it.

A rule yields notes only where the words around the numbers leave little doubt: a false note does
more harm than ten true ones do good.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from retrieval.quantities.amounts import PERCENT, TEMPERATURE, Interval
from retrieval.quantities.reading import DATE, Amount, Quantity, amounts_of, with_limits
from retrieval.text.word_forms import stem


class Note(NamedTuple):
    """A note to be read after ``text[:at]``."""

    at: int
    text: str


_MOST_NOTES, _MOST_OF_A_RULE = 6, 3
_LONGEST_EXCERPT = 60  # characters before a note
_WORDS_BEFORE = re.compile(r"(?<!\S)(?:\S+\s+){0,4}\S+$")
_MOST_AMOUNTS = 60  # that are read of a text
_LONGEST = 4000  # characters that are read of a text; the verifier reads fewer
_SMALLEST, _LARGEST = 1e-9, 1e15  # of the numbers that are reckoned with
_DAYS_A_YEAR = 365.2425
_SECONDS_A_DAY = 86400.0
_MOST_DAYS_OF_A_YEAR = 366
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_NUMBERED = (
    r"no\.?|numbers?|rooms?|routes?|lines?|pages?|chapters?|sections?|articles?|paragraphs?|items?"
    r"|motions?|steps?|parts?|episodes?|rounds?|questions?|volumes?|grades?|wards?|houses?|channels?"
    r"|players?|days?|weeks?|class(?:es)?|seats?|levels?|tables?|figures?|stages?|apollo|boeing|war"
)
# No numbers of anything: "3 March" without a year, "18:00", "3/4", "page 12", "1 200" (not 1).
_NO_NUMBER_AFTER = re.compile(
    rf"(?:st|nd|rd|th)?(?: of)? {_MONTH}\b|:\d\d\b|[/+]\d|[ \u00a0]\d{{3}}\b| ?[ap]\.?m\b"
)
_NO_NUMBER_BEFORE = re.compile(
    rf"(?:\b{_MONTH} |\d[:/ \u00a0]|(?:\b(?:{_NUMBERED})|§) ?)$", re.IGNORECASE
)
_LONGEST_BEFORE = 14


class _Read:
    """A text with its numbers and dates, in their order."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = (one for one in amounts_of(text[:_LONGEST]) if _is_amount(text, one))
        self.amounts = list(islice(found, _MOST_AMOUNTS))
        self.dates = [one for one in self.amounts if one.dimension == DATE]
        self.numbers = [one for one in self.amounts if one.dimension != DATE]

    def said(self, one: Amount) -> str:
        """Return an amount as it is written."""
        return self.text[one.start : one.end]

    def before(self, one: Amount, longest: int = 40) -> str:
        """Return the last characters before an amount."""
        return self.text[max(0, one.start - longest) : one.start]

    def between(self, one: Amount, other: Amount) -> str:
        """Return the text between two amounts."""
        return self.text[one.end : other.start]


def _is_amount(text: str, one: Amount) -> bool:
    if one.dimension != DATE and one.core.low and not _SMALLEST < abs(one.core.low) < _LARGEST:
        return False
    is_bare = not one.dimension or (one.dimension == DATE and text[one.start : one.end].isdecimal())
    return not is_bare or not (
        _NO_NUMBER_AFTER.match(text, one.end)
        or _NO_NUMBER_BEFORE.search(text, max(0, one.start - _LONGEST_BEFORE), one.start)
    )


_PERCENT = re.compile(r"%|\bper ?cent\b", re.IGNORECASE)
_EXACT_PERCENT = re.compile(r"\d\.\d+ ?(?:%|per ?cent)", re.IGNORECASE)
_SHARE_WORD = re.compile(
    r"\b(?:most|majority|minority|half|halves|thirds?|quarters?|fifths?|tenths?)\b", re.IGNORECASE
)
_CHANGE_WORD = re.compile(
    r"""\b(?:grew|grown?|rises?|rose|risen|increase[sd]?|gain(?:s|ed)?|fell|falls?|fallen
    |drop(?:s|ped)?|declined?|shrank|shrunk|decreased?|lost|up|down|changed?|more|less|fewer
    |higher|lower|larger|smaller|bigger|greater|longer|shorter|cheaper|dearer|heavier|lighter
    |doubled|tripled|halved|cuts?|raised)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_YEARS_WORD = re.compile(r"\b(?:age|aged|old|years?|decades?)\b", re.IGNORECASE)
_AGE_WORD = re.compile(r"\b(?:age|aged|old|lived)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a claim says in numbers, and what it asks for in words."""

    read: _Read
    limits: tuple[Quantity, ...]
    asks_percent: bool
    asks_exact_percent: bool
    asks_share: bool
    asks_change: bool
    asks_years: bool  # an age or a duration
    asks_age: bool

    @classmethod
    def of(cls, text: str) -> _Claim:
        read = _Read(text)
        return cls(
            read=read,
            limits=tuple(one for one in with_limits(text, read.amounts) if _is_limit(one)),
            asks_percent=_PERCENT.search(text) is not None,
            asks_exact_percent=_EXACT_PERCENT.search(text) is not None,
            asks_share=_SHARE_WORD.search(text) is not None,
            asks_change=_CHANGE_WORD.search(text) is not None,
            asks_years=bool(read.numbers) and _YEARS_WORD.search(text) is not None,
            asks_age=_AGE_WORD.search(text) is not None,
        )

    @property
    def asks(self) -> bool:
        return bool(self.read.amounts or self.asks_share or self.asks_change)

    def percent(self, share: float) -> str:
        """Return a share as people write it: "53 percent", "12.5 percent", "99.6 percent".

        With a decimal if the claim has one, or if the percentage without it would be a half or all.
        """
        percent = 100 * share
        rounded = math.floor(percent + 0.5)
        is_close = rounded in (0, 50, 100) or abs(percent % 1 - 0.5) < _NEARLY_HALF
        if percent < _SMALL_PERCENT or self.asks_exact_percent or is_close:
            return f"{_figure(round(percent, 1) if percent >= 1 else percent, 4)} percent"
        return f"{rounded:,} percent"


_SMALL_PERCENT, _NEARLY_HALF = 10, 0.05


def _is_limit(one: Quantity) -> bool:
    return one.kind == "bound" or (one.kind == "range" and one.dimension != DATE)


def notes_on(claim: str, evidence: str) -> list[Note]:
    """Return the notes on the numbers of an evidence text that a claim asks something about."""
    asked = _Claim.of(claim)
    if not asked.asks:
        return []
    read = _Read(evidence)
    notes = {note for rule in _RULES for note in islice(rule(asked, read), _MOST_OF_A_RULE)}
    return sorted(notes)[:_MOST_NOTES]


def excerpts(claim: str, evidence: str) -> tuple[str, ...]:
    """Return each note after the last words before it: "… from 1948 to 1960 (12 years)"."""
    return tuple(
        f"{'… ' * (begin > 0)}{evidence[begin : note.at]} ({note.text})"
        for note in notes_on(claim, evidence)
        for begin in [_last_words(evidence, note.at)]
    )


def _last_words(text: str, end: int) -> int:
    found = _WORDS_BEFORE.search(text, max(0, end - _LONGEST_EXCERPT), end)
    return found.start() if found else end


def with_computed(claim: str, evidence: str) -> str:
    """Return an evidence text with a note after each number that a claim asks something about."""
    places: dict[int, list[str]] = defaultdict(list)
    for note in notes_on(claim, evidence):
        places[note.at].append(note.text)
    parts, at = list[str](), 0
    for place, texts in places.items():
        said = "; ".join(texts)
        # Not in brackets where brackets end: "(1911-1990; 1955 is between 1911 and 1990)".
        ends_brackets = evidence.startswith(")", place)
        parts += [evidence[at:place], f"; {said}" if ends_brackets else f" ({said})"]
        at = place
    return "".join([*parts, evidence[at:]])


# Time


class _Span(NamedTuple):
    """A span of time: its first and last date, as they are called, and where they end.

    ``names``: ``None`` for days of one month, "1 to 9 May 1951".
    """

    first: Interval
    last: Interval
    names: tuple[str, str] | None
    ends: tuple[int, int]


_TO = re.compile(r"\s?[\u2013\u2014-]\s?| to | until | till | through | and ")
_BETWEEN = re.compile(r"\b(?:between|from)(?: the)?(?: year)? $", re.IGNORECASE)
_SHORT_END = re.compile(r"[\u2013/-](\d\d)(?![\d\w])")
_COUNTED = re.compile(r" [a-z]{4,}s\b| people\b")  # "between 1100 and 1200 visitors"
_OPEN_SPAN = re.compile(r"\b(?:since|starting in|until|till|before|after)(?: the year)? $", re.I)


def _spans(read: _Read) -> Iterator[_Span]:
    """Yield the spans of time: "from 1914 to 1918", "1914-18"."""
    for one in read.dates:
        short = _SHORT_END.match(read.text, one.end)
        if one.ends is not None:
            yield _Span(*one.ends, None, (one.end, one.end))
        elif short and _is_year(read, one):
            year = int(read.said(one))
            last = year // 100 * 100 + int(short[1])
            if last > year:
                first_day, after = (date(each, 1, 1).toordinal() for each in (last, last + 1))
                end = Interval(first_day, after, high_open=True)
                yield _Span(one.core, end, (str(year), str(last)), (one.end, short.end()))
    for one, other in pairwise(read.dates):
        gap = read.between(one, other)
        if not _TO.fullmatch(gap) or one.core.low >= other.core.low:
            continue
        if gap.strip() == "and" and not _BETWEEN.search(read.before(one)):
            continue
        if not _COUNTED.match(read.text, other.end):
            names = read.said(one), read.said(other)
            yield _Span(one.core, other.core, names, (one.end, other.end))


def _is_year(read: _Read, one: Amount) -> bool:
    said = read.said(one)
    return len(said) == len("1914") and said.isdecimal()


def _year_of(day: float) -> int:
    # A year before Christ is rounded, so its first day may be a little too early.
    if day < 1:
        return math.floor(day / _DAYS_A_YEAR + 1e-6) + 1
    return date.fromordinal(int(day)).year


def _year(number: int) -> str:
    return str(number) if number > 0 else f"{1 - number} BC"


def _years(number: int) -> str:
    return f"{number} year{'' if number == 1 else 's'}"


def _in_spans(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say where the dates of a claim are: "1955 is between 1948 and 1960"."""
    wanted = [one for one in _other_dates(claim, read) if _is_short(one)]
    for span in _spans(read) if wanted else ():
        first, last, of_days = *(span.names or ("", "")), span.names is None
        for one in wanted:
            if one.core.high <= span.first.low:
                where = "earlier" if of_days else f"before {first}"
            elif one.core.low >= span.last.high:
                where = "later" if of_days else f"after {last}"
            elif span.first.low <= one.core.low and one.core.high <= span.last.high:
                where = "in between" if of_days else f"between {first} and {last}"
            else:
                continue
            yield Note(span.ends[1], f"{claim.read.said(one)} is {where}")


def _in_open_spans(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say on which side of a date those of a claim are: "since 1920 (1950 is after 1920)"."""
    wanted = [one for one in _other_dates(claim, read) if _is_short(one)]
    closed = _ends_of_spans(read) if wanted else set()
    for found in read.dates if wanted else ():
        if found.end not in closed and _is_short(found) and _OPEN_SPAN.search(read.before(found)):
            for one in wanted:
                if one.core.apart(found.core):
                    order = "before" if one.core.low < found.core.low else "after"
                    yield Note(found.end, f"{claim.read.said(one)} is {order} {read.said(found)}")


def _other_dates(claim: _Claim, read: _Read) -> list[Amount]:
    """Return the dates of a claim that no date of the text is equal to, however it is written."""
    known = {one.core for one in read.dates}
    return [one for one in claim.read.dates if one.core not in known]


def _is_short(one: Amount) -> bool:
    """Return whether a date is a year, a month or a day."""
    return one.core.high - one.core.low <= _MOST_DAYS_OF_A_YEAR


def _ends_of_spans(read: _Read) -> set[int]:
    return {end for span in _spans(read) for end in span.ends}


def _durations(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say how many years a span takes, or are between two dates, for a claim about years."""
    if not claim.asks_years:
        return
    spans = [*_spans(read)]
    for span in spans:
        if years := _years_between(span.first, span.last):
            is_life = claim.asks_age and _is_year_long(span.first) and _is_year_long(span.last)
            yield Note(
                span.ends[1], f"{years - 1} or {_years(years)}" if is_life else _years(years)
            )
    short = [one for one in read.dates if _is_short(one)]
    if not spans and len(short) == 2:
        one, other = short
        in_order = one.core.low < other.core.low
        years = _years_between(*((one.core, other.core) if in_order else (other.core, one.core)))
        if years and ". " not in read.between(one, other):
            order = "after" if in_order else "before"
            yield Note(other.end, f"{_years(years)} {order} {read.said(one)}")


def _years_between(first: Interval, last: Interval) -> int:
    """Return the whole years between two dates; between a year and any date those of the year."""
    if _is_year_long(first) or _is_year_long(last):
        return _year_of(last.low) - _year_of(first.low)
    # "1 January 2020 to 31 December 2024" are five years.
    return math.floor((last.low - first.low) / _DAYS_A_YEAR + 0.01)


def _is_year_long(span: Interval) -> bool:
    return span.high - span.low > _LONGEST_MONTH


_LONGEST_MONTH = 31
_ONE_SIDED = re.compile(r"\b(?:before|after|until|till|since|by)(?: the)? $", re.IGNORECASE)
_PARTS = {"early": (0.0, 0.6), "late": (0.4, 1.0), "mid": (0.2, 0.8)}


def _in_centuries(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say how a year, a decade and a century lie to each other: "1890s (in the 19th century)"."""
    wanted = [one for one in _other_dates(claim, read) if not one.ends]
    closed = _ends_of_spans(read) if wanted else set()
    for found in read.dates if wanted else ():
        if found.ends or found.end in closed or _ONE_SIDED.search(read.before(found)):
            continue
        for one in wanted:
            if _is_short(found) and _is_short(one):
                continue
            said = claim.read.said(one)
            if re.search(r"century|\ds$", said) and not said.lower().startswith("the "):
                said = f"the {said}"
            there, here = _part_of(read, found), _part_of(claim.read, one)
            if there.high <= here.low:
                yield Note(found.end, f"before {said}")
            elif there.low >= here.high:
                yield Note(found.end, f"after {said}")
            elif here.low <= there.low and there.high <= here.high:
                yield Note(found.end, f"in {said}")
            elif there.low <= here.low and here.high <= there.high:
                yield Note(found.end, f"perhaps {said}, perhaps another year")


def _part_of(read: _Read, one: Amount) -> Interval:
    """Return the time that a date means; "early" and "late" are a little more than halves."""
    low, length = one.core.low, one.core.high - one.core.low
    said = read.said(one).lower()
    begin, end = next((part for word, part in _PARTS.items() if said.startswith(word)), (0.0, 1.0))
    return Interval(low + begin * length, low + end * length, high_open=True)


# "Five years later", not "later than agreed" or "two years before the war".
_LATER = re.compile(
    r" (?:(?P<later>later|afterwards)|(?P<earlier>earlier|previously))\b(?! than)"
    r"| (?:(?P<after>after)|(?P<before>before))(?=[,.;)]|$)",
    re.IGNORECASE,
)
_AT_AGE = re.compile(r"\b(?:at (?:the )?age (?:of )?|aged )$", re.IGNORECASE)
_BORN = re.compile(r"\b(?:born|b\.)(?: (?:in|on|at|near)\b[^.;\d]{0,30})?,? ?$", re.IGNORECASE)
_OTHER_PERSON = re.compile(
    r"\. |\[SEP\]|\b(?:father|mother|husband|wife|son|daughter|brother|sister|child|children|who"
    r"|whom|whose|married)\b",
    re.IGNORECASE,
)
_OLDEST = 130


def _years_later(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say in which year "five years later" or "at the age of 80" is."""
    born = before = None
    for one in read.amounts if claim.read.dates else ():
        if one.dimension == DATE:
            before = one if _is_short(one) else None
            is_birth = _is_short(one) and _BORN.search(read.before(one))
            born = one if is_birth and not _OTHER_PERSON.search(read.before(one)) else born
            continue
        years = one.core.low / _SECONDS_A_DAY / _DAYS_A_YEAR if one.unit else one.core.low
        whole = round(years)
        word = _LATER.match(read.text, one.end) if one.dimension == "time" else None
        is_whole = whole >= 1 and abs(years - whole) < 0.01
        if word and is_whole and before and "[SEP]" not in read.between(before, one):
            sign = 1 if word["later"] or word["after"] else -1
            yield Note(word.end(), _year(_year_of(before.core.low) + sign * whole))
        elif (
            born is not None
            and one.dimension in ("", "time")
            and 0 < whole < _OLDEST
            and _AT_AGE.search(read.before(one))
            and not _OTHER_PERSON.search(read.between(born, one))
        ):
            then = _year_of(born.core.low) + whole
            yield Note(one.end, f"{then} or {then + 1}")


# Numbers


def _figure(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, as people write it: 1,240, 0.8."""
    if abs(value) >= _LARGEST:
        return f"{value:.{digits}g}"
    is_whole = abs(value) >= 1000 and abs(value - round(value)) < 1e-6
    rounded = float(round(value)) if is_whole else float(f"{value:.{digits}g}")
    in_digits = abs(rounded) >= 1000 or rounded.is_integer()
    return f"{rounded:,.0f}" if in_digits else f"{rounded:g}"


_NUMBER = re.compile(
    r"(?:[\d.,]+(?: (?:thousand|lakh|million|crore|billion|trillion))?|\w+(?:-\w+)?)[ \u00a0-]?"
)
_IS_UNIT = re.compile(r"(?!(?:hundred|thousand|million|billion|a|an|and)\b)[^\W\d][^\d]*|°.|%")
_DIFFERENCE = re.compile(r"\bby (?:about )?$", re.IGNORECASE)
_MORE_THAN_NOW = re.compile(r" (?:\w+er|more|less)\b")
_LARGEST_RATIO = {"time": 5.0}  # days are not given in years
_LARGEST_OTHER_RATIO = 100.0
_AGAIN = 12  # characters between a measurement and the same in another unit
_ROUNDED = 0.03  # share of a number by which a rounded conversion may be off


def _unit_words(read: _Read, one: Amount) -> str:
    number = _NUMBER.match(read.text, one.at, one.end)
    return read.text[number.end() : one.end] if number else ""


def _converted(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say a measurement in the unit of the claim: "30 °C (86 °F)"."""
    for wanted in claim.read.numbers:
        words = _unit_words(claim.read, wanted)
        if wanted.unit is None or not _IS_UNIT.fullmatch(words):
            continue
        for place, one in enumerate(read.numbers):
            if one.unit is None or one.dimension != wanted.dimension or one.unit == wanted.unit:
                continue
            after = read.numbers[place + 1 : place + 2]
            if after and after[0].unit == wanted.unit and after[0].start - one.end < _AGAIN:
                continue  # it is said again in this unit
            is_difference = _DIFFERENCE.search(read.before(one)) or any(
                _MORE_THAN_NOW.match(text.text, each.end)
                for text, each in ((read, one), (claim.read, wanted))
            )
            if one.dimension == TEMPERATURE and is_difference:
                continue
            value, said = (wanted.unit.from_base(each.core.low) for each in (one, wanted))
            largest = _LARGEST_RATIO.get(wanted.dimension, _LARGEST_OTHER_RATIO)
            if one.dimension != TEMPERATURE and not said / largest < value < said * largest:
                continue
            step = wanted.step / wanted.unit.factor
            is_near = abs(value - said) <= min(step / 2, _ROUNDED * abs(said))
            yield Note(one.end, f"{_figure(said, 6) if is_near else _figure(value)} {words}")


_WORDS_AFTER = re.compile(r"(?: [a-z-]+){0,3}")
_NO_OR_NOT = re.compile(r"\Anot? ")


def _within_limits(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say whether a number is within the limits of the claim: "425 (not more than 430)".

    A number without a unit must count what the limit counts.
    """
    found = [one for one in with_limits(read.text, read.amounts) if one.kind != "limit"]
    for limit in claim.limits:
        words = claim.read.text[limit.start : limit.end].strip()
        words = words[:1].lower() + words[1:]
        alike = [one for one in found if one.dimension == limit.dimension]
        if not limit.dimension:
            nouns = _nouns_after(claim.read.text, limit.end)
            alike = [one for one in alike if nouns & _nouns_after(read.text, one.end)]
        for one in alike:
            if one.core == limit.core or (one.kind == "about" and one.dimension == DATE):
                continue
            if one.core.within(limit.core):
                yield Note(one.end, words)
            elif one.core.apart(limit.core):
                positive = _NO_OR_NOT.sub("", words)  # no "not no more than 5"
                yield Note(one.end, positive if positive != words else f"not {words}")


def _nouns_after(text: str, at: int) -> set[str]:
    found = _WORDS_AFTER.match(text, at)
    return {stem(word) for word in found[0].split() if len(word) > len("the")} if found else set()


_THE = r"(?:the|its|their|all|his|her|our|these|those|a total of|every|some)"
_SHARE_OF = re.compile(
    rf"(?: [\w-]+){{0,3}}? (?:out of (?:{_THE} )?|of {_THE} (?:{_THE} )?)| of ", re.IGNORECASE
)
_OF_THEM = re.compile(r" of (?:them|these|those|whom|which)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r" (?:in|of) (?:the )?$", re.IGNORECASE)
_OF_FIRST = re.compile(
    r"(?:^|[.;:,] )of (?:(?:the|its|their|all|our|his|her|these|a total of|some|about) ){0,2}$",
    re.IGNORECASE,
)
_THEN = re.compile(r"[^,.;]{0,50}, ?[^,.;]{0,15}")


def _shares(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say which share "45 of 60", "45 out of 60", "of 60, 45" and "45 of them" are."""
    if not (claim.asks_percent or claim.asks_share):
        return
    counts = [one for one in read.numbers if not one.dimension]
    for one, other in pairwise(counts):
        gap, them = read.between(one, other), _OF_THEM.match(read.text, other.end)
        if _SHARE_OF.fullmatch(gap):
            part, whole, end = one, other, other.end
        elif them and ". " not in gap and not _OF_OTHERS.search(read.before(other)):
            part, whole, end = other, one, them.end()
        elif _OF_FIRST.search(read.before(one)) and _THEN.fullmatch(gap):
            part, whole, end = other, one, other.end
        else:
            continue
        if 0 < part.core.low < whole.core.low:
            share = part.core.low / whole.core.low
            half = "half" if share == 0.5 else f"{'more' if share > 0.5 else 'less'} than half"
            said = f"{claim.percent(share)} of {read.said(whole)}"
            yield Note(end, f"{said}, {half}" if claim.asks_share else said)


_ROSE = re.compile(
    r"""\b(?:grew|grown?|ris(?:es?|en)|rose|increas\w+|gain\w*|f[ae]lls?|fallen|drop\w*|declin\w+
    |shr[aiu]nk\w*|s[aiu]nk|decreas\w+|climb\w*|jump\w*|rais\w+|cut|went|gone|reduc\w+|lower\w+
    |improv\w+|slipp?\w*|up|down)\b[^.;]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_RISE_TO = re.compile(r"(?: [\w-]+){0,3} to (?:(?:just|about|some|only|over) )?", re.IGNORECASE)
_FROM = re.compile(r"\bfrom (?:(?:about|some|just|only) )?$", re.IGNORECASE)
_CELL = re.compile(r": -?[$€£]?")
_LABEL = re.compile(r"(?:^|[,:;.] )(?P<label>(?:[^,:;.\d][^,:;\d]*)?)$")


def _changes(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say by how much a number rises or falls: in two years of a row, or "rose from … to"."""
    if not (claim.asks_change or claim.asks_percent):
        return
    pairs = [*_cells(claim, read)]
    pairs += [
        (one, other)
        for one, other in pairwise(read.numbers)
        if one.dimension in ("", other.dimension)
        and _RISE_TO.fullmatch(read.between(one, other))
        and _FROM.search(read.before(one))
        and _ROSE.search(read.before(one, 100))
    ]
    for one, other in pairs:
        yield from _changed(claim, read, one, other)


def _cells(claim: _Claim, read: _Read) -> Iterator[tuple[Amount, Amount]]:
    """Yield two cells of a row that differ in their years alone, of the claim's years if it can."""
    wanted = sorted({one.core.low for one in claim.read.dates})
    columns: dict[tuple[int, str, str], list[tuple[Amount, Amount]]] = defaultdict(list)
    for when, value in pairwise(read.amounts):
        if when.dimension != DATE or value.dimension == DATE:
            continue
        label = _LABEL.search(read.before(when, 60))
        if label is None or not _CELL.fullmatch(read.between(when, value)):
            continue
        row = max(read.text.rfind(end, 0, when.start) for end in (". ", "[SEP]"))
        columns[row, label["label"].strip().lower(), value.dimension].append((when, value))
    for cells in columns.values():
        chosen = sorted(cells, key=lambda cell: cell[0].core.low)
        if len(wanted) > 1:
            chosen = [cell for cell in chosen if cell[0].core.low in wanted]
        elif wanted:
            at = [number for number, cell in enumerate(chosen) if cell[0].core.low in wanted]
            chosen = chosen[at[0] - 1 : at[0] + 1] if at and at[0] else []
        if len(chosen) > 1:
            yield chosen[0][1], chosen[-1][1]


_SCALE = re.compile(r"\b(?:thousand|lakh|million|crore|billion|trillion)\b", re.IGNORECASE)


def _changed(claim: _Claim, read: _Read, one: Amount, other: Amount) -> Iterator[Note]:
    if _SCALE.search(read.said(other)) and not _SCALE.search(read.said(one)):
        return  # "from 5 to 7 million"
    unit = other.unit
    first = unit.in_base(one.core.low) if unit and not one.unit else one.core.low
    by, end = other.core.low - first, max(one.end, other.end)
    if not by:
        yield Note(end, "no change")
        return
    figure = _figure(abs(by) / (unit.factor if unit else 1), 9)
    if other.dimension == PERCENT:
        figure += " percentage points"
    elif other.dimension != TEMPERATURE and first > 0 and other.core.low >= 0:
        figure += f" or {claim.percent(abs(by / first))}"
    ends = (read.text[each.at : each.end] for each in (one, other))
    yield Note(end, f"{'up' if by > 0 else 'down'} by {figure} from {' to '.join(ends)}")


_LEAST_LARGE, _MOST_ZEROS, _CERTAIN_ZEROS = 10, 12, 3


def _powers_of_ten(claim: _Claim, read: _Read) -> Iterator[Note]:
    """Say that a number is 10, 100, … times that of the claim."""
    known = {one.core.low for one in read.numbers}
    for wanted in claim.read.numbers:
        value = wanted.core.low
        if value in known or value < _LEAST_LARGE:
            continue
        nouns = _nouns_after(claim.read.text, wanted.end)
        for one in read.numbers:
            if one.dimension != wanted.dimension or one.unit != wanted.unit or one.core.low <= 0:
                continue
            power = math.log10(one.core.low / value)
            zeros = abs(round(power))
            is_power = 0 < zeros <= _MOST_ZEROS and abs(power - round(power)) < 1e-9
            same_thing = one.unit or nouns & _nouns_after(read.text, one.end)
            if is_power and (same_thing or zeros >= _CERTAIN_ZEROS):
                said, times = claim.read.said(wanted), f"{10**zeros:,} times"
                yield Note(
                    one.end, f"{times} {said}" if power > 0 else f"{said} is {times} as much"
                )


_Rule: TypeAlias = Callable[[_Claim, _Read], Iterator[Note]]
_RULES: Sequence[_Rule] = (
    _in_spans,
    _in_open_spans,
    _durations,
    _in_centuries,
    _years_later,
    _converted,
    _within_limits,
    _shares,
    _changes,
    _powers_of_ten,
)
