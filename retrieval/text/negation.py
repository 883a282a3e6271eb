"""Claims that a thing is not of a kind, and the sentences that may deny them.

A verifier takes "Spain is a country in Europe" for a denial of "Europe is not a country", and "The
whale shark is a fish" for one of "A whale is not a fish".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.text.stems import stem
from retrieval.text.titled import titled

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_NAMING = {"NOUN", "PROPN", "ADJ", "NUM"}
_ALL = {"all", "both", "each", "every"}
_ASIDE = {"appos", "relcl", "acl"}


@dataclass(frozen=True, slots=True)
class NotOfKind:
    """The claim that a thing is not of a kind: the stems of the words that name both."""

    thing: frozenset[str]
    kind: frozenset[str]

    def is_denied_by(self, read: Sequence[tuple[str, Doc]]) -> bool:
        """Return whether (title, sentence) pairs that are read together may deny it.

        One of them is about the thing, and each other one that has a word of the kind is about
        what such a sentence names: "Ada is a wright." and "A wright is a builder.", but not "Europe
        is a continent." and "Spain is a country in Europe.".
        """
        about = [sentence for title, sentence in read if self._is_about(title, sentence)]
        if not about or len(read) == 1:
            return bool(about)
        named = {stem(token.text) for sentence in about for token in sentence}
        return all(
            sentence in about
            or not self.kind & {stem(token.lemma_) for token in sentence}
            or named.issuperset(titled(title))
            for title, sentence in read
        )

    def _is_about(self, title: str, sentence: Doc) -> bool:
        """Return whether a sentence is from the document about the thing, or has the thing as a
        subject, or says something of all that the thing belongs to.

        The title may name the kind too ("Thai language"), and a person may have more names than in
        the claim.
        """
        named = titled(title)
        if self.thing in (named, named - self.kind):
            return True
        return any(
            self._is(token) or (_of_all(token) and self.thing <= _stems(token.head))
            for token in sentence
            if token.dep_ in ("nsubj", "nsubjpass")
        )

    def _is(self, subject: Token) -> bool:
        own = _stems(subject)
        return own == self.thing or (subject.ent_type_ == "PERSON" and self.thing < own)


def not_of_kind(claim: Doc) -> NotOfKind | None:
    """Return what a claim such as "Europe is not a country" says, ``None`` of any other claim."""
    for verb in claim:
        if verb.dep_ != "ROOT" or verb.lemma_ != "be":
            continue
        thing = next((t for t in verb.children if t.dep_ == "nsubj" and t.pos_ != "PRON"), None)
        kind = next((t for t in verb.children if t.dep_ == "attr" and t.pos_ == "NOUN"), None)
        if thing is not None and kind is not None and any(t.dep_ == "neg" for t in verb.children):
            return NotOfKind(_stems(thing), _stems(kind))
    return None


def _of_all(subject: Token) -> bool:
    return any(token.lower_ in _ALL for token in subject.children)


def _stems(subject: Token) -> frozenset[str]:
    """Return the stems of the words that name a subject, without what is said of it in passing."""
    return frozenset(
        stem(token.lemma_)
        for token in subject.subtree
        if token.pos_ in _NAMING and not _is_aside(token, subject)
    )


def _is_aside(token: Token, subject: Token) -> bool:
    while token != subject:
        if token.dep_ in _ASIDE:
            return True
        token = token.head
    return False
