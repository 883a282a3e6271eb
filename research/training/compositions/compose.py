"""Makes claims that need two pages from training pages and training claims only."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions.bridges import PageWords, joined
from research.training.compositions.composition import Composition, Kind
from research.training.compositions.definitions import Definition, DefinitionReader, PredicateReader
from research.training.compositions.drafts import Draft, Drafter, Exchanges, shared
from research.training.compositions.statements import OpenStatement, StatementFinder
from research.training.compositions.vocabulary import DOERS, OCCUPATIONS, PARENT, WORK_NOUNS, trade
from research.training.contrast import YEAR
from research.training.data import TrainingData
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS, Label

_WORDS = range(5, 31)
_NAMED = 15  # statements that name the same page
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
        if named[statement.bridge] <= _NAMED:
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
