"""A place in an order: what is the ninth-largest island is not the largest one.

A verifier that reads "the largest European island, and the ninth-largest in the world" takes it for
the largest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.quantities.relation import Ruling
from retrieval.text.stems import stem
from retrieval.text.titled import titled
from retrieval.types import REFUTES

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LATER = re.compile(
    r"(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|hundredth"
    r"|\w+teenth|\w+ieth|\d+1st|\d*(?:2nd|3rd|\dth))",
    re.IGNORECASE,
)
_DEGREES = {"most", "least"}
_NAMING = {"NOUN", "PROPN", "ADJ"}
_UP = {"conj", "appos", "attr", "ccomp", "advcl", "oprd"}


@dataclass(frozen=True, slots=True)
class First:
    """The claim that a thing is the first of its kind by what an adjective says.

    ``thing`` and ``within``: the stems of its name, and of the place or group that it is the first
    in, empty if the claim names none. ``kind``: the base form of the noun; ``of``: the stems of
    what is said of the kind.
    """

    thing: frozenset[str]
    adjective: str
    kind: str
    of: frozenset[str]
    within: frozenset[str]

    def ruling(self, title: str, sentence: Doc) -> Ruling | None:
        """Return the ruling of a sentence by which the thing comes later; None of any other."""
        if titled(title) != self.thing or not self._is_subject(sentence):
            return None
        for adjective, kind in _superlatives(sentence):
            later = next((t for t in _before(adjective) if _LATER.fullmatch(t.text)), None)
            same = (_base(adjective), _base(kind)) == (self.adjective, self.kind)
            if later is None or not same or not _is_said_of_subject(kind):
                continue
            beside = _stems(kind)
            if self.of <= beside and self.within <= beside:
                said = sentence[later.i : kind.i + 1].text
                first = sentence[adjective.i - (adjective.tag_ != "JJS") : adjective.i + 1].text
                return Ruling(REFUTES, f"The “{said}” is not the {first} one.")
        return None

    def _is_subject(self, sentence: Doc) -> bool:
        subject = next((t for t in sentence if t.dep_ == "nsubj" and t.head.dep_ == "ROOT"), None)
        if subject is None or any(t.dep_ == "poss" for t in subject.children):
            return False
        known = subject.pos_ == "PRON" or any(t.lower_ == "the" for t in subject.children)
        return known or self.thing <= _stems(subject) | {stem(subject.text)}


def claimed_first(claim: Doc) -> First | None:
    """Return what "Orn is the largest city of Norl." claims, also as "at least as large as any"."""
    root = next((t for t in claim if t.dep_ == "ROOT"), None)
    thing = _child(root, "nsubj")
    if root is None or root.lemma_ != "be" or thing is None or thing.pos_ not in _NAMING:
        return None
    if any(t.dep_ == "neg" for t in root.children):
        return None
    if (adjective := _child(root, "acomp")) is not None:
        than = next((t for t in adjective.children if t.dep_ == "prep" and t.lower_ == "as"), None)
        kind = _child(than, "pobj")
        if kind is None or not any(t.lower_ == "any" for t in kind.children):
            return None
        found = [(adjective, kind)]
    else:
        found = [one for one in _superlatives(claim) if one[1].dep_ == "attr"]
    if len(found) != 1 or any(_LATER.fullmatch(t.text) for t in claim):
        return None
    ((adjective, kind),) = found
    named = frozenset(stem(t.text) for t in thing.subtree if t.pos_ in _NAMING)
    of = frozenset(stem(t.text) for t in kind.children if t.dep_ in ("amod", "compound"))
    inside = (t for prep in kind.children if prep.dep_ == "prep" for t in prep.subtree)
    within = frozenset(stem(t.text) for t in inside if t.pos_ in _NAMING)
    own = {stem(adjective.text)}
    return First(named, _base(adjective), _base(kind), of - own, within)


def _superlatives(doc: Doc) -> Iterator[tuple[Token, Token]]:
    """Yield each adjective of the highest degree with the noun that it belongs to."""
    for token in doc:
        if token.tag_ == "JJS" and token.lower_ not in _DEGREES:
            adjective = token
        elif token.lower_ in _DEGREES and token.head.pos_ == "ADJ":
            adjective = token.head
        else:
            continue
        if adjective.dep_ == "amod":
            yield adjective, adjective.head


def _before(adjective: Token) -> Iterator[Token]:
    """Yield the words that belong to a superlative: "second" of "second-most populous"."""
    for child in adjective.children:
        yield child
        if child.lower_ in _DEGREES:
            yield from child.children


def _is_said_of_subject(kind: Token) -> bool:
    token = kind
    while token.dep_ in _UP:
        token = token.head
    return token.dep_ == "ROOT" and token != kind


def _stems(kind: Token) -> set[str]:
    return {stem(t.text) for t in kind.subtree if t.pos_ in _NAMING and t != kind}


def _base(token: Token) -> str:
    return token.lemma_.casefold()


def _child(of: Token | None, relation: str) -> Token | None:
    return next((t for t in of.children if t.dep_ == relation), None) if of is not None else None
