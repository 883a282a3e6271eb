"""A claim that something was the capital or the king of a place, as a claim that it was so once.

"Berlin is the capital of Germany." does not deny "Bonn was the capital of Germany.", but a verifier
thinks so. It reads "Bonn was once the capital of Germany." rightly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_PAST = {"was", "were"}
_PLACES = {"GPE", "LOC", "NORP"}
# With these the claim says more than that it was so once.
_MORE = {"first", "last", "only", "next", "then", "former"}
# What one is, or is a part of, for a time, and another one then.
_ROLES = {"capital", "king", "queen", "emperor", "empress", "ruler", "president", "chancellor",
          "minister", "mayor", "governor", "leader", "dictator", "head", "part", "colony",
          "province", "territory", "protectorate", "ally", "member", "currency"}  # fmt: skip
_TIMES = {"DATE", "TIME"}
_WITHIN = {"det", "amod", "compound", "prep", "punct", "poss"}


def as_held_once(claim: Doc) -> str | None:
    """Return the claim with "once", or ``None`` if it is of another kind or says when."""
    roots = [token for token in claim if token.dep_ == "ROOT"]
    if len(roots) != 1 or roots[0].lower_ not in _PAST:
        return None
    (verb,) = roots
    subject, role = _child(verb, "nsubj"), _child(verb, "attr")
    if (
        subject is None
        or role is None
        or subject.i > verb.i
        or role.pos_ != "NOUN"
        or subject.pos_ != "PROPN"
    ):
        return None
    beside = [t for t in verb.children if t not in (subject, role) and not t.is_punct]
    if beside or role.lemma_.lower() not in _ROLES or not _is_of_a_place(role):
        return None
    if any(t.dep_ not in _WITHIN or _says_more(t) for t in role.children):
        return None
    if any(t.ent_type_ in _TIMES or t.tag_ in ("CD", "JJS", "RBS") for t in claim):
        return None
    end = verb.idx + len(verb)
    return f"{claim.text[:end]} once{claim.text[end:]}"


def _is_of_a_place(role: Token) -> bool:
    of = next((t for t in role.children if t.dep_ == "prep" and t.lower_ == "of"), None)
    place = _child(role, "poss") if of is None else _child(of, "pobj")
    return place is not None and place.ent_type_ in _PLACES


def _says_more(word: Token) -> bool:
    return word.lower_ in _MORE or word.like_num


def _child(of: Token, relation: str) -> Token | None:
    return next((t for t in of.children if t.dep_ == relation), None)
