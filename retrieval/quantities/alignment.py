"""Whether a sentence speaks of the same thing as the claim, quantities aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING

from retrieval.quantities.quantity import DATE, Quantity
from retrieval.quantities.vocabulary import (
    ATTRIBUTE_OF,
    CHANGES,
    EMPTY,
    MEASURED,
    ONCE,
    QUALIFIERS,
    RISKS,
    STATES,
    WHOLES,
)
from retrieval.text.stems import stem

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_REPORTED = re.compile(r"\b(?:says?|said|tells?|told) (?:\w+ )?that\b")
_BRACKETS = re.compile(r"(?<!\s)\s*\([^)]*+(?:\)|\Z)")
_AGO = re.compile(r" (?:later|earlier|ago|before|after|prior|old|into|to go)\b")


def words_of(title: str) -> set[str]:
    """Return the stems of a title's words, without those in brackets."""
    return {stem(word) for word in re.findall(r"\w+", _BRACKETS.sub("", title))} - {"the", "of"}


def content(doc: Doc, quantities: Iterable[Quantity]) -> list[Token]:
    """Return the words of a text that mean something, outside its quantities."""
    inside = [(item.start, item.end) for item in quantities]
    return [
        token
        for token in doc
        if not token.is_punct
        and not token.is_space
        and token.lower_ not in EMPTY
        and token.lemma_.lower() not in EMPTY
        and not any(start < token.idx + len(token) and token.idx < end for start, end in inside)
    ]


def attributes(tokens: Iterable[Token], dimension: str = "") -> set[str]:
    """Return what is measured, by these words and by the dimension: "height", "length" and so on.

    A length may be many things, an area is an area. What is above sea level is a height.
    """
    names = (
        "height"
        if token.lower_ == "level" and token.i > 0 and token.nbor(-1).lower_ == "sea"
        else ATTRIBUTE_OF.get(token.lemma_.lower())
        for token in tokens
    )
    return {name for name in (*names, MEASURED.get(dimension)) if name is not None}


def stems(tokens: Iterable[Token]) -> set[str]:
    """Return the stems of words and of their base forms."""
    return {stem(form) for token in tokens for form in (token.text, token.lemma_)}


def covered(token: Token, said: set[str], measured: set[str]) -> bool:
    """Return whether a word of the claim is among the stems or the attributes that were said."""
    attribute = ATTRIBUTE_OF.get(token.lemma_.lower())
    if attribute is not None:
        return attribute in measured
    return stem(token.text) in said or stem(token.lemma_) in said


def same_verb(claimed: str, found: str) -> bool:
    """Return whether two verbs are the same, or both say only what something is or measures.

    Both are given by their base forms; to live up to an age is to die at it.
    """
    if {claimed, found} == {"live", "die"}:
        return True
    return claimed == found or (claimed in STATES and found in STATES)


def is_change(verb: str) -> bool:
    """Return whether a verb says that a quantity changes, so that "from 2 to 3" is no range."""
    return verb in CHANGES


def same_change(
    claim: Doc, claimed: Quantity, verb: str, doc: Doc, found: Quantity, found_verb: str
) -> bool:
    """Return whether both quantities are changes ("by 8 %") or both what comes of it ("to 8 %").

    The verbs are those of the two quantities, by their base forms.
    """
    before, after = _word_before(claim, claimed), _word_before(doc, found)
    if {verb, found_verb} <= CHANGES and claimed.dimension != DATE:
        return (before or "by") == (after or "by")
    return (before == "by") == (after == "by")


def _word_before(doc: Doc, item: Quantity) -> str:
    words = doc.text[: item.start].split()
    return words[-1].lower() if words and words[-1].lower() in ("by", "to", "from") else ""


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


def subject_of(verb: Token) -> Token | None:
    """Return the subject of a verb, also of one that leaves it out."""
    for one in (verb, *verb.ancestors):
        named = [child for child in one.children if child.dep_ in ("nsubj", "nsubjpass")]
        if named and not (named[0].tag_ in ("WDT", "WP") and one.dep_ == "relcl"):
            return named[0]
        if one.dep_ in ("relcl", "acl"):
            return one.head
        if one.dep_ not in ("conj", "advcl", "xcomp", "ROOT", "ccomp", "aux", "auxpass"):
            return one.head if one.head.pos_ in ("NOUN", "PROPN") else None
    return None


def qualified(doc: Doc, item: Quantity, allowed: frozenset[str]) -> bool:
    """Return whether words near a quantity say that only a part or a change is meant.

    ``allowed``: words that the claim contains too.
    """
    head = head_of(doc, item)
    near = [*head.subtree, *head.ancestors, *(c for a in head.ancestors for c in a.children)]
    if item.dimension == "time" and _AGO.match(doc.text, item.end):
        return True
    return any(
        token.lemma_.lower() in QUALIFIERS
        and token.lemma_.lower() not in allowed
        and not item.start <= token.idx < item.end
        for token in near
    )


def in_subject(doc: Doc, item: Quantity) -> bool:
    """Return whether a quantity is of the subject: "60 otters live", "there are 60 otters"."""
    head = head_of(doc, item)
    for token in (head, *head.ancestors):
        if token.dep_ in ("nsubj", "nsubjpass"):
            return True
        if token.pos_ in ("VERB", "AUX"):
            return any(child.dep_ == "expl" for child in token.children)
    return False


def same_subject(claimed: Token | None, found: Token | None, title: str) -> bool:
    """Return whether the subject of a sentence on a page is that of the claim.

    Every word of the claim's subject must be in the other one or in the title.
    """
    if claimed is None or found is None:
        return False
    wanted, titled = {stem(token.text) for token in _own_words(claimed)}, words_of(title)
    said = stems(_own_words(found))
    if not wanted or not _names_only(found, wanted | titled, titled):
        return False
    if wanted <= said:  # not "the school of Selm" for "Selm"
        head = found.lemma_.lower()
        return head in ATTRIBUTE_OF or bool(stems([found]) & wanted)
    same_head = stem(found.lemma_) == stem(claimed.lemma_)
    return wanted <= said | titled and (same_head or is_title(found, title))


def is_title(subject: Token, title: str) -> bool:
    """Return whether the subject of a sentence is what its page is about.

    A pronoun, or "the mountain", stands for the title.
    """
    titled, own = words_of(title), _own_words(subject)
    if subject.pos_ == "PRON" or (subject.lemma_.lower() in WHOLES and len(own) == 1):
        return True
    return bool(titled & stems([subject])) and _names_only(subject, titled, titled)


def _names_only(subject: Token, known: set[str], titled: set[str]) -> bool:
    """Whether all names of a subject are known; those of a page may have a middle name."""
    own = _own_words(subject)
    return (bool(titled) and titled <= stems(own)) or all(
        token.pos_ != "PROPN" or stem(token.text) in known for token in own
    )


def _own_words(subject: Token) -> list[Token]:
    """Return the words of a subject that say what it is, without clauses that follow it."""
    return [
        token
        for token in subject.subtree
        if token.pos_ in ("NOUN", "PROPN", "ADJ", "NUM")
        and token.lemma_.lower() not in ATTRIBUTE_OF
        and not any(one.dep_ in ("relcl", "acl", "appos") for one in _up_to(token, subject))
    ]


def _up_to(token: Token, top: Token) -> list[Token]:
    """Return a word and those that it depends on, below the top one."""
    return [] if token == top else [token, *takewhile(lambda one: one != top, token.ancestors)]
