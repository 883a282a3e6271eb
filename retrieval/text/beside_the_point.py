"""Texts that share the words of a claim and yet cannot support or refute it.

A verifier is drawn to shared words. Each rule here names words of the claim that a text must treat
as the claim does; where it does not, what the verifier makes of the text is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lemminflect import getAllLemmas

from retrieval.text.function_words import FUNCTION_WORDS
from retrieval.types import REFUTES, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Parse: TypeAlias = "Callable[[str], Doc]"

_BOTH: frozenset[Label] = frozenset((SUPPORTS, REFUTES))
_NONE: frozenset[Label] = frozenset()
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”")
_WORD = re.compile(r"\w+")
_SHORTEST = 3  # words of a quotation; a shorter one is a name
_REPEATED = 0.5  # share of the words of a quotation that a text must have
_SUBJECTS = {"nsubj", "nsubjpass"}
_KINDS = {"amod", "compound"}
_LISTED = {"NOUN", "PROPN", "ADP", "ADJ"}
_RANKS = {"first", "only", "last", "youngest", "oldest"}
# What says, in some words, that nothing else is so, or was so before.
_RANKED = re.compile(
    r"\b(?:first|only|last|sole(?:ly)?|alone|unique(?:ly)?|single|never|none|nobody|nothing|no"
    r"|most|least|best|worst|\w{2,}est|pioneer\w*|original\w*|inaugural|founding|founde[dr]"
    r"|founders?|began|beg[iu]n\w*|start\w*|until|before|previous\w*|earlier|final\w*|end\w*"
    r"|one|rest|but|else|except\w*|all|any|every(?:one|body)?|younger|older|abolish\w*|abdicat\w*|exclusive\w*|introduc\w*|invent\w*|debut\w*|premiere\w*|ever)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_LATER = re.compile(
    r"\b(?:not|never|no|second|third|fourth|fifth|last|only|before|after|\w+n['’]t|\d+(?:nd|rd|th))\b",  # noqa: RUF001
    re.IGNORECASE,
)
_ANYONE = {"person", "human", "people", "someone"}
_PEOPLE = {"one", "man", "woman"}
# Some people and not others; to be an astronaut goes with what makes somebody the first.
_SOME_PEOPLE = {"woman", "girl", "boy", "child", "lady", "couple"}
_PAUSES = {",", ":", ";", "(", "-", "\u2013", "\u2014"}
_LONGEST_TITLE = 8  # words
_SMALL = re.compile(r"\A\w{3,}(?=,)|\b[^\W\dA-Z_]{3,}\b")  # "Cogito, ergo sum", not "Ada Vale"
_TRANSLATED = re.compile(r"\btranslat\w+|\bliterally\b|\blit\.|\((?:from |in )?[A-Z][a-z]+: ")


@dataclass(frozen=True, slots=True)
class Point:
    """What a text must treat as the claim does.

    ``quoted``: the words of each quotation, which are somebody's own, but for its subject.
    ``member`` and ``kind``: the claim says that the first is one of the second; their words in base
    form. ``ranked``: the claim
    says that its subject is the first, the only one and so on. ``first_of``: what kind of thing it
    is the first of. ``named``: the names in the subject.
    """

    quoted: tuple[frozenset[str], ...] = ()
    member: str = ""
    kind: tuple[str, ...] = ()
    ranked: bool = False
    first_of: str = ""
    named: frozenset[str] = frozenset()

    def missed_by(self, texts: Sequence[str], parse: Parse) -> frozenset[Label]:
        """Return the labels that the texts, read together, cannot give the claim."""
        whole = " ".join(texts)
        said = _words(whole)
        if any(len(words & said) < _REPEATED * len(words) for words in self.quoted):
            return _NONE if any(map(_has_original, texts)) else _BOTH
        if self.kind and _listed_apart(self, texts, parse):
            return _BOTH
        if self.ranked and not _RANKED.search(whole):
            return frozenset((SUPPORTS,))
        if self.first_of and self.named & said:
            return _of_other_firsts(self.first_of, texts, parse)
        return _NONE


def point_of(claim: Doc) -> Point:
    """Return what a text must treat as the parsed claim does."""
    root = next((sentence.root for sentence in claim.sents), None)
    subject = _child(root, _SUBJECTS)
    quoted = tuple(_quotations(claim, subject))
    said = _child(root, {"attr"})
    if root is None or subject is None or said is None or root.lemma_ not in ("be", "become"):
        return Point(quoted)
    member, kind = _membership(subject, said) if root.lemma_ == "be" else ("", ())
    ranks = {t.lower_ for t in (*said.children, said) if t == said or t.dep_ == "amod"} & _RANKS
    if any(t.dep_ == "neg" for t in (*root.children, *said.children)):
        ranks = set()
    named = frozenset(t.lower_ for t in subject.subtree if t.pos_ == "PROPN")
    first_of = _base(said) if "first" in ranks else ""
    return Point(quoted, member, kind, bool(ranks), first_of, named)


def _quotations(claim: Doc, subject: Token | None) -> Iterator[frozenset[str]]:
    """Yield the words of each quotation, but not of one that the claim is about, a title say."""
    about = {t.i for t in subject.subtree} if subject is not None else set()
    for found in _QUOTED.finditer(claim.text):
        said = found[1] or found[2]
        span = claim.char_span(*found.span(), alignment_mode="expand")
        is_subject = span is not None and not about.isdisjoint(range(span.start, span.end))
        if len(_WORD.findall(said)) >= _SHORTEST and not is_subject and (words := _words(said)):
            yield words


def _has_original(text: str) -> bool:
    """Return whether a title, or a quotation in a text, is in another language than English."""
    quotations = (first or second for first, second in _QUOTED.findall(text))
    short = (text,) if len(_WORD.findall(text)) <= _LONGEST_TITLE else ()
    return bool(_TRANSLATED.search(text)) or any(map(_is_foreign, (*short, *quotations)))


def _is_foreign(text: str) -> bool:
    """Return whether a third of the words are not English; those with a capital may be names."""
    words = {word.lower() for word in _SMALL.findall(text)}
    unknown = [word for word in words if not getAllLemmas(word)]
    return len(words) > 1 and not words & FUNCTION_WORDS and len(unknown) * 3 >= len(words)


def _child(of: Token | None, relations: set[str]) -> Token | None:
    return next((t for t in of.children if t.dep_ in relations), None) if of else None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - FUNCTION_WORDS


def _membership(subject: Token, said: Token) -> tuple[str, tuple[str, ...]]:
    """Return thing and kind of a claim such as "Oxygen is a noble gas.", else nothing."""
    more = {"poss", "relcl", "acl", "conj", "prep", "cc"}
    if said.pos_ != "NOUN" or subject.pos_ not in ("NOUN", "PROPN"):
        return "", ()
    if any(t.dep_ in more or t.lower_ == "the" or t.tag_ == "JJR" for t in said.children):
        return "", ()
    if said.tag_ == "NN" and not any(t.lower_ in ("a", "an", "no") for t in said.children):
        return "", ()
    before = (t for t in said.children if t.i < said.i and t.dep_ in _KINDS)
    return _base(subject), (*map(_base, before), _base(said))


def _base(token: Token) -> str:
    return token.lemma_.casefold()


def _of_other_firsts(kind: str, texts: Sequence[str], parse: Parse) -> frozenset[Label]:
    """Return what a text cannot say because all that it calls the first is of another kind.

    The first woman need not be the first person, and who is of the first couple to win may be the
    first woman too.
    """
    firsts = [
        t for text in texts if _FIRST.search(text) for t in parse(text) if t.lower_ == "first"
    ]
    kinds = {_base(t.head) if t.dep_ == "amod" else "" for t in firsts}
    if not kinds or "" in kinds or kind in kinds:
        return _NONE
    narrower = kind in _ANYONE and all(_is_some_people(t.head) for t in firsts)
    other = kinds.isdisjoint(_ANYONE | _PEOPLE) and not any(map(_LATER.search, texts))
    return frozenset(label for label, lost in ((SUPPORTS, narrower), (REFUTES, other)) if lost)


def _is_some_people(kind: Token) -> bool:
    """Return whether a word divides people by sex, age or nationality: "American", "Thai pilot"."""
    nation = any(t.ent_type_ == "NORP" for t in (kind, *kind.children))
    return nation or _base(kind) in _SOME_PEOPLE


def _listed_apart(point: Point, texts: Sequence[str], parse: Parse) -> bool:
    """Return whether thing and kind stand only in different parts of the lists of a text."""
    found = [
        _apart(one, other)
        for text in texts
        if point.member in text.casefold() and point.kind[-1] in text.casefold()
        for one, other in _pairs(point, parse(text))
    ]
    return bool(found) and all(found)


def _pairs(point: Point, doc: Doc) -> Iterator[tuple[Token, Token]]:
    things = [t for t in doc if _base(t) == point.member]
    *before, last = point.kind
    for kind in (t for t in doc if _base(t) == last):
        if {_base(t) for t in kind.children}.issuperset(before):
            yield from ((thing, kind) for thing in things)


def _apart(thing: Token, kind: Token) -> bool:
    """Return whether two words are in different parts of a list: "neon or oxygen".

    "Helium and other noble gases" are all of the kind.
    """
    ways = [thing, *thing.ancestors], [kind, *kind.ancestors]
    meeting = next((t for t in ways[0] if t in ways[1]), None)
    if meeting is None or any(t.lower_ in ("other", "another") for t in kind.children):
        return False
    if _may_explain(thing, kind):
        return False
    below = [way[way.index(meeting) - 1] for way in ways if way[0] != meeting]
    return any(t.dep_ == "conj" and t.pos_ in _LISTED for t in below)


def _may_explain(thing: Token, kind: Token) -> bool:
    """Return whether one may say what the other is: "metals, copper and zinc", "zinc, a metal"."""
    doc, start = thing.doc, kind.left_edge.i
    if thing.i > kind.i:
        if kind.head.lemma_ == "include":  # the kind is one of the things in the list
            return False
        return kind.tag_ in ("NNS", "NNPS") and doc[kind.i + 1].text in _PAUSES
    article = doc[start].lower_ in ("a", "an")
    return article and start == thing.i + 2 and doc[start - 1].text in _PAUSES
