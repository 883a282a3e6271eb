"""A claim as different people write it: with or without a full stop, in small letters, contracted.

A verifier that has seen each claim in one form only gives another label to another form.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from research.training.loop import Example
from retrieval.text.plain_form import SHORT_FORMS, in_full

_SHORT = re.compile(rf"\b({'|'.join(map(re.escape, SHORT_FORMS.values()))})\b")
_SHORT_FORM = {full: short for short, full in SHORT_FORMS.items()}


def contracted(claim: str) -> str:
    """Return the claim with "isn't" for "is not"."""
    return _SHORT.sub(lambda found: _SHORT_FORM[found[0]], claim)


def without_stop(claim: str) -> str:
    """Return the claim without its full stop."""
    return claim.removesuffix(".")


def with_stop(claim: str) -> str:
    """Return the claim with a full stop, unless it ends with another mark."""
    return claim if claim[-1:] in ".?!" else f"{claim}."


def begun_small(claim: str) -> str:
    """Return the claim with a small first letter."""
    return claim[:1].lower() + claim[1:]


def begun_large(claim: str) -> str:
    """Return the claim with a capital."""
    return claim[:1].upper() + claim[1:]


def in_small_letters(claim: str) -> str:
    """Return the claim as it is typed in a search box."""
    return without_stop(claim).lower()


def quoted(claim: str) -> str:
    """Return the claim in quotation marks."""
    return f"“{claim}”"


def as_written(claim: str) -> str:
    """Return the claim."""
    return claim


_ENDS: Sequence[Callable[[str], str]] = (as_written, with_stop, without_stop)
_BEGINNINGS = (as_written, begun_large, begun_large, begun_small)
_FORMS = (as_written, in_full, contracted)
_WHOLES = (*[as_written] * 8, in_small_letters, quoted)


def resurfaced(examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Return the examples, each claim in a form drawn by ``chance``; the target stays."""
    return [replace(one, claim=_drawn_form(one.claim, chance)) for one in examples]


def _drawn_form(claim: str, chance: random.Random) -> str:
    for forms in (_FORMS, _BEGINNINGS, _ENDS, _WHOLES):
        claim = chance.choice(forms)(claim)
    return claim
