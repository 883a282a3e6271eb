"""Predicates about a page's subject, from its sentences and from training claims about it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.training.compositions.composition import Phrase
from research.training.compositions.definitions import Definition
from research.training.compositions.syntax import facts_of
from research.training.compositions.tidying import tidied
from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.english import EnglishParser
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS, Label

_SENTENCES = 3  # a page's sentences that are read
_SHORTEST, _LONGEST = 4, 14  # words
# Words that refer to an earlier sentence, or to more than the subject.
_POINTING = re.compile(
    r"\b(?:also|then|this|these|those|such|later|however|subsequently|previously|former|latter"
    r"|there|instead|another|other|both|too|again|same|he|she|they|it)\b|[:;]"
)
_OPENING = re.compile(r"(?:never |only )?(?:is|was|are|were|had|did|won|[a-z]+ed|[a-z]+s) ")


@dataclass(frozen=True, slots=True)
class Predicate:
    """The part of a sentence from its verb on, which is about its subject."""

    phrase: Phrase
    label: Label
    key: SentenceKey


class PredicateReader:
    """Reads predicates about a page."""

    def __init__(
        self, pool: SentencePool, claims: Sequence[AnnotatedClaim], parser: EnglishParser
    ) -> None:
        """Group the claims by the page that decides them."""
        self._pool = pool
        self._parser = parser
        self._claims: dict[str, list[tuple[AnnotatedClaim, SentenceKey]]] = defaultdict(list)
        for claim in claims:
            alone = [group[0] for group in claim.evidence if len(group) == 1]
            if claim.label != NOT_ENOUGH_INFO and alone and alone[0] in pool.position:
                self._claims[alone[0][0]].append((claim, alone[0]))

    def defining(self, known: Definition) -> list[Predicate]:
        """Return the predicates of the page's definition."""
        verb = {"are": "is", "were": "was"}.get(known.verb, known.verb)
        said = [Phrase(verb).joined(phrase) for phrase in known.nouns]
        if known.born_in:
            said.append(Phrase("was").joined(known.born_in))
        return [Predicate(phrase, SUPPORTS, known.key) for phrase in said]

    def of_claims(self, page: str) -> list[Predicate]:
        """Return the predicates of training claims that begin with the page's name."""
        name = self._name(page)
        return [
            Predicate(Phrase(said), claim.label, key)
            for claim, key in self._claims[page]
            if claim.text.startswith(f"{name} ")
            and _OPENING.match(said := claim.text[len(name) + 1 :].rstrip(" ."))
            and name not in said
        ]

    def of_sentences(self, page: str) -> Iterator[Predicate]:
        """Yield the predicates of short sentences after the first."""
        name, read = self._name(page), 0
        for i in self._pool.by_page[page][1:]:
            sentence = self._pool.sentences[i]
            text = tidied(sentence.text).rstrip(" .")
            words = text.split()
            fitting = _SHORTEST < len(words) <= _LONGEST
            if not fitting or words[0] not in {"He", "She", "It", name.split()[-1]}:
                continue
            said = " ".join(words[1:])
            if _POINTING.search(said) or not _OPENING.match(said):
                continue
            doc = self._parser.parse(text)
            tokens = range(1, len(doc))
            if doc[1].pos_ not in ("VERB", "AUX") or doc[1 : len(doc)].text != said:
                continue
            phrase = Phrase(said, facts_of(doc, tokens))
            yield Predicate(phrase, SUPPORTS, (sentence.page, sentence.sentence_id))
            read += 1
            if read == _SENTENCES:
                return

    def _name(self, page: str) -> str:
        return split_disambiguation(self._pool.sentences[self._pool.by_page[page][0]].title)[0]
