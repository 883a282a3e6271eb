"""Finds statements in the sentences of training pages and in training claims."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions.apart import PageWords
from research.training.compositions.bridges import BridgeFinder, Mention
from research.training.compositions.definitions import DefinitionReader, called
from research.training.compositions.statements import OpenStatement, claim_statement, statements
from research.training.compositions.tidying import tidied, with_pronoun
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.english import EnglishParser
from retrieval.types import SUPPORTS

_LENGTHS = range(4, 46)  # words; longer sentences are parsed badly
_SUBJECT = re.compile(r"(?:It|He|She|The \w+|[A-Z]\w+ed by .*, (?:it|the \w+)|In .{4,20}, \w+) ")
_PRONOUNS = {True: frozenset({"he", "she"}), False: frozenset({"it"})}


class StatementFinder:
    """Finds statements that name a page with a definition.

    That page must not name the page that the statement is about, or it would contain the statement
    itself.
    """

    def __init__(
        self,
        pool: SentencePool,
        said: PageWords,
        definitions: DefinitionReader,
        parser: EnglishParser,
    ) -> None:
        """Make a table of the pool's names."""
        self._pool = pool
        self._said = said
        self._definitions = definitions
        self._parser = parser
        self._bridges = BridgeFinder(pool)

    def of_pages(self, chance: random.Random) -> Iterator[OpenStatement]:
        """Yield statements from sentences about their own pages."""
        for sentence in self._pool.sentences:
            about = split_disambiguation(sentence.title)[0]
            is_person = self._definitions.is_person(sentence.page)
            text = with_pronoun(tidied(sentence.text), about, "He" if is_person else "It")
            if len(text.split()) not in _LENGTHS or not _may_speak_of(about, text):
                continue
            mentions = self._telling(text, sentence, about)
            if mentions:
                yield from statements(
                    self._parser.parse(text),
                    (sentence.page, sentence.sentence_id),
                    about,
                    mentions,
                    self._called(sentence.page),
                    chance,
                )

    def of_claims(self, claims: Sequence[AnnotatedClaim]) -> Iterator[OpenStatement]:
        """Yield supported claims that one sentence decides and that name its page."""
        for claim in claims:
            alone = [group[0] for group in claim.evidence if len(group) == 1]
            if claim.label != SUPPORTS or not alone or alone[0] not in self._pool.position:
                continue
            sentence = self._pool.sentences[self._pool.position[alone[0]]]
            about = split_disambiguation(sentence.title)[0]
            mentions = self._telling(claim.text, sentence, about)
            if not mentions or about not in claim.text:
                continue
            doc = self._parser.parse(claim.text)
            for mention in mentions:
                statement = claim_statement(doc, alone[0], about, mention)
                if statement is not None and statement.name in tidied(sentence.text):
                    yield statement

    def _telling(self, text: str, sentence: PoolSentence, about: str) -> list[Mention]:
        is_person = self._definitions.is_person(sentence.page)
        return [
            mention
            for mention in self._bridges.named(text, sentence.page, about)
            if not self._said.names(mention.page, sentence.page, is_person)
            and self._definitions.definition(mention.page) is not None
        ]

    def _called(self, page: str) -> frozenset[str]:
        """Return the words that a sentence may use for the subject of its page."""
        if self._definitions.is_person(page):
            return _PRONOUNS[True]
        return called(self._pool.sentences[self._pool.by_page[page][0]].text) | _PRONOUNS[False]


def _may_speak_of(name: str, text: str) -> bool:
    """Return whether a sentence begins as if it were about its page; the parser decides later."""
    return bool(_SUBJECT.match(text)) or text.partition(" ")[0] in name.split()
