"""Reads the text of a claim: normalizes it, refuses what cannot be checked, adds notices."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from retrieval.errors import InvalidClaim
from retrieval.language.notices import notices_of

LONGEST = 500  # characters

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """A claim that can be checked, and notices for the user."""

    text: str
    notices: tuple[str, ...]


def read_claim(text: object) -> ReadClaim:
    """Return the claim in NFC, with single spaces and without invisible characters.

    Raises:
        InvalidClaim: it is empty or too long, contains no word of two letters, or
            contains control or unreadable characters.
    """
    if not isinstance(text, str):
        raise InvalidClaim(
            "claim_not_text", "The claim is not text.", "Send one sentence as a string."
        )
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    claim = unicodedata.normalize("NFC", _SPACE.sub(" ", visible)).strip()
    _refuse(claim)
    return ReadClaim(claim, tuple(notices_of(claim)))


def _refuse(claim: str) -> None:
    example = 'Try something like "Frankenstein was written by Mary Shelley."'
    if not claim:
        raise InvalidClaim("claim_empty", "There is no claim to check.", example)
    if any(unicodedata.category(c) in {"Cc", "Cs"} for c in claim):
        raise InvalidClaim(
            "claim_control_characters",
            "The claim contains control characters.",
            "Type it again, or paste it as plain text.",
        )
    if "\N{REPLACEMENT CHARACTER}" in claim:  # stands for bytes that are not UTF-8
        raise InvalidClaim(
            "claim_unreadable",
            "The claim contains characters that could not be read.",
            "Type them again, or send the text as UTF-8.",
        )
    if len(claim) > LONGEST:
        raise InvalidClaim(
            "claim_too_long",
            f"The claim is {len(claim)} characters long; at most {LONGEST} can be checked.",
            "Check one sentence at a time.",
        )
    if not any(c.isalpha() for c in claim):
        raise InvalidClaim("claim_no_letters", "The claim contains no words.", example)
    if not _WORD.search(claim):
        raise InvalidClaim("claim_too_short", "Single letters are not a claim.", example)
