"""Makes of a claim as it was written what is checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spacy.tokens import Doc

from retrieval.claim import ReadClaim, checked_as, read_claim
from retrieval.language.english import EnglishParser
from retrieval.language.notices import QUESTION
from retrieval.language.polar import as_statement


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """A claim with the words, their kinds and their relations."""

    read: ReadClaim
    parsed: Doc


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
        return ParsedClaim(read, self._english.parse(read.text))

    def _as_statement(self, read: ReadClaim) -> ReadClaim:
        statement = as_statement(read.text, self._english) if QUESTION in read.notices else None
        if statement is None:
            return read
        others = (notice for notice in read.notices if notice != QUESTION)
        return replace(read, text=statement, notices=(checked_as(statement), *others))
