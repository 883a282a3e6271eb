"""Makes claims that need two pages from training pages and training claims alone."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from evaluation.claims import AnnotatedClaim
from retrieval.index.title_key import split_disambiguation
from retrieval.language.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS
from training.compositions.apart import PageWords, joined
from training.compositions.bridges import BridgeFinder, Mention
from training.compositions.composition import Composition
from training.compositions.definitions import Definition, DefinitionReader, called
from training.compositions.drafts import Draft, Drafter, shared
from training.compositions.exchanges import Exchanges
from training.compositions.predicates import PredicateReader
from training.compositions.statements import Statement, claim_statement, statements
from training.compositions.tidying import tidied, with_pronoun
from training.compositions.vocabulary import PARENT
from training.data import TrainingData

_WORDS = range(5, 31)
_LONGEST_SENTENCE = 45  # words; longer ones are parsed badly
_DEFINED = 3  # predicates of a definition that one statement is joined with
_CLAIMED = 3
_SHARED = 3  # pairs of one maker
_SUBJECT = re.compile(
    r"(?:It|He|She|They|The \w+|[A-Z]\w+ed by .*, (?:it|the \w+)|In .{4,20}, \w+) "
)
_DANGLING = re.compile(r"\b(?:he|she|it|they|this|these)\b|\bis an? is\b|\b(\w+) \1\b|[()\"]|\w- ")
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


def _begins(text: str, name: str) -> bool:
    """Whether a sentence may speak of the page that it is on."""
    return bool(_SUBJECT.match(text)) or text.partition(" ")[0] in name.split()


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
        for sentence in self._pool.sentences:
            about = split_disambiguation(sentence.title)[0]
            is_person = self._definitions.is_person(sentence.page)
            text = with_pronoun(tidied(sentence.text), about, "He" if is_person else "It")
            if not 3 < len(text.split()) <= _LONGEST_SENTENCE or not _begins(text, about):
                continue
            mentions = self._telling(text, sentence.page, about)
            if mentions:
                yield from statements(
                    self._parser.parse(text),
                    (sentence.page, sentence.sentence_id),
                    about,
                    mentions,
                    self._nouns(sentence.page),
                    self._chance,
                )

    def _telling(self, text: str, page: str, about: str) -> list[Mention]:
        """Return the mentions of pages that say what they are about, and nothing of this one."""
        return [
            mention
            for mention in self._finder.named(text, page, about)
            if not self._said.names(mention.page, page, self._definitions.is_person(page))
            and self._definitions.definition(mention.page) is not None
        ]

    def _of_claims(self) -> Iterator[Statement]:
        for claim in self._data.train:
            alone = [group[0] for group in claim.evidence if len(group) == 1]
            if claim.label != SUPPORTS or not alone or alone[0] not in self._pool.position:
                continue
            sentence = self._pool.sentences[self._pool.position[alone[0]]]
            about = split_disambiguation(sentence.title)[0]
            mentions = self._telling(claim.text, sentence.page, about)
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
        return called(first) | _PRONOUNS[self._definitions.is_person(page)]

    def _drafts(self, drafter: Drafter, statement: Statement, known: Definition) -> Iterator[Draft]:
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

    def _role(self, statement: Statement) -> str | None:
        """Return what the bridge is to the page, as it is called."""
        if statement.role != PARENT:
            return statement.role
        gender = self._definitions.gender(statement.bridge)
        return {"he": "father", "she": "mother"}.get(gender or "")

    def _shared(self, found: Sequence[Statement]) -> Iterator[Composition]:
        """Yield claims that two pages have, or have not, one maker."""
        by_deed: dict[str, list[Statement]] = defaultdict(list)
        for statement in found:
            if statement.done and self._definitions.is_person(statement.bridge):
                by_deed[statement.done].append(statement)
        for group in by_deed.values():
            by_bridge: dict[str, list[Statement]] = defaultdict(list)
            for statement in group:
                by_bridge[statement.bridge].append(statement)
            for members in by_bridge.values():
                for one, other in itertools.pairwise(members[: _SHARED + 1]):
                    yield from self._paired(one, other)
                    yield from self._paired(one, self._chance.choice(group))

    def _paired(self, one: Statement, other: Statement) -> Iterator[Composition]:
        apart = one.key[0] != other.key[0] and one.about != other.about
        if apart and not self._said.names(other.key[0], one.key[0], by_surname=False):
            draft = shared(one, other)
            strange = draft.label == SUPPORTS or not self._names_maker(one, other)
            if strange:
                yield from self._checked(draft, one.name)

    def _names_maker(self, one: Statement, other: Statement) -> bool:
        """Whether a page of the two names who made the other's subject."""
        return one.name in self._said.text(other.key[0]) or other.name in self._said.text(
            one.key[0]
        )

    def _checked(self, draft: Draft, bridge: str) -> Iterator[Composition]:
        """Yield the draft as a composition where it reads well and needs both pages."""
        pages = (draft.keys[0][0], draft.keys[1][0])
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
