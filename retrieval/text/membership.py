"""A claim that a thing is of a kind, and sentences that name the kind and say nothing of that.

"Brass is an alloy of zinc." does not make zinc an alloy, nor "The tomato is a plant whose fruit is
edible." deny that it is a fruit. A verifier is drawn to the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.text.stems import stem
from retrieval.text.titled import titled
from retrieval.types import REFUTES, SUPPORTS, Label

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_BOTH: frozenset[Label] = frozenset((SUPPORTS, REFUTES))
_SUPPORTS: frozenset[Label] = frozenset((SUPPORTS,))
_REFUTES: frozenset[Label] = frozenset((REFUTES,))
_NONE: frozenset[Label] = frozenset()
_ITS_WORDS = {"det", "amod", "compound", "punct"}
_AUXILIARIES = {"aux", "auxpass"}
_CLAUSES = {"relcl", "acl"}
_SUBJECTS = {"nsubj", "nsubjpass"}
_IS = {"be", "become", "remain"}
_HAVE = {"have", "bear", "produce", "yield", "grow"}
_INCLUDE = {"include", "comprise"}
_EXCLUDE = {"exclude"}
_EXAMPLES = {"as", "like", "including", "include"}
_OF = {"of", "from", "with"}
_USED = {"use", "eat", "serve"}
_BESIDE = {"for", "in", "into", "by", "with", "from", "on", "to", "at", "near", "against"}


@dataclass(frozen=True, slots=True)
class OfKind:
    """The claim that a thing is of a kind; each as the base form of its last word."""

    thing: str
    kind: str

    def denied_in(self, read: Sequence[tuple[str, Doc]]) -> frozenset[Label]:
        """Return the labels that (title, sentence) pairs, read together, cannot give the claim.

        Of several, each that has the kind must be about the thing, or about what another says that
        the thing is: "Tin is a metal." and "Brass is an alloy." do not belong together.
        """
        if len(read) == 1:
            return self.denied_by(*read[0])
        about = [(title, sentence) for title, sentence in read if self._is_about(title, sentence)]
        named = {word for _, sentence in about for word in _said(sentence)}
        with_kind = [pair for pair in read if any(_base(token) == self.kind for token in pair[1])]
        belong = all(
            self.denied_by(*pair) != _BOTH if pair in about else named.issuperset(titled(pair[0]))
            for pair in with_kind
        )
        return _NONE if belong else _BOTH

    def _is_about(self, title: str, sentence: Doc) -> bool:
        return self._is_title(title) or any(
            _says_what(token) for token in sentence if _base(token) == self.thing
        )

    def denied_by(self, title: str, sentence: Doc) -> frozenset[Label]:
        """Return the labels that a sentence alone cannot give the claim."""
        kinds = [t for t in sentence if t.pos_ in ("NOUN", "PROPN") and _base(t) == self.kind]
        things = [t for t in sentence if _base(t) == self.thing]
        about = self._is_title(title)
        says_what = about or any(map(_says_what, things))
        if not kinds:
            if not about and not any(t.dep_ in _SUBJECTS for t in things):
                return _BOTH
            return _NONE if any(map(_is_what_it_is, sentence)) else _REFUTES
        listed = {label for t in things for k in kinds if (label := _listed(t, k))}
        if len(listed) == 1:
            return _REFUTES if SUPPORTS in listed else _SUPPORTS
        if listed:
            return _NONE
        if all(_is_made_of(k, things) or _is_had(k) for k in kinds):
            return _BOTH
        if all(_is_made_of(k, things) or _is_had(k) or _is_beside(k, things) for k in kinds):
            return _SUPPORTS if says_what else _BOTH
        return _NONE

    def _is_title(self, title: str) -> bool:
        return titled(title) == {stem(self.thing)}


def of_kind(claim: Doc) -> OfKind | None:
    """Return what a claim such as "Tin is an alloy." says, ``None`` of any other claim."""
    root = next((t for t in claim if t.dep_ == "ROOT"), None)
    if root is None or root.lower_ not in ("is", "are"):
        return None
    thing = next((t for t in root.children if t.dep_ == "nsubj"), None)
    kind = next((t for t in root.children if t.dep_ == "attr"), None)
    if thing is None or kind is None or not _is_generic(thing) or not _is_kind(kind):
        return None
    if any(t.dep_ == "neg" for t in root.children):
        return None
    return OfKind(_base(thing), _base(kind))


def _is_generic(thing: Token) -> bool:
    """Return whether a thing is a kind of things itself, "tin", or has a name of one word."""
    named = any(t.pos_ == "PROPN" and t != thing for t in thing.subtree)
    return thing.pos_ != "PRON" and not named and {t.dep_ for t in thing.children} <= _ITS_WORDS


def _is_kind(kind: Token) -> bool:
    """Return whether a word is a kind: "an alloy", "noble gases"; not "the best of all"."""
    articles = {t.lower_ for t in kind.children if t.dep_ == "det"}
    whole = {t.dep_ for t in kind.children} <= _ITS_WORDS and articles <= {"a", "an"}
    return kind.pos_ == "NOUN" and whole and (kind.tag_ == "NNS" or bool(articles))


def _base(token: Token) -> str:
    return token.lemma_.casefold()


def _first(token: Token) -> Token:
    """Return the first word of the list that a word is in."""
    while token.dep_ == "conj" and token.head.pos_ in ("NOUN", "PROPN", "ADJ"):
        token = token.head
    return token


def _said(sentence: Doc) -> Iterator[str]:
    """Yield the stems of what a sentence says that something is, without clauses about that."""
    for said in (token for token in sentence if token.dep_ in ("attr", "appos")):
        clauses = {t for child in said.subtree if child.dep_ in _CLAUSES for t in child.subtree}
        yield from (stem(token.lemma_) for token in said.subtree if token not in clauses)


def _is_what_it_is(token: Token) -> bool:
    """Return whether a word says what something is: "is brittle, a nonmetal", "tin, a metal"."""
    return token.dep_ == "appos" or (token.lemma_ in _IS and token.dep_ not in _AUXILIARIES)


def _says_what(thing: Token) -> bool:
    """Return whether a thing is said to be something."""
    first = _first(thing)
    return first.dep_ in _SUBJECTS and first.head.lemma_ in _IS


def _listed(thing: Token, kind: Token) -> Label | None:
    """Return whether a thing is among the examples of a kind, or is excepted from them."""
    way = [thing, *thing.ancestors]
    verb = kind.head
    if kind.dep_ != "nsubj" or verb not in way:
        return None
    inner = way[: way.index(verb)]
    if any(t.lemma_ in _EXCLUDE for t in (*inner, verb)):
        return REFUTES
    return SUPPORTS if verb.lemma_ in _INCLUDE else None


def _is_made_of(kind: Token, things: list[Token]) -> bool:
    """Return whether another thing is said to be of the kind, made of this one."""
    if kind.dep_ != "attr" or not things:
        return False
    of = [t for t in kind.children if t.dep_ == "prep" and t.lower_ in _OF]
    within = {t for prep in of for t in prep.subtree}
    return any(t in within for t in things) and not any(map(_says_what, things))


def _is_had(kind: Token) -> bool:
    """Return whether a thing has what is of the kind: "whose fruit", "bears fruits"."""
    if any(t.tag_ in ("WP$", "PRP$") for t in kind.children):
        return kind.dep_ != "attr"  # "Orn is its capital."
    first = _first(kind)
    return first.dep_ == "dobj" and first.head.lemma_ in _HAVE


def _is_beside(kind: Token, things: list[Token]) -> bool:
    """Return whether the kind is only what something is done with or to, or where it is."""
    if any(t in things for t in kind.subtree):
        return False
    first = _first(kind)
    if first.dep_ == "dobj":
        return first.head.lemma_ not in _INCLUDE | _IS
    if first.dep_ != "pobj":
        return False
    prep = first.head
    return prep.lower_ in _BESIDE or (prep.lower_ == "as" and prep.head.lemma_ in _USED)
