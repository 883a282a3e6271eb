"""Reads rows of tables back from their sentences, and what a claim asks of them.

A row is a sentence: "Port: Veska, Cargo 2020 (tonnes): 410,000, Cargo 2021 (tonnes): 455,000."
(``retrieval.corpora.folder.tables``). A verifier confuses the columns of a row, but not cells that
are sentences of their own: "The Cargo 2021 (tonnes) of Veska is 455,000." A claim becomes
statements with a gap for a number: "Veska handled {} in 2021". The verifier says which cell fills a
gap (``retrieval.stages.decide.tables``); what follows from the cells is computed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval.quantities.amounts import PERCENT, currency_before, numerals, unit_after
from retrieval.quantities.reading import DATE, Quantity, quantities
from retrieval.text.english import SUBJECTS, SUPERLATIVES
from retrieval.types import REFUTES, SUPPORTS, Label, Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc

# A number with its unit; not "12.500", which is twelve or twelve thousand.
_FIGURE = re.compile(
    r"[-+−]?(?:US\$|[$€£])?(?!\d{1,3}\.\d{3}\b)\d[\d,.]*(?: ?%| [a-z ]{1,24})?"  # noqa: RUF001
)
_TOTAL = re.compile(r"\b(?:total|sum|all|overall)\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(([^()]+)\)$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table with its unit (``words``), and the names of its column and its row.

    ``sentence``: that of the row. ``value``: the number alone, a thousand of it as it is.
    """

    row: str
    column: str
    words: str
    value: float
    sentence: Sentence

    @property
    def said(self) -> str:
        """The cell as a sentence."""
        return f"The {self.column} of {self.row} is {self.words}."


@dataclass(frozen=True, slots=True)
class Row:
    """A row: what names it, its other words, its numbers by the names of their columns."""

    name: str
    texts: tuple[str, ...]
    cells: dict[str, Cell]

    @property
    def is_total(self) -> bool:
        """Whether it sums up the others."""
        return bool(_TOTAL.search(self.name))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the same columns; ``title``: what all of them begin with, below a ``heading``."""

    heading: str
    title: str
    rows: tuple[Row, ...]

    def total(self, column: str) -> Cell | None:
        """Return the sum of a column, if a row says it."""
        rows = (row.cells.get(column) for row in self.rows if row.is_total)
        return next(filter(None, rows), None)

    def column(self, name: str, among: str) -> list[Cell]:
        """Return the cells of a column, without sums; if words name rows, of these alone."""
        rows = [row for row in self.rows if name in row.cells and not row.is_total]
        named = [row for row in rows if any(len(text) > 2 and text in among for text in row.texts)]
        return [row.cells[name] for row in named or rows]


_Parts: TypeAlias = list[tuple[str, str]]


def tables_in(heading: str, sentences: Iterable[Sentence]) -> Iterator[Table]:
    """Yield the tables whose rows are among the sentences below a heading."""
    rows: dict[tuple[str, ...], list[tuple[Sentence, _Parts]]] = defaultdict(list)
    for sentence in sentences:
        parts = _parts(sentence.text)
        if columns := tuple(name for name, value in parts if name and _FIGURE.fullmatch(value)):
            rows[columns].append((sentence, parts))
    for found in rows.values():
        in_all = set.intersection(*(set(parts) for _, parts in found)) if len(found) > 1 else set()
        common = [part for part in found[0][1] if part in in_all and not _is_cell(part)]
        title = ", ".join(": ".join(filter(None, part)) for part in common)
        yield Table(heading, title, tuple(_row(*row, common) for row in found))


def _parts(sentence: str) -> _Parts:
    """Return the cells of a row with the names of their columns, "" if they have none."""
    cut = (part.rpartition(": ") for part in sentence.removesuffix(".").split(", "))
    return [(name, value) for name, _, value in cut]


def _is_cell(part: tuple[str, str]) -> bool:
    return bool(part[0] and _FIGURE.fullmatch(part[1]))


def _row(sentence: Sentence, parts: _Parts, common: _Parts) -> Row:
    name, *texts = [part[1] for part in parts if part not in common and not _is_cell(part)] or [""]
    cells = {}
    for part in filter(_is_cell, parts):
        column, text = part
        words, number = _with_unit(text, column), next(numerals(text), None)
        if number is not None:
            cells[column] = Cell(name, column, words, number.value, sentence)
    return Row(name, tuple(texts), cells)


def _with_unit(text: str, column: str) -> str:
    """Return a number with the unit in the name of its column: 12 of "Length (km)"."""
    unit = _IN_BRACKETS.search(column)
    words = f"{text} {unit[1]}" if unit else text
    number = next(numerals(words), None)
    return words if number and unit_after(words, number.end) else text


Rule: TypeAlias = Callable[[Sequence[float]], Label | None]
"""What numbers say about a claim, None if nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a claim asks of a table: statements with a gap ("{}"), and what their numbers mean.

    ``of``: what ``rule`` is given: the numbers of the gaps; that of the first and those of its
    column; or that of the first and the sum of its column, which is "whole" if a row says it.
    ``stated``: the quantity of the claim in each gap, if it has one. "{row}" is the name of a row.
    ``among``: words that may name the rows that are summed or compared. ``unsigned``: a loss of 4
    is -4.
    """

    gaps: tuple[str, ...]
    rule: Rule
    of: Literal["gaps", "column", "sum", "whole"] = "gaps"
    stated: tuple[Quantity, ...] = ()
    among: str = ""
    unsigned: bool = False


_NOT = re.compile(
    r"\b(?:no|not|none|nobody|never|neither|nor|any|every|except)\b|n['\u2019]t\b|\?", re.I
)
_TIMES = {"twice": 2.0, "double": 2.0, "three times": 3.0, "four times": 4.0, "half": 0.5}
_MORE = {"more", "higher", "larger", "bigger", "greater", "most", "highest", "largest", "biggest",
         "greatest", "newest", "youngest"}  # fmt: skip
_LESS = {"fewer", "less", "lower", "smaller", "fewest", "least", "lowest", "smallest", "oldest"}
_WORD = "|".join(sorted(_MORE | _LESS))
_OF_AGE, _OF_NUMBER = {"newest", "youngest", "oldest"}, {"most", "fewest", "least"}
_THAN = re.compile(
    r"(?P<before>.*?)(?:(?:much|far|slightly|many|considerably|significantly) )?\b"
    rf"(?P<word>{_WORD})(?P<of> [^,]*?)? than (?P<second>[^\d].*)",
    re.IGNORECASE,
)
_AS = re.compile(
    rf"(?P<before>.*?)\b(?P<times>{'|'.join(_TIMES)})"
    r"(?: as (?:many|much|large|high|big)(?P<of>.*?) as| (?=that of)) ?(?P<second>.+)",
    re.IGNORECASE,
)
_MOST = re.compile(
    rf"(?P<subject>.+?) (?P<verb>\w+) the (?P<word>{_WORD})(?: (?P<of>(?!in |of |by )[^,]+?))?"
    r"(?: (?:of|among) (?:the|all)[^,]*?)?(?P<tail> (?:in|on|at|of|during) .*?)?"
    r"(?: by (?P<by>\w+))?"
)
_PREPOSITION = re.compile(r"(?:in|on|at|during|for|from|to|of) ")
_TAIL = re.compile(r" (?:in|on|at|during|by)(?: \w+){0,3} \d{4}$")
_AGAIN = re.compile(r" (?:is|are|was|were|has|have|had|does|do|did)$")
_RISES = {"rise", "grow", "increase", "climb", "double", "triple"}
_FALLS = {"fall", "drop", "decrease", "decline", "shrink", "halve"}
_FACTORS = {"double": 2.0, "triple": 3.0, "halve": 0.5}
_PERIODS = re.compile(r"\b(?:from|between|in) .*?(\d{4})\b.*? (?:to|and) .*?(\d{4})\b")
_TOGETHER = re.compile(r",? (?:together|altogether|combined|in total|in all)\b")
_SHARE = re.compile(
    r"\b(?:(?P<more>more than|over|at least)|(?P<less>less than|under|at most)|about|nearly)?\s*"
    r"(?:(?P<part>half|(?:a|one) third|(?:a|one) quarter|two thirds)"
    r"|(?P<percent>[\d.]+) ?(?:%|per ?cent)) of\b",
    re.IGNORECASE,
)
_PARTS = {"half": 50.0, "third": 100 / 3, "quarter": 25.0, "thirds": 200 / 3}
_LOSS = re.compile(r"\b(?:(?P<loss>loss|deficit)|profit|surplus)\b(?: of)?")
_CONVERTED = 0.01  # share by which a number of another unit may be rounded
_NEAR = 0.03  # share by which "twice", "12 %" or a share may be rounded


def asked(claim: Doc) -> Asked | None:
    """Return what a claim may ask of a table; None if it has no number and compares nothing."""
    text = claim.text.strip().rstrip(".!")
    if _NOT.search(text):
        return None
    kinds = (_change, _times, _share, _than, _most, _number)
    return next(filter(None, (kind(claim, text) for kind in kinds)), None)


def _change(claim: Doc, text: str) -> Asked | None:
    """Of "Sales rose from 12 in 2020 to 15 in 2021", "Sales fell by 4 % from 2020 to 2021"."""
    verb = next((t for t in claim if t.pos_ == "VERB" and t.lemma_ in _RISES | _FALLS), None)
    years = _PERIODS.search(text, verb.idx) if verb is not None else None
    if verb is None or years is None:
        return None
    stated = [one for one in quantities(claim) if one.dimension != DATE and one.at > verb.idx]
    percent = next((1 + one.core.low / 100 for one in stated if one.dimension == PERCENT), None)
    if percent is not None and verb.lemma_ in _FALLS:
        percent = 2 - percent
    factor = _FACTORS.get(verb.lemma_, percent)
    if len(stated) != (1 if percent is not None else 0) and len(stated) != 2:
        return None

    def rule(values: Sequence[float]) -> Label | None:
        first, last = values
        if first == last or (last > first) != (verb.lemma_ in _RISES):
            return REFUTES
        return SUPPORTS if factor is None else _same(last, factor * first)

    gaps = (f"{text[: verb.idx]}was {{}} in {year}" for year in years.groups())
    return Asked(tuple(gaps), rule, stated=tuple(stated) if len(stated) == 2 else ())


def _times(claim: Doc, text: str) -> Asked | None:
    """Of "A has twice as many members as B", "The height of A is twice that of B"."""
    found = _AS.fullmatch(text)
    times = _TIMES[found["times"].lower()] if found else 0
    gaps = found and _gaps(claim, f"{found['before']}{{}}{found['of'] or ''}", found["second"])
    return Asked(gaps, lambda values: _same(values[0], times * values[1])) if gaps else None


def _than(claim: Doc, text: str) -> Asked | None:
    """Of "A has more members than B", "A had fewer members in 2020 than in 2019"."""
    found = _THAN.fullmatch(text)
    if found is None:
        return None
    first = f"{found['before']}{{}}{found['of'] or ''}"
    if found["before"].endswith(" a "):  # "a larger area"
        first = f"{found['before']}{(found['of'] or '').strip()} of {{}}"
    more, gaps = found["word"].lower() in _MORE, _gaps(claim, first, found["second"])
    return Asked(gaps, lambda values: _is_more(values[0], values[1], more)) if gaps else None


def _gaps(claim: Doc, first: str, second: str) -> tuple[str, ...] | None:
    """Return the two statements of a comparison: the second has other words in one place."""
    second = _AGAIN.sub("", second.removeprefix("that "))
    found = _TAIL.search(second)
    tail = found[0] if found else ""
    second = second.removesuffix(tail)
    if preposition := _PREPOSITION.match(second):
        end = r"(?=$| (?:in|on|at|during|is|was|are|were)\b)"
        places = list(re.finditer(rf"\b{preposition[0]}[^,{{}}]*?{end}", first))
        other = (
            f"{first[: places[-1].start()]}{second}{first[places[-1].end() :]}" if places else ""
        )
    else:
        subject = _subject(claim)
        other = f"{second}{first[len(subject) :]}" if subject and first.startswith(subject) else ""
    return (f"{first}{tail}", f"{other}{tail}") if other else None


def _subject(claim: Doc) -> str:
    """Return the words of the subject, which a claim begins with, or else ""."""
    subject = next((token for token in claim if token.dep_ in SUBJECTS), None)
    words = list(subject.subtree) if subject is not None else []
    return claim.text[: words[-1].idx + len(words[-1])] if words and words[0].i == 0 else ""


def _most(claim: Doc, text: str) -> Asked | None:
    """Of "A has the most members", "A has the highest price", "A is the oldest ship"."""
    found = _MOST.fullmatch(text)
    if found is None or not any(token.tag_ in SUPERLATIVES for token in claim):
        return None
    subject, verb, word = found["subject"], found["verb"], found["word"].lower()
    of, tail = found["of"] or "", found["tail"] or ""
    if word in _OF_AGE:
        gaps = tuple(f"{subject} was {done} in {{}}" for done in ("founded", "built", "opened"))
    elif found["by"]:
        gaps = (f"{subject} has {{}} {found['by']}{tail}",)
    elif word in _OF_NUMBER:
        gaps = (f"{subject} {verb} {{}} {of}{tail}",)
    elif verb in ("is", "was"):
        gaps = (f"{subject} has a size of {{}}", f"{subject} has a capacity of {{}}")
    else:
        gaps = (f"{subject} {verb} a {of} of {{}}{tail}",)

    def rule(values: Sequence[float]) -> Label | None:
        own, *others = values if word in _MORE else [-value for value in values]
        if not others or own == max(others):
            return None
        return SUPPORTS if own > max(others) else REFUTES

    return Asked(gaps, rule, "column", among=text[found.end("word") :])


def _share(claim: Doc, text: str) -> Asked | None:
    """Of "Schools account for more than half of the budget"."""
    found = _SHARE.search(text)
    if found is None:
        return None
    share = float(found["percent"] or _PARTS[found["part"].lower().split()[-1]])

    def rule(values: Sequence[float]) -> Label | None:
        own = 100 * values[0] / values[1] if values[1] else 0.0
        if found["more"] or found["less"]:
            return _is_more(own, share, bool(found["more"]))
        return _same(own, share)

    return Asked((f"{text[: found.start()]}{{}} of{text[found.end() :]}",), rule, "whole")


def _number(claim: Doc, text: str) -> Asked | None:
    """Of a claim with one number, perhaps a sum: "The ports handled 700 tonnes together"."""
    found, loss = list(quantities(claim)), _LOSS.search(text)
    is_sum = _TOGETHER.search(text) is not None
    stated = [one for one in found if one.dimension != DATE]
    if loss:

        def sign(values: Sequence[float]) -> Label:
            return SUPPORTS if (values[0] < 0) == bool(loss["loss"]) else REFUTES

        if not stated:
            return Asked(
                (f"{text[: loss.end()]} of {{}}{text[loss.end() :]}",), sign, unsigned=True
            )
    stated = stated or ([] if is_sum else found)
    if is_sum:  # not of "the two ports"
        stated = stated[-1:]
    if len(stated) != 1:
        return None
    (claimed,) = stated
    start = claimed.at if claimed.dimension == DATE else claimed.start
    gap = f"{text[:start]}{{}}{text[claimed.end :]}"
    if not is_sum:
        rule = sign if loss else _always
        return Asked((gap,), rule, stated=(claimed,), unsigned=loss is not None)
    gap, subject = _TOGETHER.sub("", gap), _subject(claim)
    if not subject or not gap.startswith(subject):
        return None
    return Asked((f"{{row}}{gap[len(subject) :]}",), _always, "sum", (claimed,), text)


def _always(_: Sequence[float]) -> Label:
    return SUPPORTS


def _is_more(one: float, other: float, more: bool) -> Label:
    return SUPPORTS if one != other and (one > other) == more else REFUTES


def _same(one: float, other: float) -> Label | None:
    apart = abs(one - other) / max(abs(one), abs(other), 1e-9)
    return SUPPORTS if apart <= _NEAR else REFUTES if apart > 2 * _NEAR else None


def in_place(claimed: Quantity, cell: Cell) -> str:
    """Return a cell's number with its own unit or else the claim's; "" if they differ."""
    own = _unit(cell.words)
    if own is None and claimed.unit is not None:
        number = next(numerals(claimed.said), None)
        if number is None:
            return ""
        return f"{claimed.said[: number.start]}{cell.words}{claimed.said[number.end :]}"
    if own is not None and own not in claimed.dimension and claimed.dimension not in own:
        return ""
    return "" if own is not None and claimed.unit is None else cell.words


def fits(stated: Quantity, found: Quantity) -> Label:
    """Return whether the number of a cell makes that of a claim true, which may be rounded."""
    known = found.core.widened(_CONVERTED * abs(found.core.low) * (stated.unit != found.unit))
    said = stated.reach if stated.kind in ("exact", "about") else stated.core
    return REFUTES if known.apart(said) else SUPPORTS


def _unit(words: str) -> str | None:
    """Return the dimension of the unit of a number, None if it has none."""
    number = next(numerals(words), None)
    if number is None:
        return None
    found = unit_after(words, number.end) or currency_before(words, number.start)
    return found[0].dimension if found else None
