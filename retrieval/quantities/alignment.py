"""What the words around a quantity say: its verb, and whether a text may turn what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from retrieval.quantities.quantity import Quantity
from retrieval.quantities.vocabulary import ONCE, RISKS
from retrieval.text.stems import stem

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_REPORTED = re.compile(r"\b(?:says?|said|tells?|told) (?:\w+ )?that\b")
_BRACKETS = re.compile(r"(?<!\s)\s*\([^)]*+(?:\)|\Z)")


def words_of(title: str) -> set[str]:
    """Return the stems of a title's words, without those in brackets."""
    return {stem(word) for word in re.findall(r"\w+", _BRACKETS.sub("", title))} - {"the", "of"}


def happens_once(verb: Token) -> bool:
    """Return whether what a verb says happens to a thing once, so that it has one date."""
    return verb.lemma_.lower() in ONCE


def is_risky(doc: Doc, items: Iterable[Quantity], allowed: frozenset[str]) -> bool:
    """Return whether a text denies, hedges, plans, asks or corrects something.

    ``items``: its quantities, whose words ("no more than") do not count. ``allowed``: words that
    the claim contains too.
    """
    if "?" in doc.text or ("used to" in doc.text and "used" not in allowed):
        return True
    if _REPORTED.search(doc.text):
        return True
    places = [(item.start, item.end) for item in items]
    return any(
        form in RISKS and form not in allowed
        for token in doc
        if token.is_sent_start or (token.pos_ != "PROPN" and token.ent_type_ != "DATE")
        if not _adds_a_word(token)
        for form in (token.lower_, token.lemma_.lower())
        if not any(start <= token.idx < end for start, end in places)
    )


def _adds_a_word(token: Token) -> bool:
    """Return whether "but" adds what is no statement and no number: "heavy but slow"."""
    after = token.doc[token.i + 1 : token.sent.end]
    return token.lower_ == "but" and not any(
        one.like_num or one.pos_ in ("VERB", "AUX") for one in after
    )


def is_risky_title(title: str) -> bool:
    """Return whether a title says that the text below it asks or corrects something."""
    return "?" in title or bool(set(re.findall(r"\w+", title.lower())) & RISKS)


def quoted(doc: Doc, item: Quantity) -> bool:
    """Return whether a quantity stands in quotation marks."""
    before = doc.text[: item.at]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def head_of(doc: Doc, item: Quantity) -> Token:
    """Return the word of a quantity that the rest of it depends on."""
    span = doc.char_span(item.start, item.end, alignment_mode="expand")
    assert span is not None
    return span.root


def verb_of(token: Token) -> Token | None:
    """Return the verb that a word belongs to."""
    return next((one for one in token.ancestors if one.pos_ in ("VERB", "AUX")), None)
