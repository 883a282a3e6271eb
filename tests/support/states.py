"""States of a claim that tests begin with."""

from typing import Any

import spacy

from retrieval.stages.stage import ClaimState

_BLANK = spacy.blank("en")
_BLANK.add_pipe("sentencizer")


def state_of(claim: str, **found: Any) -> ClaimState:
    """Return a state whose claim is split into words but not parsed."""
    return ClaimState(claim, _BLANK(claim), **found)
