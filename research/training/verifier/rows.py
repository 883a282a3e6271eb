"""Readings of the rows of tables, made by rule: what a cell says, what changed, which row has more.

Rows are read as the product reads them: "Offence: Fraud, 2022: 688, 2023: 790." They are of the
papers that are trained on. A verifier that saw few of them confuses the cells of a row.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from research.training.loop import Example, labelled
from research.training.papers import LONGEST, paper_sentences
from retrieval.text.context import evidence_set_text
from retrieval.types import REFUTES, SUPPORTS

_BETWEEN_CELLS = re.compile(r", (?=[^,:]{1,60}: )")
_NUMBER = r"[-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_FIGURE = re.compile(rf"(?P<number>{_NUMBER})(?P<unit>(?: ?%| [a-z]+){{0,3}})")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_INVERSE = re.compile(r"rank|place|position|grade|mark|loss|deficit|debt|\bor\b", re.IGNORECASE)
_MOST_OF_A_ROW = 4  # cells that claims are made of

_LOOK_UP: tuple[str, ...] = (
    "{Name}: the {head} was {value}.",
    "The {head} of {name} is {value}.",
    "For {name}, {value} is given as {head}.",
    "{name} {head} {value}",
    "{value} {head} {name}",
)
_LOOK_UP_IN_YEAR: tuple[str, ...] = (
    "{Name} had {value} in {year}.",
    "In {year}, {name} stood at {value}.",
    "{Name} was {value} in {year}.",
    "{name} {year} {value}",
)
_CHANGES: tuple[tuple[str, str], ...] = (
    ("{What} rose from {then} to {now}.", "{What} fell from {then} to {now}."),
    ("{What} was higher in {now} than in {then}.", "{What} was lower in {now} than in {then}."),
    ("{what} more in {now} than {then}", "{what} less in {now} than {then}"),
    ("{What} went up between {then} and {now}.", "{What} went down between {then} and {now}."),
    ("{what} up {now} compared with {then}", "{what} down {now} compared with {then}"),
)
_ROWS: tuple[tuple[str, str], ...] = (
    ("{Name} has more {head} than {other}.", "{Name} has less {head} than {other}."),
    ("{head} higher for {name} than for {other}", "{head} lower for {name} than for {other}"),
    ("{Name} is above {other} in {head}.", "{Name} is below {other} in {head}."),
)
_ROWS_IN_YEAR: tuple[tuple[str, str], ...] = (
    ("{Name} had more than {other} in {head}.", "{Name} had less than {other} in {head}."),
    ("{head} higher for {name} than for {other}", "{head} lower for {name} than for {other}"),
    ("In {head}, {name} was above {other}.", "In {head}, {name} was below {other}."),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the text of its first cell, its figures by their heads, and how it is read."""

    name: str
    figures: dict[str, str]
    read: tuple[str, str]

    def more(self, head: str, other: Row, other_head: str) -> float:
        """Return by how much a figure is above one of a row; 0 if they cannot be compared.

        That is so with different units, and with ranks and losses, where more may be the smaller
        number.
        """
        one = _FIGURE.fullmatch(self.figures[head])
        two = _FIGURE.fullmatch(other.figures[other_head])
        assert one is not None
        assert two is not None
        inverse = _INVERSE.search(f"{head} {self.name} {one['unit']}")
        if inverse or one["unit"] != two["unit"] or min(_number(one), _number(two)) < 0:
            return 0.0
        return _number(one) - _number(two)


def row_examples(papers: Path, seed: int) -> list[Example]:
    """Return readings of the rows of all papers, drawn by ``seed``; raises as ``paper_pairs``."""
    chance, examples = random.Random(seed), list[Example]()
    for sentences in paper_sentences(papers):
        rows = [row for read in sentences if (row := _row(read)) is not None]
        for row in rows:
            beside = [other for other in rows if other.figures.keys() == row.figures.keys()]
            beside = [other for other in beside if other.name != row.name]
            examples += _look_ups(row, beside, chance)
            examples += _changes(row, chance)
            examples += _compared(row, beside, chance)
    return [example for example in examples if example.length <= LONGEST]


def _row(read: tuple[str, str]) -> Row | None:
    cells = [cell.partition(": ") for cell in _BETWEEN_CELLS.split(read[1].rstrip("."))]
    if len(cells) < 2 or not all(value for _, _, value in cells):
        return None
    figures = {head: value for head, _, value in cells[1:] if _FIGURE.fullmatch(value)}
    name = cells[0][2]
    is_name = _YEAR.fullmatch(name) or not _FIGURE.fullmatch(name)
    return Row(name, figures, read) if figures and is_name else None


def _look_ups(row: Row, beside: Sequence[Row], chance: random.Random) -> Iterator[Example]:
    """Yield a cell as a claim, and with the figure of another cell of the row or of the column."""
    evidence = evidence_set_text([row.read])
    for head in chance.sample([*row.figures], min(_MOST_OF_A_ROW, len(row.figures))):
        value, forms, words = row.figures[head], _LOOK_UP, {"name": row.name, "head": head}
        if _YEAR.fullmatch(head):
            forms, words = _LOOK_UP_IN_YEAR, {"name": row.name, "year": head}
        elif _YEAR.fullmatch(row.name):
            forms, words = _LOOK_UP_IN_YEAR, {"name": head, "year": row.name}
        form = chance.choice(forms)
        others = {*row.figures.values(), *(other.figures[head] for other in beside)}
        wrong = sorted(other for other in others if _digits(other) != _digits(value))
        yield labelled(_claim(form, value=value, **words), evidence, SUPPORTS)
        if wrong:
            yield labelled(_claim(form, value=chance.choice(wrong), **words), evidence, REFUTES)


def _changes(row: Row, chance: random.Random) -> Iterator[Example]:
    """Yield what rose or fell between two columns that differ only in their years."""
    for one, other in combinations(row.figures, 2):
        years = sorted((year[0], head) for head in (one, other) if (year := _YEAR.search(head)))
        if len(years) < 2 or _YEAR.sub("", one) != _YEAR.sub("", other):
            continue
        (then, first), (now, last) = years
        what = " ".join(f"{row.name} {_YEAR.sub('', one)}".split())
        words = {"what": what, "then": then, "now": now}
        evidence = evidence_set_text([row.read])
        yield from _both_ways(_CHANGES, row.more(last, row, first), evidence, words, chance)


def _compared(row: Row, beside: Sequence[Row], chance: random.Random) -> Iterator[Example]:
    """Yield which of two rows has more in a column, or what changed from one to the other."""
    if not beside:
        return
    other, head = chance.choice(beside), chance.choice([*row.figures])
    forms, words = _ROWS, {"name": row.name, "head": head, "other": other.name}
    if _YEAR.fullmatch(row.name) and _YEAR.fullmatch(other.name):
        row, other = sorted((row, other), key=lambda one: one.name, reverse=True)
        forms, words = _CHANGES, {"what": head, "then": other.name, "now": row.name}
    elif _YEAR.fullmatch(head):
        forms = _ROWS_IN_YEAR
    evidence = evidence_set_text([row.read, other.read])
    yield from _both_ways(forms, row.more(head, other, head), evidence, words, chance)


def _both_ways(
    forms: Sequence[tuple[str, str]],
    more: float,
    evidence: str,
    words: Mapping[str, str],
    chance: random.Random,
) -> Iterator[Example]:
    """Yield a claim that it is more and one that it is less; none if it is neither."""
    if more:
        for form, is_more in zip(chance.choice(forms), (True, False), strict=True):
            label = SUPPORTS if is_more == (more > 0) else REFUTES
            yield labelled(_claim(form, **words), evidence, label)


def _claim(form: str, **words: str) -> str:
    said = {word: text.replace("_", " ") for word, text in words.items()}
    said |= {word.capitalize(): text[:1].upper() + text[1:] for word, text in said.items()}
    return form.format(**said)


def _number(figure: re.Match[str]) -> float:
    return float(figure["number"].replace(",", "").replace("\N{MINUS SIGN}", "-"))


def _digits(figure: str) -> str:
    return re.sub(r"\D", "", figure)
