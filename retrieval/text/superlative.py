"""A claim that nothing is more than a thing, as a statement about the thing.

"No other planet is larger than Jupiter." says what "Jupiter is the largest planet." says. A
verifier reads the second rightly, but takes "the second largest after Jupiter" for a denial of the
first. Without "other", the thing need not be of the kind: "No planet is hotter than the Sun." says
only that the Sun is at least as hot as any planet.
"""

from __future__ import annotations

import re

from lemminflect import getInflection
from spacy.tokens import Doc, Token

_SINGULAR = {"is": "is", "are": "is", "was": "was", "were": "was"}
_DEGREES = {"more": "most", "less": "least"}


def as_superlative(claim: Doc) -> str | None:
    """Return the statement, or ``None`` if the claim says anything else."""
    roots = [token for token in claim if token.dep_ == "ROOT"]
    if len(roots) != 1 or roots[0].lower_ not in _SINGULAR:
        return None
    (verb,) = roots
    kind, adjective = _child(verb, "nsubj"), _child(verb, "acomp")
    than = _child(adjective, "prep")
    thing = _child(than, "pobj")
    none = _child(kind, "det")
    if kind is None or adjective is None or than is None or thing is None or none is None:
        return None
    if none.lower_ != "no" or none.i > 0 or than.lower_ != "than" or thing.pos_ != "PROPN":
        return None
    if kind.pos_ != "NOUN":
        return None
    superlative, several = _superlative(adjective), any(t.dep_ == "conj" for t in thing.children)
    beside = verb.i + 1 < adjective.left_edge.i  # "is still larger"
    if superlative is None or several or beside or re.search("[,?]", claim.text):
        return None
    what = "".join(
        f"{kind.lemma_ if token == kind else token.text}{token.whitespace_}"
        for token in kind.subtree
        if token != none and not (token.lower_ == "other" and token.head == kind)
    ).strip()
    parts = [t for t in thing.children if t.i > thing.i and t.lower_ == "of"]  # "Bank of England"
    last = max([thing, *(t.right_edge for t in parts)])
    name = claim[thing.left_edge.i : last.i + 1].text
    if any(token.pos_ in ("VERB", "AUX") for token in claim[last.i + 1 :]):
        return None
    rest = claim[last.i + 1 :].text.strip(" .!")
    is_one = kind.lemma_.lower() in name.lower().split()  # "Lake Baikal"
    of_kind = is_one or any(t.lower_ == "other" for t in kind.children)
    bound = "most" if superlative.startswith("least ") else "least"
    more = f"the {superlative}" if of_kind else f"at {bound} as {adjective.lemma_} as any"
    said = f"{name} {_SINGULAR[verb.lower_]} {more} {what} {rest}".rstrip(" .")
    return f"{said[:1].upper()}{said[1:]}."


def _child(of: Token | None, relation: str) -> Token | None:
    return next((t for t in of.children if t.dep_ == relation), None) if of is not None else None


def _superlative(adjective: Token) -> str | None:
    """Return the highest degree of "larger" or "more populous"."""
    degree = next((t for t in adjective.children if t.lower_ in _DEGREES), None)
    if degree is not None:
        return f"{_DEGREES[degree.lower_]} {adjective.text}"
    if adjective.tag_ != "JJR" or any(t.dep_ in ("advmod", "npadvmod") for t in adjective.children):
        return None
    forms = getInflection(adjective.lemma_, "JJS")
    return forms[0] if forms else None
