"""What the parser's labels mean, said once: subjects, verbs, comparatives and superlatives."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
"""Relations of a subject to its verb."""
CLAUSE_SUBJECTS = SUBJECTS | {"csubj", "csubjpass"}
ANY_SUBJECTS = CLAUSE_SUBJECTS | {"expl"}
VERBS = frozenset({"VERB", "AUX"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
"""Forms of a verb that makes a sentence."""
COMPARATIVES, SUPERLATIVES = frozenset({"JJR", "RBR"}), frozenset({"JJS", "RBS"})


def subject_in(verb: Token, kinds: Collection[str] = SUBJECTS) -> Token | None:
    """Return the first word that is the verb's own subject."""
    return next((child for child in verb.children if child.dep_ in kinds), None)


def verb_of(token: Token) -> Token | None:
    """Return the verb that a word belongs to."""
    return next((one for one in token.ancestors if one.pos_ in VERBS), None)
