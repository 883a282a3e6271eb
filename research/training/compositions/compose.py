"""Makes claims that need two pages from training pages and training claims only.

A draft is a statement about one page with a part from another page. A false one exchanges a fact of
the second page about something that only the first page identifies, so that neither page alone
refutes it.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.training.compositions.definitions import (
    Definition,
    DefinitionReader,
    Predicate,
    PredicateReader,
)
from research.training.compositions.phrases import (
    DOERS,
    IMPLIED,
    KINDS,
    NATIONS,
    OCCUPATIONS,
    PARENT,
    PAST,
    REALMS,
    WORK_NOUNS,
    Composition,
    Fact,
    Kind,
    PageWords,
    Phrase,
    Piece,
    joined,
    trade,
    with_article,
)
from research.training.compositions.statements import OpenStatement, StatementFinder
from research.training.contrast import YEAR, YEARS
from research.training.data import TrainingData
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Label

_NATION = {nation: group for group in NATIONS for nation in group}
_REALM = {place: group for group in REALMS for place in group}
_ARTICLE = re.compile(r"\b(?:a|an) $")
_LAST_YEAR = 2017  # of the pages
_TRIES = 8


class Exchanges:
    """Draws the replacement of a fact from those of true phrases, with the same frequencies."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        """Collect the facts of all definitions."""
        kept = list(definitions)
        self._what = {known.name: known.noun for known in kept}
        self._said: dict[tuple[str, str], list[str]] = defaultdict(list)
        for known in kept:
            for phrase in known.phrases:
                for fact in phrase.facts:
                    text = phrase.text[fact.start : fact.end]
                    self._said[self._kind(fact, text)].append(text)

    def exchanged(
        self, phrase: Phrase, ruled_out: str, chance: random.Random
    ) -> tuple[Phrase, str] | None:
        """Return the phrase with one fact exchanged, and the old words; None if impossible.

        ``ruled_out``: the text of the pages; the new words do not occur in it.
        """
        kinds = [fact.kind for fact in phrase.facts]
        facts = [f for f in phrase.facts if f.kind == "trade" or kinds.count(f.kind) == 1]
        for fact in chance.sample(facts, len(facts)):
            old = phrase.text[fact.start : fact.end]
            new = self._other(fact, old, ruled_out, chance)
            if new is not None:
                return _with_its_article(phrase.with_exchanged(fact, new)), old
        return None

    def _kind(self, fact: Fact, text: str) -> tuple[str, str]:
        """Return a replacement of the same kind: a city for a city, a trade for a trade."""
        if fact.kind == "place":
            return "place", self._what.get(_bare(text), "")
        if fact.kind == "trade":
            group = trade(text)
            return "trade", next((kind[0][0] for kind in KINDS if group in kind), "")
        return fact.kind, ""

    def _other(self, fact: Fact, old: str, ruled_out: str, chance: random.Random) -> str | None:
        if fact.kind == "year":
            moved = int(old) + chance.choice((-1, 1)) * chance.randint(1, YEARS)
            return None if str(moved) in ruled_out or moved > _LAST_YEAR else str(moved)
        kind = self._kind(fact, old)
        said = self._said.get(kind, ())
        if not said or kind == ("place", ""):
            return None
        for _ in range(_TRIES):
            new = chance.choice(said)
            if self._excludes(fact, old, new) and not _is_named(fact, new, ruled_out):
                return new
        return None

    @staticmethod
    def _excludes(fact: Fact, old: str, new: str) -> bool:
        if fact.kind == "nation":
            return _NATION[new] is not _NATION.get(old)
        if fact.kind == "trade":
            return trade(new) is not trade(old)
        realms = _REALM.get(_bare(old)), _REALM.get(_bare(new))
        return _bare(old) != _bare(new) and (realms[0] is None or realms[0] is not realms[1])


def _bare(place: str) -> str:
    return place.removeprefix("the ")


def _is_named(fact: Fact, new: str, ruled_out: str) -> bool:
    """Return whether the pages contain it or, for a trade, any word of its group."""
    if fact.kind != "trade":
        return _bare(new) in ruled_out
    words = set(ruled_out.lower().replace(",", " ").replace(".", " ").split())
    return any(noun in words or f"{noun}s" in words for noun in trade(new) or ())


def _with_its_article(phrase: Phrase) -> Phrase:
    """Return the phrase with the right article, "a" or "an", for its exchanged words."""
    (fact,) = phrase.facts
    before, new = phrase.text[: fact.start], phrase.text[fact.start :]
    stem = _ARTICLE.sub("", before)
    if stem == before:
        return phrase
    text = stem + with_article(new)
    start = len(text) - len(new)
    return Phrase(text, (Fact(start, start + fact.end - fact.start, fact.kind),))


_BOTH: tuple[Label, Label] = (SUPPORTS, REFUTES)
_DESCRIBED = {SUPPORTS: 2, REFUTES: 3}  # claims for each description that is true of only one thing
_ACTIVE = 0.35  # share of "was directed by a poet" that becomes "A poet directed"
_NAMED = 0.25  # share of statements with a clause about the name
_OF = 0.6  # share of "The director of P"; the rest is "P's director"


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim in pieces that is not checked yet for whether it needs both pages."""

    kind: Kind
    label: Label
    pieces: tuple[Piece, ...]
    keys: tuple[SentenceKey, SentenceKey]
    in_evidence: str | None = None


class Drafter:
    """Writes true and false drafts with randomly drawn wordings."""

    def __init__(self, exchanges: Exchanges, chance: random.Random) -> None:
        """``exchanges`` gives the facts to exchange; ``chance`` draws the wordings."""
        self._exchanges = exchanges
        self._chance = chance

    def described(
        self, statement: OpenStatement, known: Definition, ruled_out: str
    ) -> Iterator[Draft]:
        """Yield claims with a description of the bridge instead of its name."""
        if statement.relation == f"{known.noun} of":
            return  # "in the state of a state"
        phrases = [*known.phrases, *_of_age(known)]
        for label in _BOTH if statement.single else (SUPPORTS,):
            for _ in range(_DESCRIBED[label] if statement.single else 1):
                drawn = self._piece(phrases, label, ruled_out, IMPLIED.get(statement.role or ""))
                if drawn is None:
                    continue
                piece, old = drawn
                active = statement.done and self._chance.random() < _ACTIVE
                yield Draft(
                    kind="description",
                    label=label,
                    pieces=_active(statement, piece) if active else _filled(statement, piece),
                    keys=(statement.key, known.key),
                    in_evidence=old,
                )

    def contained(
        self, statement: OpenStatement, known: Definition, ruled_out: str
    ) -> Iterator[Draft]:
        """Yield claims with a description of the place by what it is in, instead of its name."""
        container = _container(known) if statement.inside and not statement.after else None
        if container is None:
            return
        for label in _BOTH if statement.single else (SUPPORTS,):
            drawn = self._piece([container], label, ruled_out)
            if drawn is not None:
                pieces = _filled(statement, drawn[0])
                yield Draft("container", label, pieces, (statement.key, known.key), drawn[1])

    def apposed(
        self, statement: OpenStatement, known: Definition, ruled_out: str
    ) -> Iterator[Draft]:
        """Yield claims that add a description of the bridge to its name or its role.

        False ones do not name the bridge, or the second page alone would refute them.
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
                drawn = self._piece([known.born_in], label, ruled_out)
                if drawn is not None:
                    subject = Piece(self._subject(statement.role, statement.about), 0)
                    noun = Piece(f", {self._chance.choice(nouns).text}, was ", 1)
                    pieces = (subject, noun, drawn[0])
                    yield Draft("apposition", label, pieces, (statement.key, known.key), drawn[1])

    def played(
        self, statement: OpenStatement, role: str, predicates: Sequence[Predicate], ruled_out: str
    ) -> Iterator[Draft]:
        """Yield claims about "the director of P" with a predicate from the bridge's page."""
        for predicate in predicates:
            for label in _BOTH if predicate.label == SUPPORTS else (REFUTES,):
                exchange = REFUTES if label != predicate.label else SUPPORTS
                drawn = self._piece([predicate.phrase], exchange, ruled_out, IMPLIED.get(role))
                if drawn is not None:
                    subject = Piece(f"{self._subject(role, statement.about)} ", 0)
                    keys = (statement.key, predicate.key)
                    yield Draft("role", label, (subject, drawn[0]), keys, drawn[1])

    def _piece(
        self,
        phrases: Sequence[Phrase],
        label: Label,
        ruled_out: str,
        implied: frozenset[str] | None = None,
    ) -> tuple[Piece, str | None] | None:
        """Return one of the phrases, and the exchanged fact if it has to be false.

        ``implied``: words without new information.
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


def shared(first: OpenStatement, second: OpenStatement) -> Draft:
    """Return the claim that the same person directed, wrote or made the subjects of two pages.

    It is true if both statements name the same bridge.
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


def _filled(statement: OpenStatement, piece: Piece) -> tuple[Piece, ...]:
    return (Piece(statement.before, 0), piece, Piece(statement.after, 0))


def _active(statement: OpenStatement, piece: Piece) -> tuple[Piece, ...]:
    done = statement.done or ""
    return (piece, Piece(f" {PAST.get(done, done)} {statement.about}", 0))


def _container(known: Definition) -> Phrase | None:
    """Return the place that a place is in, by its definition."""
    for phrase in known.phrases:
        for fact in phrase.facts:
            if fact.kind == "place" and phrase.text[: fact.start].endswith((" in ", " of ")):
                place = phrase.text[fact.start : fact.end]
                return Phrase(place, (Fact(0, len(place), "place"),))
    return None


def _of_age(known: Definition) -> list[Phrase]:
    """Return phrases for a person by the year of birth."""
    if known.born_in is None:
        return []
    shortest = min((phrase.text for phrase in known.phrases), key=len)
    plain = [Phrase("someone"), Phrase("a person")]
    if not shortest.startswith("the "):
        plain.append(Phrase(shortest))
    return [phrase.joined(known.born_in) for phrase in plain]


_WORDS = range(5, 31)
_SAME_NAMED = 15  # statements that name the same page
_DEFINED = 3  # predicates of a definition that one statement is joined with
_CLAIMED = 3
_OF_PEOPLE = ("starring", "featuring", "stars", "directed by", "written by", "produced by")
_YOUNGEST = 16  # the least age at which a person makes a work or marries
_SHARED = 3  # pairs of pages with one maker
_UNNATURAL = re.compile(
    r"\b(?:he|she|it|they|this|these)\b|\bis an? is\b|\b(\w+) \1\b|[()\"]|\w- | - "
)


def compositions(data: TrainingData, seed: int, limit: int) -> list[Composition]:
    """Return claims, ``limit`` at most; of each kind as many are refuted as supported.

    Claims of rare relations come before further ones of common relations, such as "directed by".
    They and their order depend only on the seed.
    """
    chance = random.Random(seed)
    made = {one.claim.text: (relation, one) for relation, one in _Composer(data, chance).made()}
    by_kind: dict[tuple[Kind, Label], list[Composition]] = defaultdict(list)
    for one in _rare_first(list(made.values()), chance):
        by_kind[one.kind, one.claim.label].append(one)
    pairs = [
        (rank, pair)
        for kind in sorted({kind for kind, _ in by_kind})
        for rank, pair in enumerate(
            zip(by_kind[kind, SUPPORTS], by_kind[kind, REFUTES], strict=False)
        )
    ]
    pairs.sort(key=lambda ranked: ranked[0])
    kept = [one for _, pair in pairs[: limit // 2] for one in pair]
    chance.shuffle(kept)
    return kept


def _rare_first(
    made: Sequence[tuple[str, Composition]], chance: random.Random
) -> list[Composition]:
    """Return one of each relation, then a second of each, and so on."""
    seen: Counter[tuple[str, Kind, Label]] = Counter()
    ranked = []
    for relation, one in chance.sample(made, len(made)):
        group = (relation, one.kind, one.claim.label)
        ranked.append((seen[group], one))
        seen[group] += 1
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _few_of_each(found: Sequence[OpenStatement]) -> list[OpenStatement]:
    """Return the statements with a limited number for each named page."""
    named: Counter[str] = Counter()
    kept = []
    for statement in found:
        named[statement.bridge] += 1
        if named[statement.bridge] <= _SAME_NAMED:
            kept.append(statement)
    return kept


class _Composer:
    """The data that drafts are made from and checked against."""

    def __init__(self, data: TrainingData, chance: random.Random) -> None:
        parser = EnglishParser()
        self._chance = chance
        self._claims = data.train
        self._pool = data.pool
        self._said = PageWords(data.pool)
        self._definitions = DefinitionReader(data.pool, parser)
        self._predicates = PredicateReader(data.pool, data.train, parser)
        self._finder = StatementFinder(data.pool, self._said, self._definitions, parser)

    def made(self) -> Iterator[tuple[str, Composition]]:
        """Yield the compositions of every statement, each with the statement's relation."""
        found = _few_of_each(
            [*self._finder.of_claims(self._claims), *self._finder.of_pages(self._chance)]
        )
        known = {s.bridge: self._definitions.definition(s.bridge) for s in found}
        drafter = Drafter(Exchanges(d for d in known.values() if d), self._chance)
        for statement in found:
            definition = known[statement.bridge]
            if definition is not None and self._may_be_meant(statement, definition):
                for draft in self._drafts(drafter, statement, definition):
                    for one in self._checked(draft, definition.name):
                        yield statement.relation, one
        yield from self._shared(found)

    def _may_be_meant(self, statement: OpenStatement, known: Definition) -> bool:
        """Return whether the statement can be true of the bridge: by its age, and by its kind."""
        if statement.relation.endswith(_OF_PEOPLE) and known.noun in WORK_NOUNS:
            return False
        if statement.role in DOERS and trade(known.noun) in OCCUPATIONS[1:]:
            return False  # a namesake of another trade
        text = self._pool.sentences[self._pool.position[statement.key]].text
        years = [int(year) for year in YEAR.findall(text)]
        return not (years and known.born) or min(years) >= int(known.born) + _YOUNGEST

    def _drafts(
        self, drafter: Drafter, statement: OpenStatement, known: Definition
    ) -> Iterator[Draft]:
        ruled_out = f"{self._said.text(statement.key[0])} {self._said.text(known.page)}"
        yield from drafter.described(statement, known, ruled_out)
        yield from drafter.contained(statement, known, ruled_out)
        yield from drafter.apposed(statement, known, ruled_out)
        role = self._role(statement)
        if role is not None:
            defining = self._predicates.defining(known)
            claimed = self._predicates.of_claims(known.page)
            predicates = [
                *self._chance.sample(defining, min(_DEFINED, len(defining))),
                *self._chance.sample(claimed, min(_CLAIMED, len(claimed))),
                *self._predicates.of_sentences(known.page),
            ]
            yield from drafter.played(statement, role, predicates, ruled_out)

    def _role(self, statement: OpenStatement) -> str | None:
        """Return the word for the bridge's role for the page."""
        if statement.role != PARENT:
            return statement.role
        gender = self._definitions.gender(statement.bridge)
        return {"he": "father", "she": "mother"}.get(gender or "")

    def _shared(self, found: Sequence[OpenStatement]) -> Iterator[tuple[str, Composition]]:
        """Yield claims that two pages have, or do not have, the same maker."""
        by_deed: dict[str, list[OpenStatement]] = defaultdict(list)
        for statement in found:
            if statement.done and self._definitions.is_person(statement.bridge):
                by_deed[statement.done].append(statement)
        for deed, group in by_deed.items():
            by_bridge: dict[str, list[OpenStatement]] = defaultdict(list)
            for statement in group:
                by_bridge[statement.bridge].append(statement)
            for members in by_bridge.values():
                for one, other in itertools.pairwise(members[: _SHARED + 1]):
                    for second in (other, self._chance.choice(group)):
                        if self._strange(one, second):
                            for made in self._checked(shared(one, second), one.name):
                                yield deed, made

    def _strange(self, one: OpenStatement, other: OpenStatement) -> bool:
        """Return whether neither page names the other one, or the other's maker if they differ."""
        says_first, says_second = (self._said.text(s.key[0]) for s in (one, other))
        if other.about in says_first or one.about in says_second:
            return False
        same = one.bridge == other.bridge
        return same or not (other.name in says_first or one.name in says_second)

    def _checked(self, draft: Draft, bridge: str) -> Iterator[Composition]:
        """Yield the draft as a composition if it is well formed and needs both pages."""
        claim = joined(draft.pieces, (draft.keys[0][0], draft.keys[1][0]), self._said)
        if claim is None or len(claim.text.split()) not in _WORDS or _UNNATURAL.search(claim.text):
            return
        if draft.kind != "apposition" and bridge.casefold() in claim.text.casefold():
            return
        yield Composition(
            claim=AnnotatedClaim(claim.text, draft.label, (draft.keys,)),
            kind=draft.kind,
            bridge=bridge,
            parts=claim.parts,
            flipped=claim.flipped,
            in_evidence=draft.in_evidence,
        )
