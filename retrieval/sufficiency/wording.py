"""A proof's operators in words for people (AdMIRaL, A.4, in plainer ones)."""

from __future__ import annotations

from retrieval.types import ALTERNATION, EQUIVALENCE, INDEPENDENCE, NEGATION, Operator

OPERATOR_WORDS: dict[Operator, str] = {
    EQUIVALENCE: "says the same",
    NEGATION: "says the opposite",
    ALTERNATION: "says something else",
    INDEPENDENCE: "nothing found yet about",
}
