"""The stage ``tables``: the verifier reads the cells that a claim is about, arithmetic the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.quantities.amounts import numerals
from retrieval.quantities.halves import Ruling
from retrieval.quantities.reading import quantities
from retrieval.quantities.tables import Asked, Cell, Row, Table, asked, fits, in_place, tables_in
from retrieval.stages.decide.comparison import supported_by, with_ruling
from retrieval.stages.stage import ClaimState, Makers, Stage, Step
from retrieval.text.english import EnglishParser
from retrieval.text.word_forms import stems_in
from retrieval.types import REFUTES, SUPPORTS, SentenceKey
from retrieval.words import counted

_LEAST = 0.4  # probability that a cell supports a filled gap
_SHARE = 0.85  # of the odds of all cells that the best one must have
_MOST_ROWS, _MOST_CELLS = 3, 16  # that are read for a gap
_CUT = 600  # characters: a passage with fewer is all of its section (``corpora.passages``)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class _Filled:
    """A statement with a cell's number in its gap, in these ``words``."""

    statement: str
    words: str
    cell: Cell
    table: Table
    probability: float = 0.0

    @property
    def text(self) -> tuple[str, str]:
        """The title and the sentence that the verifier reads with the statement."""
        return ", ".join(filter(None, (self.table.heading, self.table.title))), self.cell.said

    @property
    def odds(self) -> float:
        """The odds that the cell supports the statement."""
        return self.probability / (1.001 - self.probability)


class _Answer(NamedTuple):
    """What a table says about a claim; ``rows``: the sentences that say it, the best last."""

    ruling: Ruling
    table: Table
    rows: list[SentenceKey]


class TableReader(Stage):
    """Decides claims on one table: a look-up, a comparison, a change, a share, a sum, the most.

    The verifier reads the claim with the number of a cell, and that cell as a sentence, since it
    confuses the cells of a whole row. Arithmetic says what follows from those that it supports.
    """

    def __init__(self, parser: EnglishParser, model: EvidenceModel) -> None:
        """``model`` is the verifier."""
        self._parser = parser
        self._model = model

    def run(self, state: ClaimState) -> Step:
        """Put the rows that decide a claim on a table first, and add to ``rulings``."""
        question = asked(state.parsed)
        answer = self._answer(question, state) if question is not None else None
        if answer is None:
            return Step(state, "")
        known = {item.key: item for item in (*state.read, *state.evidence)}
        rows = [known[key] for key in answer.rows if key in known]
        if not rows:
            return Step(state, "")
        *before, last = rows
        path = tuple(item.key for item in before)
        item = replace(last, opinion=answer.ruling.opinion, path=path, alone=None)
        # What the verifier makes of other rows is a guess.
        guesses = {cell.sentence.key for row in answer.table.rows for cell in row.cells.values()}
        guesses -= {*answer.rows}
        left = tuple(one for one in state.evidence if one.key not in guesses)
        ruled = with_ruling(replace(state, evidence=left), item, answer.ruling)
        return Step(ruled, "Computed with the cells of a table")

    def _answer(self, question: Asked, state: ClaimState) -> _Answer | None:
        tables = list(self._tables(question, state))
        gaps = [list(self._filled(question, n, tables)) for n in range(len(question.gaps))]
        if question.of == "column":  # several ways to say one thing
            gaps = [[one for gap in gaps for one in gap]]
        if not all(gaps):
            return None
        supported = iter(
            supported_by(self._model, ((one.statement, one.text) for gap in gaps for one in gap))
        )
        read = [[replace(one, probability=next(supported)) for one in gap] for gap in gaps]
        best = [one for one in map(_best, read) if one is not None]
        return self._computed(question, best) if len(best) == len(gaps) else None

    def _tables(self, question: Asked, state: ClaimState) -> Iterator[Table]:
        """Yield the tables of the opened documents; whole ones, if all rows are asked about."""
        for document in (ranked.document for ranked in state.documents):
            may_go_on = "#" in document.id and len(document.text) >= _CUT
            if question.of == "gaps" or not may_go_on:
                yield from tables_in(document.heading, document.sentences)

    def _filled(self, question: Asked, gap: int, tables: Sequence[Table]) -> Iterator[_Filled]:
        """Yield a statement with cells of the rows that it names, and of the year that it names."""
        statement = question.gaps[gap]
        years = set(_YEAR.findall(statement))
        rows = [(_named(row, statement), table, row) for table in tables for row in table.rows]
        if question.of == "sum":  # the statement is about any row
            rows = [(1.0, table, table.rows[0]) for table in tables]
        elif not any(share for share, _, _ in rows):  # about all of them
            rows = [(float(row.is_total), table, row) for _, table, row in rows]
        best = sorted((one for one in rows if one[0]), key=lambda one: -one[0])[:_MOST_ROWS]
        cells: list[tuple[Table, Cell]] = []
        for _, table, row in best:
            of_year = [
                cell for cell in row.cells.values() if years & set(_YEAR.findall(cell.column))
            ]
            cells += [(table, cell) for cell in of_year or row.cells.values()]
        for table, cell in cells[:_MOST_CELLS]:
            words = in_place(question.stated[gap], cell) if question.stated else cell.words
            words = words.lstrip("-−") if question.unsigned else words  # noqa: RUF001
            if words:
                text = statement.replace("{row}", cell.row).replace("{}", words)
                yield _Filled(f"{text}.", words, cell, table)

    def _computed(self, question: Asked, best: Sequence[_Filled]) -> _Answer | None:
        """Return what follows from the cells in the gaps and from their column."""
        first, table = best[0].cell, best[0].table
        values, words = [one.cell.value for one in best], [one.words for one in best]
        used, because = [one.cell for one in best[::-1]], [one.cell.said for one in best]
        column = table.column(first.column, question.among)
        others = [cell for cell in column if cell != first]
        if question.of == "column" and others:
            values += [cell.value for cell in others]
            used = [max(others, key=_value), min(others, key=_value), first]
            because.append(f"It was compared with {counted(len(others), 'other row')}.")
        elif question.of in ("sum", "whole"):
            total = sum(map(_value, column))
            used = [*others, *used]
            whole = table.total(first.column) if question.of == "whole" else None
            if whole is not None:
                total, used = whole.value, [whole, first]
            values.append(total)
            number = next(numerals(words[0]))
            words = [f"{words[0][: number.start]}{total:,.10g}{words[0][number.end :]}"]
            because.append(f"The sum is {words[0]}.")
        labels = [question.rule(values)]
        for stated, said in zip(question.stated, words, strict=False):
            found = quantities(self._parser.parse(said))
            labels.append(fits(stated, found[0]) if len(found) == 1 else None)
        label = REFUTES if REFUTES in labels else None if None in labels else SUPPORTS
        if label is None:
            return None
        sure = prod(one.probability for one in best)
        rows = list(dict.fromkeys(cell.sentence.key for cell in used))
        return _Answer(
            Ruling(label, f"The table says: {' '.join(because)}", sure, of_table=True), table, rows
        )


def _value(cell: Cell) -> float:
    return cell.value


def _named(row: Row, statement: str) -> float:
    """Return the share of the words of a row's name that a statement has."""
    name = stems_in(row.name)
    return len(name & stems_in(statement)) / max(1, len(name))


def _best(read: Sequence[_Filled]) -> _Filled | None:
    """Return the statement that its cell supports, None if other cells may be meant."""
    best: dict[tuple[SentenceKey, str], _Filled] = {}
    for one in sorted(read, key=lambda one: one.probability):
        best[one.cell.sentence.key, one.cell.column] = one
    first = max(best.values(), key=lambda one: one.probability)
    clear = first.odds >= _SHARE * sum(one.odds for one in best.values())
    return first if clear and first.probability >= _LEAST else None


MAKERS: Makers = {"tables": lambda r, c: TableReader(r.models.parser, r.verifier)}
