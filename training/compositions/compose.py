"""Makes claims that need two pages from training pages and training claims alone."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from evaluation.claims import AnnotatedClaim
from retrieval.index.title_key import split_disambiguation
from retrieval.language.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS
from training.compositions.apart import PageWords, joined
from training.compositions.bridges import BridgeFinder
from training.compositions.composition import Composition
from training.compositions.definitions import Definition, DefinitionReader
from training.compositions.drafts import Draft, Drafter, shared
from training.compositions.exchanges import Exchanges
from training.compositions.predicates import PredicateReader
from training.compositions.statements import Statement, claim_statement, statements
from training.compositions.tidying import tidied
from training.data import TrainingData

_WORDS = range(5, 31)
_LONGEST_SENTENCE = 45  # words; longer ones are parsed badly
_DEFINED = 2  # predicates of a definition that one statement is joined with
_CLAIMED = 3
_SAME = {
    "was directed by": "were directed by the same person",
    "was written by": "were written by the same person",
    "was composed by": "were composed by the same person",
    "was produced by": "were produced by the same person",
}
_NOUN = re.compile(r"\b(?:is|was|are|were) (?:an?|the) ([\w\s,'-]+)")
_DANGLING = re.compile(r"\b(?:he|she|it|they|this|these)\b|\bis an? is\b|\b(\w+) \1\b|\(|\)|\"")
_PRONOUNS = {True: frozenset({"he", "she"}), False: frozenset({"it", "they"})}


def compositions(data: TrainingData, seed: int, limit: int) -> list[Composition]:
    """Return claims, ``limit`` at most, of which as many are refuted as supported.

    Which they are and their order depend on the seed alone.
    """
    chance = random.Random(seed)
    made = list({one.claim.text: one for one in _Composer(data, chance).made()}.values())
    chance.shuffle(made)
    by_label = [[c for c in made if c.claim.label == label] for label in (SUPPORTS, REFUTES)]
    each = min(limit // 2, *(len(group) for group in by_label))
    kept = [one for group in by_label for one in group[:each]]
    chance.shuffle(kept)
    return kept


class _Composer:
    """What all drafts are made from and checked against."""

    def __init__(self, data: TrainingData, chance: random.Random) -> None:
        parser = EnglishParser()
        self._data = data
        self._pool = data.pool
        self._chance = chance
        self._parser = parser
        self._said = PageWords(data.pool)
        self._finder = BridgeFinder(data.pool)
        self._definitions = DefinitionReader(data.pool, parser)
        self._predicates = PredicateReader(data.pool, data.train, parser)

    def made(self) -> Iterator[Composition]:
        """Yield the compositions of every statement in turn."""
        found = [*self._of_sentences(), *self._of_claims()]
        known = {s.bridge: self._definitions.definition(s.bridge) for s in found}
        drafter = Drafter(Exchanges(d for d in known.values() if d), self._chance)
        for statement in found:
            definition = known[statement.bridge]
            if definition is not None:
                for draft in self._drafts(drafter, statement, definition):
                    yield from self._checked(draft, definition.name)
        yield from self._shared(found)

    def _of_sentences(self) -> Iterator[Statement]:
        for sentence, text, mentions in self._finder.bridges(self._pool):
            if not 4 < len(text.split()) <= _LONGEST_SENTENCE:
                continue
            about = split_disambiguation(sentence.title)[0]
            yield from statements(
                self._parser.parse(text),
                (sentence.page, sentence.sentence_id),
                about,
                mentions,
                self._nouns(sentence.page),
                self._chance,
            )

    def _of_claims(self) -> Iterator[Statement]:
        for claim in self._data.train:
            alone = [group[0] for group in claim.evidence if len(group) == 1]
            if claim.label != SUPPORTS or not alone or alone[0] not in self._pool.position:
                continue
            sentence = self._pool.sentences[self._pool.position[alone[0]]]
            about = split_disambiguation(sentence.title)[0]
            mentions = self._finder.named(claim.text, sentence.page, about)
            if not mentions or about not in claim.text:
                continue
            doc = self._parser.parse(claim.text)
            for mention in mentions:
                statement = claim_statement(doc, alone[0], about, mention)
                if statement is not None and statement.name in tidied(sentence.text):
                    yield statement

    def _nouns(self, page: str) -> frozenset[str]:
        """Return what a sentence may call the subject of its page."""
        first = self._pool.sentences[self._pool.by_page[page][0]].text
        match = _NOUN.search(first)
        called = frozenset(match[1].lower().split()) if match else frozenset()
        return called | _PRONOUNS[self._definitions.is_person(page)]

    def _drafts(self, drafter: Drafter, statement: Statement, known: Definition) -> Iterator[Draft]:
        ruled_out = f"{self._said.text(statement.key[0])} {self._said.text(known.page)}"
        yield from drafter.described(statement, known, ruled_out)
        yield from drafter.contained(statement, known, ruled_out)
        yield from drafter.apposed(statement, known, ruled_out)
        if statement.role:
            defining = self._predicates.defining(known)
            claimed = self._predicates.of_claims(known.page)
            predicates = [
                *self._chance.sample(defining, min(_DEFINED, len(defining))),
                *self._chance.sample(claimed, min(_CLAIMED, len(claimed))),
                *self._predicates.of_sentences(known.page),
            ]
            gender = self._definitions.gender(known.page)
            yield from drafter.played(statement, predicates, gender, ruled_out)

    def _shared(self, found: Sequence[Statement]) -> Iterator[Composition]:
        """Yield claims that two pages have, or have not, one maker."""
        by_relation: dict[str, list[Statement]] = defaultdict(list)
        for statement in found:
            if statement.single and not statement.after and statement.relation in _SAME:
                by_relation[statement.relation].append(statement)
        for relation, group in by_relation.items():
            by_bridge: dict[str, list[Statement]] = defaultdict(list)
            for statement in group:
                by_bridge[statement.bridge].append(statement)
            for members in by_bridge.values():
                others = [one for one in members[1:] if one.key[0] != members[0].key[0]]
                for other in others[:2]:
                    elsewhere = self._chance.choice(group)
                    pairs = [(members[0], other)]
                    if elsewhere.bridge != members[0].bridge:
                        pairs.append((members[0], elsewhere))
                    for pair in pairs:
                        yield from self._checked(shared(*pair, _SAME[relation]), members[0].name)

    def _checked(self, draft: Draft, bridge: str) -> Iterator[Composition]:
        """Yield the draft as a composition where it reads well and needs both pages."""
        pages = (draft.keys[0][0], draft.keys[1][0])
        if draft.kind != "shared" and self._said.names(pages[1], pages[0]):
            return
        claim = joined(draft.pieces, pages, self._said)
        if claim is None or len(claim.text.split()) not in _WORDS or _DANGLING.search(claim.text):
            return
        if draft.kind != "apposition" and bridge.casefold() in claim.text.casefold():
            return
        yield Composition(
            claim=AnnotatedClaim(claim.text, draft.label, (draft.keys,)),
            kind=draft.kind,
            bridge=bridge,
            parts=claim.parts,
            flipped=claim.flipped,
            told=draft.told,
        )
