"""What a page's subject is and does: phrases of its first sentence, predicates of the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.training.compositions.phrases import (
    KINDS,
    MADE,
    OCCUPATIONS,
    UNTELLING,
    Fact,
    Phrase,
    facts_of,
    moved,
    noun_phrase,
    prepositional_phrase,
    tidied,
    trade,
    with_article,
    with_pronoun,
    words,
    written,
)
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.english import EnglishParser
from retrieval.text.word_forms import FUNCTION_WORDS
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_BORN = re.compile(r"\([^()]*?\b(?:born|b\.)[^()]*?\b(1[0-9]{3}|20[0-9]{2})\b")
_LIVED = re.compile(  # (4 May 1901, Oslo - 1970)
    r"\([^()0-9]*(?:[0-9]{1,2}\b[^()0-9]*)?\b(1[0-9]{3})\b[^()0-9]{0,30}[-–][^()]*?\b[12][0-9]{3}\b"  # noqa: RUF001
)
_ABOUT = re.compile(r"\bca?\.|\bcirca\b|\babout\b")
_HE, _SHE = re.compile(r"\b(?:He|he|His|his)\b"), re.compile(r"\b(?:She|she|Her|her)\b")
_TAILS = words("in by from of at on")
_DEFINES = re.compile(r"\b(?:is|was|are|were) (?:an?|the) ")
_CALLED = re.compile(
    r"\b(?:is|was|are|were) (?:an?|the) ([\w\s,'-]+?)"
    r"(?=[^\w\s,'-]|$|\s(?:of|from|in|by|for|with|at|on|that|who|which|formed|founded)\b)"
)
_TRADES = frozenset(noun for group in OCCUPATIONS for noun in group)
_THINGS = frozenset(noun for kind in KINDS[1:] for group in kind for noun in group)
_PERSON = "person"
_READ = 6  # a page's sentences in which a definition is searched
_OPENING = 250  # characters in which dates of a life are searched
_LONGEST_TAIL = 7  # words
_LONGEST_DEFINITE = 11
_LONGEST_PLAIN = 8


def called(sentence: str) -> frozenset[str]:
    """Return the words for the subject in a defining sentence."""
    match = _CALLED.search(sentence)
    return words(match[1].lower()) if match else frozenset()


@dataclass(frozen=True, slots=True)
class Definition:
    """The subject of a page; ``phrases`` are noun phrases that are true of it."""

    page: str
    sentence_id: int
    name: str
    verb: str  # is, was, are or were
    noun: str  # what it is, in one word
    phrases: tuple[Phrase, ...]
    is_person: bool
    born: str | None

    @property
    def key(self) -> SentenceKey:
        """The key of its sentence."""
        return self.page, self.sentence_id

    @property
    def who(self) -> str:
        """The pronoun of a clause about it."""
        return "who" if self.is_person else "which"

    @property
    def nouns(self) -> list[Phrase]:
        """The phrases that can follow "is", or be between commas."""
        return [phrase for phrase in self.phrases if not phrase.text.endswith(f" {_PERSON}")]

    @property
    def born_in(self) -> Phrase | None:
        """``born in YEAR``."""
        return Phrase(f"born in {self.born}", (Fact(8, 12, "year"),)) if self.born else None


class DefinitionReader:
    """Reads definitions from first sentences."""

    def __init__(self, pool: SentencePool, parser: EnglishParser) -> None:
        """Nothing is read yet."""
        self._pool = pool
        self._parser = parser
        self._read: dict[str, Definition | None] = {}
        self._people: dict[str, bool] = {}

    def definition(self, page: str) -> Definition | None:
        """Return a page's definition; None if its first sentence contains none."""
        if page not in self._read:
            self._read[page] = self._defined(page)
        return self._read[page]

    def is_person(self, page: str) -> bool:
        """Return whether the page is about a person, without parsing."""
        if page not in self._people:
            self._people[page] = any(_tells_of_life(s) for s in self._opening(page))
        return self._people[page]

    def gender(self, page: str) -> str | None:
        """Return "he" or "she" if the page uses only one of them."""
        says = " ".join(sentence.text for sentence in self._pool.page(page))
        he, she = len(_HE.findall(says)), len(_SHE.findall(says))
        return None if min(he, she) or he == she else ("he" if he else "she")

    def _defined(self, page: str) -> Definition | None:
        for sentence in self._opening(page):
            if _DEFINES.search(sentence.text):
                found = self._definition(sentence, self.is_person(page))
                if found is not None:
                    return found
        return None

    def _opening(self, page: str) -> list[PoolSentence]:
        return self._pool.page(page)[:_READ]

    def _definition(self, sentence: PoolSentence, is_person: bool) -> Definition | None:
        name = split_disambiguation(sentence.title)[0]
        text = tidied(sentence.text)
        pronoun = "He" if is_person else "It"
        doc = self._parser.parse(with_pronoun(text, name, pronoun))
        verb = next((token for token in doc if token.dep_ == "ROOT"), None)
        if verb is None or verb.lower_ not in ("is", "was", "are", "were"):
            return None
        subject = next((child for child in verb.children if child.dep_ == "nsubj"), None)
        noun = next((child for child in verb.children if child.dep_ == "attr"), None)
        if subject is None or noun is None or noun.tag_ not in ("NN", "NNS") or noun.i < verb.i:
            return None
        named = {token.text for token in subject.subtree} & {*name.split(), pronoun}
        if not named - FUNCTION_WORDS or noun.lower_ in UNTELLING:
            return None
        opening = sentence.text[:_OPENING]
        life = (_BORN.search(opening) or _LIVED.search(opening)) if is_person else None
        phrases = _phrases(doc, noun, is_person)
        if not phrases:
            return None
        return Definition(
            page=sentence.page,
            sentence_id=sentence.sentence_id,
            name=name,
            verb=verb.lower_,
            noun=noun.lower_,
            phrases=phrases,
            is_person=is_person,
            born=life[1] if life and not _ABOUT.search(life[0]) else None,
        )


def _tells_of_life(sentence: PoolSentence) -> bool:
    """Return whether a sentence about its page's subject gives a trade or dates of a life."""
    if sentence.text.partition(" ")[0] not in sentence.title.split():
        return False
    opening, nouns = sentence.text[:_OPENING], called(sentence.text)
    if _BORN.search(opening) or nouns & _TRADES:
        return True
    return bool(_LIVED.search(opening)) and nouns.isdisjoint(_THINGS)


def _phrases(doc: Doc, noun: Token, is_person: bool) -> tuple[Phrase, ...]:
    determiner = next((child for child in noun.children if child.dep_ == "det"), None)
    if determiner is None:
        return ()
    if determiner.lower_ == "the":
        return _definite(doc, noun)
    plain = noun_phrase(noun, 0)
    if determiner.lower_ not in ("a", "an") or len(plain) > _LONGEST_PLAIN:
        return ()
    phrases = [_with_trade(doc, plain, noun)]
    if is_person:
        phrases += _of_person(doc, plain, noun, determiner)
    else:
        bare = plain - {child.i for child in noun.children if child.dep_ == "amod"}
        phrases += [
            _with_trade(doc, bare, noun, determiner).joined(Phrase(tail.text, tail.facts))
            for tail in _tails(doc, noun)
        ]
    return tuple(phrase for phrase in dict.fromkeys(phrases) if "," not in phrase.text)


def _definite(doc: Doc, noun: Token) -> tuple[Phrase, ...]:
    """Return "the capital of", "the first album by": phrases that are true of only one thing."""
    nouns = (noun, *noun.conjuncts)  # "the capital and largest city of"
    tails = [c for one in nouns for c in one.children if c.dep_ == "prep" and c.i > one.i]
    if not tails or tails[0].lower_ not in ("of", "in", "by"):
        return ()
    if any(c.dep_ == "appos" for t in tails[0].children for c in t.children):
        return ()  # "the singer of the band" + its name, which would be lost
    whole = noun_phrase(noun, 0) | prepositional_phrase(tails[0])
    if len(whole) > _LONGEST_DEFINITE or any(doc[i].text == "," for i in whole):
        return ()
    return (Phrase(written(doc, whole, {}), facts_of(doc, whole)),)


def _of_person(doc: Doc, plain: set[int], noun: Token, determiner: Token) -> list[Phrase]:
    """Return more phrases: another of a person's trades, each trade alone, the nation alone."""
    phrases = []
    nations = [fact for fact in facts_of(doc, plain) if fact.kind == "nation"]
    trades = [noun, *(one for one in noun.conjuncts if trade(one.lower_))]
    for other in trades:
        own = noun_phrase(other, 0) - {determiner.i}
        nationless = {i for i in own if not facts_of(doc, {i}) and doc[i].ent_type_ != "NORP"}
        if _sound(doc, nationless, other):
            phrases.append(_with_trade(doc, nationless, other, determiner))
        if nations and other is not noun and _sound(doc, nationless, other):
            nation = written(doc, plain, {})[nations[0].start : nations[0].end]
            article = with_article(nation)
            start = len(article) - len(nation)
            first = Phrase(article, (Fact(start, len(article), "nation"),))
            phrases.append(first.joined(_bare_trade(doc, nationless, other)))
    if len(nations) == 1:
        nation = written(doc, plain, {})[nations[0].start : nations[0].end]
        person = with_article(nation)
        start = len(person) - len(nation)
        phrases.append(Phrase(f"{person} {_PERSON}", (Fact(start, len(person), "nation"),)))
    return phrases


def _sound(doc: Doc, tokens: set[int], noun: Token) -> bool:
    """Return whether the tokens are one run of words that ends with a person's trade."""
    run = tokens and max(tokens) - min(tokens) == len(tokens) - 1 and max(tokens) == noun.i
    hyphens = any(doc[i].text == "-" for i in (min(tokens) - 1, max(tokens) + 1)) if run else True
    return bool(run) and not hyphens and len(tokens) <= 3 and trade(noun.lower_) in OCCUPATIONS


def _bare_trade(doc: Doc, tokens: set[int], noun: Token) -> Phrase:
    text = written(doc, tokens, {})
    return Phrase(text, (Fact(0, len(text), "trade"),) if text.islower() and trade(text) else ())


def _with_trade(doc: Doc, tokens: set[int], noun: Token, determiner: Token | None = None) -> Phrase:
    """Write a noun phrase whose words after article, nation and year are an exchangeable trade."""
    if determiner is not None:
        rest = tokens - {determiner.i}
        text = with_article(written(doc, rest, {}))
        shift = len(text) - len(written(doc, rest, {}))
        facts = list(moved(facts_of(doc, rest), shift))
    else:
        text, facts = written(doc, tokens, {}), list(facts_of(doc, tokens))
    start = max([text.index(" ") + 1, *(fact.end + 1 for fact in facts)])
    if text[start:].islower() and trade(text) and "-" not in text[start - 1 : start + 1]:
        facts.append(Fact(start, len(text), "trade"))
    return Phrase(text, tuple(facts))


def _tails(doc: Doc, noun: Token) -> list[Phrase]:
    """Return the words after the noun: where it is, by whom it was made."""
    tails = []
    for child in noun.children:
        kept: set[int] = set()
        if child.dep_ == "prep" and child.lower_ in _TAILS:
            kept = prepositional_phrase(child)
        elif child.dep_ == "acl" and child.lemma_ in MADE and child.i > noun.i:
            for said in child.children:
                if said.dep_ in ("agent", "prep") and said.lower_ in _TAILS:
                    kept = {child.i} | prepositional_phrase(said)
                    break
                if said.dep_ == "dobj" and child.tag_ == "VBG":
                    kept = {child.i} | noun_phrase(said)
                    break
        if 1 < len(kept) <= _LONGEST_TAIL and all(doc[i].pos_ != "PRON" for i in kept):
            tails.append(Phrase(written(doc, kept, {}), facts_of(doc, kept)))
    return tails


_SENTENCES = 3  # a page's sentences that are read
_SHORTEST, _LONGEST = 4, 14  # words
# Words that refer to an earlier sentence, or to more than the subject.
_POINTING = re.compile(
    r"\b(?:also|then|this|these|those|such|later|however|subsequently|previously|former|latter"
    r"|there|instead|another|other|both|too|again|same|he|she|they|it)\b|[:;]"
)
_VERB = re.compile(r"(?:never |only )?(?:is|was|are|were|had|did|won|[a-z]+ed|[a-z]+s) ")


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
        name = self._pool.name(page)
        return [
            Predicate(Phrase(said), claim.label, key)
            for claim, key in self._claims[page]
            if claim.text.startswith(f"{name} ")
            and _VERB.match(said := claim.text[len(name) + 1 :].rstrip(" ."))
            and name not in said
        ]

    def of_sentences(self, page: str) -> Iterator[Predicate]:
        """Yield the predicates of short sentences after the first."""
        name, read = self._pool.name(page), 0
        for sentence in self._pool.page(page)[1:]:
            text = tidied(sentence.text).rstrip(" .")
            words = text.split()
            fitting = _SHORTEST < len(words) <= _LONGEST
            if not fitting or words[0] not in {"He", "She", "It", name.split()[-1]}:
                continue
            said = " ".join(words[1:])
            if _POINTING.search(said) or not _VERB.match(said):
                continue
            doc = self._parser.parse(text)
            tokens = range(1, len(doc))
            if doc[1].pos_ not in ("VERB", "AUX") or doc[1 : len(doc)].text != said:
                continue
            phrase = Phrase(said, facts_of(doc, tokens))
            yield Predicate(phrase, SUPPORTS, sentence.key)
            read += 1
            if read == _SENTENCES:
                return
