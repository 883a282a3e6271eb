"""What the first sentence of a page says its subject is, and phrases that describe it so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.index.title_key import split_disambiguation
from retrieval.language.english import EnglishParser
from training.compositions.composition import Fact, Phrase, moved
from training.compositions.syntax import facts_of, noun_phrase, prepositional_phrase, written
from training.compositions.tidying import tidied, with_article
from training.compositions.vocabulary import MADE, UNTELLING, trade, words
from training.sentence_pool import PoolSentence, SentencePool

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LIFE = re.compile(
    r"\([^()]*?(?:born|b\.)[^()]*?\b(?P<born>1[0-9]{3}|20[0-9]{2})\b"
    r"|\([^()]*?\b(?P<from>1[0-9]{3})\s*[-–][^()]*?\b(?P<to>1[0-9]{3}|20[0-9]{2})\b[^()]*\)"  # noqa: RUF001
)
_HE, _SHE = re.compile(r"\b(?:He|he|His|his)\b"), re.compile(r"\b(?:She|she|Her|her)\b")
_TAILS = words("in by from of at on")
_LONGEST_TAIL = 7  # words
_LONGEST_NOUN = 6


@dataclass(frozen=True, slots=True)
class Definition:
    """Who or what a page is about; ``phrases`` are noun phrases that are true of it."""

    page: str
    sentence_id: int
    name: str
    verb: str  # is, was, are or were
    noun: str  # what it is, in one word
    phrases: tuple[Phrase, ...]
    is_person: bool
    born: str | None
    died: str | None

    @property
    def was_born(self) -> Phrase | None:
        """``born in YEAR``."""
        return _in_year("born", self.born) if self.born else None


class DefinitionReader:
    """Reads definitions off first sentences."""

    def __init__(self, pool: SentencePool, parser: EnglishParser) -> None:
        """Nothing is read yet."""
        self._pool = pool
        self._parser = parser
        self._read: dict[str, Definition | None] = {}

    def definition(self, page: str) -> Definition | None:
        """Return a page's definition; nothing where its first sentence holds none."""
        if page not in self._read:
            self._read[page] = self._defined(self._pool.sentences[self._pool.by_page[page][0]])
        return self._read[page]

    def is_person(self, page: str) -> bool:
        """Whether the page tells of a life; nothing is parsed for it."""
        first = self._pool.sentences[self._pool.by_page[page][0]].text
        return bool(_LIFE.search(first[:250]))

    def gender(self, page: str) -> str | None:
        """Return "he" or "she" where the page uses one of them alone."""
        says = " ".join(self._pool.sentences[i].text for i in self._pool.by_page[page])
        he, she = len(_HE.findall(says)), len(_SHE.findall(says))
        return None if min(he, she) or he == she else ("he" if he else "she")

    def _defined(self, sentence: PoolSentence) -> Definition | None:
        name = split_disambiguation(sentence.title)[0]
        if sentence.sentence_id != 0:
            return None
        doc = self._parser.parse(tidied(sentence.text))
        verb = next((token for token in doc if token.dep_ == "ROOT"), None)
        if verb is None or verb.lower_ not in ("is", "was", "are", "were"):
            return None
        subject = next((child for child in verb.children if child.dep_ == "nsubj"), None)
        noun = next((child for child in verb.children if child.dep_ == "attr"), None)
        if subject is None or noun is None or noun.tag_ not in ("NN", "NNS") or noun.i < verb.i:
            return None
        said = doc[subject.left_edge.i : verb.i].text
        if not any(word in said for word in name.split() if len(word) > 2 or len(name) < 5):
            return None
        if noun.lower_ in UNTELLING or len(noun_phrase(noun, 0)) > _LONGEST_NOUN + 2:
            return None
        life = _LIFE.search(sentence.text[:250])
        phrases = _phrases(doc, noun, life is not None)
        if not phrases:
            return None
        return Definition(
            page=sentence.page,
            sentence_id=0,
            name=name,
            verb=verb.lower_,
            noun=noun.lower_,
            phrases=phrases,
            is_person=life is not None,
            born=(life["born"] or life["from"]) if life else None,
            died=life["to"] if life else None,
        )


def _phrases(doc: Doc, noun: Token, is_person: bool) -> tuple[Phrase, ...]:
    determiner = next((child for child in noun.children if child.dep_ == "det"), None)
    if determiner is None:
        return ()
    if determiner.lower_ == "the":
        whole = noun_phrase(noun)
        of_what = [child for child in noun.children if child.dep_ == "prep"]
        if not of_what or of_what[0].lower_ != "of" or len(whole) > 2 * _LONGEST_NOUN:
            return ()
        return (Phrase(written(doc, whole, {}), facts_of(doc, whole)),)
    if determiner.lower_ not in ("a", "an"):
        return ()
    plain = noun_phrase(noun, 0)
    phrases = [_with_trade(doc, plain, noun)]
    if is_person:
        phrases += _of_person(doc, plain, noun, determiner)
    else:
        bare = plain - {child.i for child in noun.children if child.dep_ == "amod"}
        phrases += [
            _with_trade(doc, bare, noun, determiner).joined(Phrase(tail.text, tail.facts))
            for tail in _tails(doc, noun)
        ]
    return tuple(dict.fromkeys(phrases))


def _of_person(doc: Doc, plain: set[int], noun: Token, determiner: Token) -> list[Phrase]:
    """Further phrases: another of a person's trades, each trade alone, the nation alone."""
    phrases = []
    nations = [fact for fact in facts_of(doc, plain) if fact.kind == "nation"]
    trades = [noun, *(other for other in noun.conjuncts if other.tag_ == "NN")]
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
        phrases.append(Phrase(f"{person} person", (Fact(start, len(person), "nation"),)))
    return phrases


def _sound(doc: Doc, tokens: set[int], noun: Token) -> bool:
    """Whether the tokens are one run of words that ends with a known trade."""
    run = tokens and max(tokens) - min(tokens) == len(tokens) - 1 and max(tokens) == noun.i
    hyphens = any(doc[i].text == "-" for i in (min(tokens) - 1, max(tokens) + 1)) if run else True
    return bool(run and not hyphens and len(tokens) <= 3 and trade(noun.lower_))


def _bare_trade(doc: Doc, tokens: set[int], noun: Token) -> Phrase:
    text = written(doc, tokens, {})
    return Phrase(text, (Fact(0, len(text), "trade"),) if trade(text) else ())


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
    if start < len(text) and trade(text) and "-" not in text[start - 1 : start + 1]:
        facts.append(Fact(start, len(text), "trade"))
    return Phrase(text, tuple(facts))


def _tails(doc: Doc, noun: Token) -> list[Phrase]:
    """What is said after the noun: where it is, by whom it was made."""
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


def _in_year(verb: str, year: str) -> Phrase:
    return Phrase(f"{verb} in {year}", (Fact(len(verb) + 4, len(verb) + 8, "year"),))
