"""Makes of a claim as it was written the statements that are checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lemminflect import getAllLemmas
from spacy.tokens import Doc, Token

from retrieval.checkable.references import owners_in
from retrieval.claim import ReadClaim, checked_as, read_claim
from retrieval.pipeline.spelling import Misspelt, Spelling
from retrieval.text.english import EnglishParser
from retrieval.text.notices import NAMELESS, NO_STATEMENT, QUESTION, SEVERAL
from retrieval.text.plain_form import as_sentence
from retrieval.text.polar import as_statement
from retrieval.text.statement_cutter import CutStatement, Owner, makes_several, statements

_PRONOUNS = {"he", "she", "it", "they"}
_WEATHER = {"rain", "snow", "hail", "freeze", "thunder"}
_VERBS = {"AUX", "VERB"}


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement of the claim, and as it is read: a sentence with its words and relations."""

    statement: CutStatement
    parsed: Doc


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """A claim and its statements, at least one, in their order.

    ``suggestion``: the claim with other words where it may be misspelt, "" where it is not.
    """

    read: ReadClaim
    statements: tuple[ParsedStatement, ...]
    suggestion: str = ""


class ClaimParser:
    """Reads and parses claims."""

    def __init__(self, english: EnglishParser, spelling: Spelling | None = None) -> None:
        """``english`` is loaded by ``warm_up`` or when it is first needed.

        ``spelling`` knows the words of the corpus; without it no name is corrected.
        """
        self._english = english
        self._spelling = spelling

    def warm_up(self) -> None:
        """Load the models."""
        self._english.warm_up()
        if self._spelling is not None:
            self._spelling.warm_up()

    def parse(self, text: str) -> ParsedClaim:
        """Return the claim that is checked: with the names as the corpus spells them; of a question
        for yes or no, its statement.

        Raises:
            InvalidClaim: the text cannot be checked.
        """
        read = self._as_statement(self._spelt_as_the_corpus(read_claim(text, anyway=True)))
        parsed = self._english.parse(as_sentence(read.text))
        suggestion = self._suggestion(parsed, read.text)
        if _says_nothing(parsed):
            read = replace(read, notices=(*read.notices, NO_STATEMENT))
        elif _is_nameless(parsed):
            read = replace(read, notices=(*read.notices, NAMELESS))
        owners = owners_in(parsed)
        cut = statements(parsed, self._english, owners)
        if len(cut) == 1:
            if makes_several(parsed, self._english):
                read = replace(read, notices=(*_without(read, SEVERAL).notices, SEVERAL))
            whole = replace(cut[0], text=read.text, end=len(read.text))
            return ParsedClaim(read, (ParsedStatement(whole, parsed),), suggestion)
        replaced = tuple(_replaced(cut, owners, read.text))
        read = replace(
            _without(read, SEVERAL), notices=(*replaced, *_without(read, SEVERAL).notices)
        )
        return ParsedClaim(
            read,
            tuple(
                ParsedStatement(
                    replace(one, end=min(one.end, len(read.text))), self._english.parse(one.text)
                )
                for one in cut
            ),
            suggestion,
        )

    def _spelt_as_the_corpus(self, read: ReadClaim) -> ReadClaim:
        if self._spelling is None:
            return read
        misspelt = self._spelling.misspelt(self._english.parse(as_sentence(read.text)))
        text = _spelt(read.text, misspelt)
        notices = dict.fromkeys(
            f"“{one.word}” is not in the corpus; it was read as “{one.meant}”." for one in misspelt
        )
        return replace(read, text=text, notices=(*notices, *read.notices))

    def _suggestion(self, parsed: Doc, written: str) -> str:
        found = self._spelling.suggested(parsed) if self._spelling is not None else ()
        return _spelt(written, found) if found else ""

    def _as_statement(self, read: ReadClaim) -> ReadClaim:
        statement = as_statement(read.text, self._english) if QUESTION in read.notices else None
        if statement is None:
            return read
        others = _without(read, QUESTION).notices
        return replace(read, text=statement, notices=(checked_as(statement), *others))


def _spelt(claim: str, misspelt: Sequence[Misspelt]) -> str:
    """Return the claim with the words that its misspelt ones stand for."""
    for one in reversed(misspelt):
        claim = claim[: one.start] + one.meant + claim[one.start + len(one.word) :]
    return claim


def _says_nothing(parsed: Doc) -> bool:
    """Return whether a text only names something: "the capital of France".

    The parser takes some verbs for nouns ("Daag stars Vanisri"), but no first word, and without an
    ending only one after a plural ("Kettles boil water").
    """
    if not parsed.has_annotation("DEP") or any(token.pos_ in _VERBS for token in parsed):
        return False
    words = [token for token in parsed if token.is_alpha]
    ends_in_thing = bool(words) and words[-1].pos_ in ("NOUN", "PROPN")
    return ends_in_thing and not any(
        token.is_lower and (token.text.endswith(("s", "ed")) or _is_of_plural(before, token))
        for before, token in pairwise(words)
    )


def _is_of_plural(before: Token, token: Token) -> bool:
    """Return whether a word may be the verb of the plural that begins the text."""
    verbs = getAllLemmas(token.lower_, upos="VERB").get("VERB", ())
    return before.i == 0 and before.lower_.endswith("s") and token.lower_ in verbs


def _is_nameless(parsed: Doc) -> bool:
    """Return whether a claim is about a "he", "she" or "it" that nothing before it names.

    "It is cold in Ober." and "It is true that …" are about no thing.
    """
    subject = next((t for t in parsed if t.dep_ in ("nsubj", "nsubjpass")), None)
    if subject is None or subject.head.dep_ != "ROOT" or subject.lower_ not in _PRONOUNS:
        return False
    clauses = {"ccomp", "xcomp", "csubj", "advcl"}
    if any(t.pos_ in ("NOUN", "PROPN") for t in parsed[: subject.i]):
        return False
    return subject.lower_ != "it" or not any(
        t.dep_ in clauses or t.pos_ == "PROPN" or t.lemma_ in _WEATHER for t in parsed
    )


def _replaced(
    cut: Sequence[CutStatement], owners: Mapping[int, Owner], claim: str
) -> Iterator[str]:
    """Yield the notices that name what words such as "its" were read as."""
    for at, owner in sorted(owners.items()):
        if not any(piece.start <= at < piece.end for one in cut for piece in one.pieces):
            said = claim[at:].partition(" ")[0]
            yield f"“{said}” was read as “{owner.words}”."


def _without(read: ReadClaim, notice: str) -> ReadClaim:
    return replace(read, notices=tuple(one for one in read.notices if one != notice))
