"""Whether a quantity of a sentence is that of the claim's subject or of another thing.

"Norl is the second-largest city, after Tarsk, with 412,300 inhabitants." says nothing of how many
live in Tarsk, though it has the name and the number. Names are compared as those of the subjects of
claims are (``text.subject``), so that "the UK" is "the United Kingdom".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval.quantities.alignment import head_of, subject_of, verb_of, words_of
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

_SHARED = {"also", "as", "both", "each", "equally", "like", "same"}  # "Like Tarsk, Norl has …"


def is_of_another(claim: Doc, title: str, sentence: str, parser: EnglishParser) -> bool:
    """Return whether all that a sentence has for a quantity of the claim is of other things.

    Only for what a subject with a name has or measures. Dates are of events, so they are left out.
    ``title``: that of the sentence's document.
    """
    owned = [(item, own) for item in quantities(claim) if (own := _owner(claim, item))]
    titled = words_of(title)
    if not owned or any(own & titled for _, own in owned) or not dimensions(sentence):
        return False
    subject = claim_subject(claim)
    if subject.is_in([(title, "")]):
        return False
    passage = ParsedSentence(title, parser.parse(sentence))
    if any(token.lower_ in _SHARED for token in passage.doc):
        return False
    found = list(facts(passage))
    return any(_is_others(item, own, subject, found) for item, own in owned)


def _owner(claim: Doc, item: Quantity) -> set[str]:
    """Return the stems of the name that has a quantity, empty if no name has it."""
    verb = verb_of(head_of(claim, item))
    subject = subject_of(verb) if verb is not None else None
    if verb is None or subject is None or not _states(verb, item):
        return set()
    # "The population of Tarsk" is what is measured of it.
    named = subject.pos_ == "PROPN" or subject.lemma_.lower() in ATTRIBUTE_OF
    return _names(subject) if named else set()


def _states(verb: Token, item: Quantity) -> bool:
    """Return whether a verb says that its subject has a quantity; not "is one of three"."""
    measured = item.dimension not in ("", DATE)
    counted = item.dimension.startswith(COUNT)
    return measured and verb.lemma_.lower() in STATES and not (counted and verb.lemma_ == "be")


def _is_others(item: Quantity, own: set[str], subject: Subject, found: list[Fact]) -> bool:
    alike = [fact for fact in found if fact.quantity.dimension == item.dimension]
    return bool(alike) and all(_has_other_owner(fact, own, subject) for fact in alike)


def _has_other_owner(fact: Fact, own: set[str], subject: Subject) -> bool:
    """Return whether a fact is about something with a name, and that is none of these."""
    if fact.subject is None or not (named := _names(fact.subject)):
        return False
    above = [token.text for token in head_of(fact.passage.doc, fact.quantity).ancestors]
    said = " ".join(token.text for token in fact.subject.subtree)
    known = any(subject.is_in([("", words)]) for words in (said, *above))
    return not known and not own & (named | {stem(word) for word in above})


def _names(token: Token) -> set[str]:
    """Return the stems of the names in what depends on a word."""
    return {stem(t.text) for t in token.subtree if t.pos_ == "PROPN"}
