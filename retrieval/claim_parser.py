"""Makes of a claim as it was written the statements that are checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spacy.tokens import Doc

from retrieval.claim import ReadClaim, checked_as, read_claim
from retrieval.language.english import EnglishParser
from retrieval.language.notices import QUESTION, SEVERAL
from retrieval.language.polar import as_statement
from retrieval.language.statement_cutter import Statement, statements


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement of the claim with its words, their kinds and their relations."""

    statement: Statement
    parsed: Doc


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """A claim and its statements, at least one, in their order."""

    read: ReadClaim
    statements: tuple[ParsedStatement, ...]


class ClaimParser:
    """Reads and parses claims."""

    def __init__(self, english: EnglishParser) -> None:
        """``english`` is loaded by ``warm_up`` or when it is first needed."""
        self._english = english

    def warm_up(self) -> None:
        """Load the models."""
        self._english.warm_up()

    def parse(self, text: str) -> ParsedClaim:
        """Return the claim that is checked: of a question for yes or no, its statement.

        Raises:
            InvalidClaim: the text cannot be checked.
        """
        read = self._as_statement(read_claim(text, anyway=True))
        parsed = self._english.parse(read.text)
        cut = statements(parsed, self._english)
        if len(cut) == 1:
            return ParsedClaim(read, (ParsedStatement(cut[0], parsed),))
        return ParsedClaim(
            _without(read, SEVERAL),
            tuple(ParsedStatement(one, self._english.parse(one.text)) for one in cut),
        )

    def _as_statement(self, read: ReadClaim) -> ReadClaim:
        statement = as_statement(read.text, self._english) if QUESTION in read.notices else None
        if statement is None:
            return read
        others = _without(read, QUESTION).notices
        return replace(read, text=statement, notices=(checked_as(statement), *others))


def _without(read: ReadClaim, notice: str) -> ReadClaim:
    return replace(read, notices=tuple(one for one in read.notices if one != notice))
