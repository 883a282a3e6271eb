"""Claims that a thing is not of a kind, and the sentences that may deny them.

A verifier takes "Spain is a country in Europe" for a denial of "Europe is not a country", and "The
whale shark is a fish" for one of "A whale is not a fish".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retrieval.text.stems import stem

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_BRACKETS = re.compile(r"\s*\([^)]*+\)$")
_NAMING = {"NOUN", "PROPN", "ADJ", "NUM"}
_ASIDE = {"appos", "relcl", "acl"}


def thing_of_no_kind(claim: Doc) -> frozenset[str]:
    """Return the stems of the thing of a claim such as "Europe is not a country", else none."""
    for verb in claim:
        if verb.dep_ != "ROOT" or verb.lemma_ != "be":
            continue
        thing = next((t for t in verb.children if t.dep_ == "nsubj" and t.pos_ != "PRON"), None)
        kind = any(t.dep_ == "attr" and t.pos_ == "NOUN" for t in verb.children)
        if thing is not None and kind and any(t.dep_ == "neg" for t in verb.children):
            return _stems(thing)
    return frozenset()


def speaks_of(thing: frozenset[str], title: str, sentence: Doc) -> bool:
    """Return whether a sentence is from the document about a thing, or has it as a subject.

    A person may have more names than ``thing``, the stems of the words that name it.
    """
    if thing == frozenset(map(stem, re.findall(r"\w+", _BRACKETS.sub("", title)))):
        return True
    subjects = (token for token in sentence if token.dep_ in ("nsubj", "nsubjpass"))
    return any(
        (own := _stems(token)) == thing or (token.ent_type_ == "PERSON" and thing < own)
        for token in subjects
    )


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
