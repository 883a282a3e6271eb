"""Whether a quantity of a sentence is that of the claim's subject or of another thing.

"Norl is the second-largest city, after Tarsk, with 412,300 inhabitants." says nothing of how many
live in Tarsk, though it has the name and the number. Names are compared as those of the subjects of
claims are (``text.subject``), so that "the UK" is "the United Kingdom".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from retrieval.quantities.alignment import (
    happens_once,
    head_of,
    subject_of,
    verb_of,
    words_of,
)
from retrieval.quantities.facts import Fact, ParsedSentence, facts
from retrieval.quantities.quantity import COUNT, DATE, Quantity
from retrieval.quantities.reading import dimensions, quantities
from retrieval.quantities.vocabulary import ATTRIBUTE_OF, STATES
from retrieval.text.stems import stem
from retrieval.text.subject import Subject
from retrieval.text.subject import subject_of as claim_subject

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from retrieval.text.english import EnglishParser

_ANYONE = {"adult", "child", "human", "man", "people", "person", "woman"}
_PEOPLE = {stem(word) for word in (*_ANYONE, "men", "women", "children", "humans", "individual")}
_SHARED = {"also", "as", "both", "each", "equally", "like", "same"}  # "Like Tarsk, Norl has …"


def is_of_another(claim: Doc, texts: Sequence[tuple[str, str]], parser: EnglishParser) -> bool:
    """Return whether what sentences have for a quantity of the claim is of other things.

    Only for what a subject has or measures. Dates are of events, so a single sentence with one is
    left to the verifier. ``texts``: (title, sentence) pairs that are read together; none of them
    may have such a quantity of another thing whose page the others do not name. One of a kind of
    things ("an ibex") must name the kind itself: animals may be longer.
    """
    alone = len(texts) == 1
    owned = [(item, own) for item in quantities(claim) if (own := _owner(claim, item, alone))]
    wanted = {COUNT if item.dimension.startswith(COUNT) else item.dimension for item, _ in owned}
    subject = claim_subject(claim)
    kinds = [own for item, own in owned if item.dimension != DATE and _is_kind(claim, item)]
    return any(
        any(not own & words_of(f"{title} {sentence}") for own in kinds)
        or (
            not _is_named(title, (one for n, one in enumerate(texts) if n != place))
            and _is_of_another(owned, subject, title, sentence, parser)
        )
        for place, (title, sentence) in enumerate(texts)
        if wanted & _measured(sentence)
    )


def _is_named(title: str, others: Iterable[tuple[str, str]]) -> bool:
    """Return whether one of the others has every word of a title."""
    titled = words_of(title)
    return any(titled <= words_of(f"{name} {text}") for name, text in others)


def _measured(text: str) -> set[str]:
    return {name or COUNT for name in dimensions(text)}


def _is_of_another(
    owned: Sequence[tuple[Quantity, set[str]]],
    subject: Subject,
    title: str,
    sentence: str,
    parser: EnglishParser,
) -> bool:
    titled = words_of(title)
    if any(own & titled for _, own in owned):
        return False
    if subject.text and subject.is_in([(title, "")]):
        return False
    passage = ParsedSentence(title, parser.parse(sentence))
    if any(token.lower_ in _SHARED for token in passage.doc):
        return False
    found = list(facts(passage))
    return any(_is_others(item, own, subject, found) for item, own in owned)


def _owner(claim: Doc, item: Quantity, alone: bool) -> set[str]:
    """Return the stems of the name, or of the kind of thing, that has a quantity; empty if none."""
    verb = verb_of(head_of(claim, item))
    subject = subject_of(verb) if verb is not None else None
    if verb is None or subject is None or not _states(verb, item, alone):
        return set()
    if subject.lemma_.lower() in _ANYONE:
        return _PEOPLE
    # "The population of Tarsk" is what is measured of it.
    if subject.pos_ == "PROPN" or subject.lemma_.lower() in ATTRIBUTE_OF:
        return _names(subject)
    if subject.pos_ != "NOUN" or _names(subject):
        return set()
    return _kinds(subject)


def _is_kind(claim: Doc, item: Quantity) -> bool:
    """Return whether what has a quantity has no name."""
    verb = verb_of(head_of(claim, item))
    subject = subject_of(verb) if verb is not None else None
    return subject is not None and (
        subject.lemma_.lower() in _ANYONE
        or not (subject.lemma_.lower() in ATTRIBUTE_OF or _names(subject))
    )


def _states(verb: Token, item: Quantity, alone: bool) -> bool:
    """Return whether a verb says that its subject has a quantity; not "is one of three"."""
    if item.dimension == DATE:
        return not alone and happens_once(verb)
    measured = item.dimension not in ("", DATE)
    counted = item.dimension.startswith(COUNT)
    return measured and verb.lemma_.lower() in STATES and not (counted and verb.lemma_ == "be")


def _is_others(item: Quantity, own: set[str], subject: Subject, found: list[Fact]) -> bool:
    alike = [fact for fact in found if fact.quantity.dimension == item.dimension]
    return bool(alike) and all(_has_other_owner(fact, own, subject) for fact in alike)


def _has_other_owner(fact: Fact, own: set[str], subject: Subject) -> bool:
    """Return whether a fact is about something with a name, and that is none of these."""
    if fact.subject is None:
        return False
    named = _names(fact.subject) | _kinds(fact.subject)
    if not named:
        return False
    above = [token.text for token in head_of(fact.passage.doc, fact.quantity).ancestors]
    said = " ".join(token.text for token in fact.subject.subtree)
    known = bool(subject.text) and any(subject.is_in([("", words)]) for words in (said, *above))
    return not known and not own & (named | {stem(word) for word in above})


def _kinds(token: Token) -> set[str]:
    """Return the stems of the words that say what kind of thing a word and its parts name."""
    return {
        stem(form)
        for t in token.subtree
        if t.pos_ in ("NOUN", "ADJ") and t.lemma_.lower() not in ATTRIBUTE_OF
        for form in (t.text, t.lemma_)
    }


def _names(token: Token) -> set[str]:
    """Return the stems of the names in what depends on a word."""
    return {stem(t.text) for t in token.subtree if t.pos_ == "PROPN"}
