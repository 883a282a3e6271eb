"""Drafts of claims: a statement about one page with what another page says put into it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.claims import SentenceKey
from retrieval.types import REFUTES, SUPPORTS, Label
from training.compositions.apart import Piece
from training.compositions.composition import Kind, Phrase
from training.compositions.definitions import Definition
from training.compositions.exchanges import Exchanges
from training.compositions.predicates import Predicate
from training.compositions.statements import Statement


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
        phrases = [*known.phrases, *self._of_age(known)]
        for label in (SUPPORTS, REFUTES) if statement.single else (SUPPORTS,):
            phrase = self._chance.choice(phrases)
            yield from self._told_of(
                "description", label, statement, known, phrase, ruled_out, ("", "")
            )

    def contained(self, statement: Statement, known: Definition, ruled_out: str) -> Iterator[Draft]:
        """Yield claims that say what the place lies in instead of its name."""
        if not statement.inside or not statement.single or statement.after:
            return
        for phrase in known.phrases:
            places = [fact for fact in phrase.facts if fact.kind == "place"]
            if not places or " in " not in phrase.text[: places[0].start]:
                continue
            place = phrase.text[places[0].start : places[0].end]
            container = Phrase(place, (type(places[0])(0, len(place), "place"),))
            for label in (SUPPORTS, REFUTES):
                yield from self._told_of(
                    "container", label, statement, known, container, ruled_out, ("", "")
                )
            return

    def apposed(self, statement: Statement, known: Definition, ruled_out: str) -> Iterator[Draft]:
        """Yield claims that name the bridge and add what it is."""
        if statement.after:
            return
        who = "who" if known.is_person else "which"
        openings = [(phrase, ", ") for phrase in known.phrases]
        openings += [(phrase, f", {who} {known.verb} ") for phrase in known.phrases]
        if known.was_born:
            openings.append((known.was_born, f", {who} was "))
        for label in (SUPPORTS, REFUTES):
            phrase, opening = self._chance.choice(openings)
            yield from self._told_of(
                "apposition", label, statement, known, phrase, ruled_out, (known.name, opening)
            )

    def played(
        self,
        statement: Statement,
        predicates: Sequence[Predicate],
        gender: str | None,
        ruled_out: str,
    ) -> Iterator[Draft]:
        """Yield claims about "the director of P" that another page tells of the bridge."""
        role = statement.role
        if role == "parent":
            role = {"he": "father", "she": "mother"}.get(gender or "")
        if role is None:
            return
        for predicate in predicates:
            labels = (SUPPORTS, REFUTES) if predicate.label == SUPPORTS else (REFUTES,)
            for label in labels:
                phrase, flipped, told = predicate.phrase, None, None
                if label != predicate.label:
                    other = self._exchanges.exchanged(phrase, ruled_out, self._chance)
                    if other is None:
                        continue
                    phrase, told = other
                    flipped = (phrase.facts[0].start, phrase.facts[0].end)
                subject = self._subject(role, statement.about)
                yield Draft(
                    kind="role",
                    label=label,
                    pieces=(
                        Piece(subject + " ", 0),
                        Piece(phrase.text, 1, flipped),
                    ),
                    keys=(statement.key, predicate.key),
                    told=told,
                )

    def _subject(self, role: str, about: str) -> str:
        if self._chance.random() < 0.6:
            return f"The {role} of {about}"
        return f"{about}{chr(39) if about.endswith('s') else chr(39) + 's'} {role}"

    def _told_of(
        self,
        kind: Kind,
        label: Label,
        statement: Statement,
        known: Definition,
        phrase: Phrase,
        ruled_out: str,
        opening: tuple[str, str],
    ) -> Iterator[Draft]:
        """Yield the statement with the phrase after ``opening``, exchanged where it is refuted."""
        flipped, told = None, None
        if label == REFUTES:
            other = self._exchanges.exchanged(phrase, ruled_out, self._chance)
            if other is None:
                return
            phrase, told = other
            flipped = (phrase.facts[0].start, phrase.facts[0].end)
        yield Draft(
            kind=kind,
            label=label,
            pieces=(
                Piece(statement.before + opening[0], 0),
                Piece(opening[1], None),
                Piece(phrase.text, 1, flipped),
                Piece(statement.after, 0),
            ),
            keys=(statement.key, (known.page, known.sentence_id)),
            told=told,
        )

    @staticmethod
    def _of_age(known: Definition) -> list[Phrase]:
        """Return what a person may be called by the year of birth."""
        if not known.was_born:
            return []
        shortest = min(known.phrases, key=lambda phrase: len(phrase.text))
        plain = [Phrase("someone"), Phrase("a person"), Phrase(shortest.text)]
        return [phrase.joined(known.was_born) for phrase in plain]


def shared(first: Statement, second: Statement, said_by: str) -> Draft:
    """Return the claim that the same one directed, wrote or made two pages' subjects.

    ``said_by``: the words after the two names. True where both statements name one bridge.
    """
    return Draft(
        kind="shared",
        label=SUPPORTS if first.bridge == second.bridge else REFUTES,
        pieces=(
            Piece(first.about, 0),
            Piece(" and ", None),
            Piece(second.about, 1),
            Piece(f" {said_by}", None),
        ),
        keys=(first.key, second.key),
    )
