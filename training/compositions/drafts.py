"""Drafts of claims: a statement about one page with what another page says put into it.

A false draft exchanges a fact of the second page about something that only the
first page identifies, so that neither refutes it alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.claims import SentenceKey
from retrieval.types import REFUTES, SUPPORTS, Label
from training.compositions.apart import Piece
from training.compositions.composition import Fact, Kind, Phrase
from training.compositions.definitions import Definition
from training.compositions.exchanges import Exchanges
from training.compositions.predicates import Predicate
from training.compositions.statements import Statement
from training.compositions.vocabulary import DOERS, IMPLIED, PAST

_BOTH: tuple[Label, Label] = (SUPPORTS, REFUTES)
_DESCRIBED = {SUPPORTS: 2, REFUTES: 3}  # claims that describe what only one can be
_ACTIVE = 0.35  # share of "was directed by a poet" that becomes "A poet directed"
_NAMED = 0.25  # share of statements that are told with a clause about the name
_OF = 0.6  # share of "The director of P"; the rest is "P's director"


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim in pieces, before it is known whether it needs both pages."""

    kind: Kind
    label: Label
    pieces: tuple[Piece, ...]
    keys: tuple[SentenceKey, SentenceKey]
    told: str | None = None


class Drafter:
    """Writes drafts, true ones and false ones, in wordings drawn by chance."""

    def __init__(self, exchanges: Exchanges, chance: random.Random) -> None:
        """Take what facts are exchanged with."""
        self._exchanges = exchanges
        self._chance = chance

    def described(self, statement: Statement, known: Definition, ruled_out: str) -> Iterator[Draft]:
        """Yield claims that say what the bridge is instead of its name."""
        if statement.relation == f"{known.noun} of":
            return  # "in the state of a state"
        phrases = [*known.phrases, *_of_age(known)]
        for label in _BOTH if statement.single else (SUPPORTS,):
            for _ in range(_DESCRIBED[label] if statement.single else 1):
                told = self._told(phrases, label, ruled_out, IMPLIED.get(statement.role or ""))
                if told is None:
                    continue
                piece, old = told
                active = statement.done and self._chance.random() < _ACTIVE
                yield Draft(
                    kind="description",
                    label=label,
                    pieces=_active(statement, piece) if active else _filled(statement, piece),
                    keys=(statement.key, known.key),
                    told=old,
                )

    def contained(self, statement: Statement, known: Definition, ruled_out: str) -> Iterator[Draft]:
        """Yield claims that say what the place lies in instead of its name."""
        container = _container(known) if statement.inside and not statement.after else None
        if container is None:
            return
        for label in _BOTH if statement.single else (SUPPORTS,):
            told = self._told([container], label, ruled_out)
            if told is not None:
                pieces = _filled(statement, told[0])
                yield Draft("container", label, pieces, (statement.key, known.key), told[1])

    def apposed(self, statement: Statement, known: Definition, ruled_out: str) -> Iterator[Draft]:
        """Yield claims that add what the bridge is to its name or its role.

        A false one that named the bridge would be refuted by the second page alone.
        """
        implied = IMPLIED.get(statement.role or "", frozenset())
        nouns = [phrase for phrase in known.nouns if not implied & set(phrase.text.split())]
        if not statement.after and nouns and self._chance.random() < _NAMED:
            opening = self._chance.choice((", ", f", {known.who} {known.verb} "))
            pieces = (
                Piece(statement.before + statement.name, 0),
                Piece(opening, None),
                Piece(self._chance.choice(nouns).text, 1),
            )
            yield Draft("apposition", SUPPORTS, pieces, (statement.key, known.key))
        if statement.role in DOERS and known.born_in and nouns:
            for label in _BOTH:
                told = self._told([known.born_in], label, ruled_out)
                if told is not None:
                    subject = Piece(self._subject(statement.role, statement.about), 0)
                    noun = Piece(f", {self._chance.choice(nouns).text}, was ", 1)
                    pieces = (subject, noun, told[0])
                    yield Draft("apposition", label, pieces, (statement.key, known.key), told[1])

    def played(
        self, statement: Statement, role: str, predicates: Sequence[Predicate], ruled_out: str
    ) -> Iterator[Draft]:
        """Yield claims about "the director of P" that another page tells of the bridge."""
        for predicate in predicates:
            for label in _BOTH if predicate.label == SUPPORTS else (REFUTES,):
                exchange = REFUTES if label != predicate.label else SUPPORTS
                told = self._told([predicate.phrase], exchange, ruled_out, IMPLIED.get(role))
                if told is not None:
                    subject = Piece(f"{self._subject(role, statement.about)} ", 0)
                    keys = (statement.key, predicate.key)
                    yield Draft("role", label, (subject, told[0]), keys, told[1])

    def _told(
        self,
        phrases: Sequence[Phrase],
        label: Label,
        ruled_out: str,
        implied: frozenset[str] | None = None,
    ) -> tuple[Piece, str | None] | None:
        """Return one of the phrases, with a fact exchanged where it is to be false, and the fact.

        ``implied``: words that tell nothing new.
        """
        if label == SUPPORTS:
            return Piece(self._chance.choice(phrases).text, 1, implied=implied or frozenset()), None
        exchangeable = [phrase for phrase in phrases if phrase.facts]
        if not exchangeable:
            return None
        phrase = self._chance.choice(exchangeable)
        exchanged = self._exchanges.exchanged(phrase, ruled_out, self._chance)
        if exchanged is None:
            return None
        false, old = exchanged
        (fact,) = false.facts
        return Piece(false.text, 1, (fact.start, fact.end), implied or frozenset()), old

    def _subject(self, role: str, about: str) -> str:
        if self._chance.random() < _OF:
            return f"The {role} of {about}"
        ending = "'" if about.endswith("s") else "'s"
        return f"{about}{ending} {role}"


def shared(first: Statement, second: Statement) -> Draft:
    """Return the claim that the same person directed, wrote or made the subjects of two pages.

    It is true where both statements name the same bridge.
    """
    return Draft(
        kind="shared",
        label=SUPPORTS if first.bridge == second.bridge else REFUTES,
        pieces=(
            Piece(first.about, 0),
            Piece(" and ", None),
            Piece(second.about, 1),
            Piece(f" were {first.done} by the same person", None),
        ),
        keys=(first.key, second.key),
    )


def _filled(statement: Statement, piece: Piece) -> tuple[Piece, ...]:
    return (Piece(statement.before, 0), piece, Piece(statement.after, 0))


def _active(statement: Statement, piece: Piece) -> tuple[Piece, ...]:
    done = statement.done or ""
    return (piece, Piece(f" {PAST.get(done, done)} {statement.about}", 0))


def _container(known: Definition) -> Phrase | None:
    """Return the place that a place is said to lie in."""
    for phrase in known.phrases:
        for fact in phrase.facts:
            if fact.kind == "place" and phrase.text[: fact.start].endswith((" in ", " of ")):
                place = phrase.text[fact.start : fact.end]
                return Phrase(place, (Fact(0, len(place), "place"),))
    return None


def _of_age(known: Definition) -> list[Phrase]:
    """Return what a person may be called by the year of birth."""
    if known.born_in is None:
        return []
    shortest = min((phrase.text for phrase in known.phrases), key=len)
    plain = [Phrase("someone"), Phrase("a person")]
    if not shortest.startswith("the "):
        plain.append(Phrase(shortest))
    return [phrase.joined(known.born_in) for phrase in plain]
