"""Reads the text of a claim: normalizes it, refuses what cannot be checked, adds notices."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

import ftfy

from retrieval.errors import InvalidClaim
from retrieval.language.notices import notices_of
from retrieval.language.number_words import with_digits
from retrieval.language.wrapping import unwrapped

LONGEST = 500  # characters

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]{2}")
_OF_A_KEYBOARD = ("<wide>", "<narrow>")  # full-width letters and digits of East Asian keyboards


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """A claim that can be checked.

    ``text``: what is checked. ``original``: as it was written, but for spaces, invisible characters
    and the form of Unicode. ``notices``: what may make the answer worse, for the user.
    """

    text: str
    original: str
    notices: tuple[str, ...]

    @property
    def rewritten(self) -> str | None:
        """The original if it differs from the text, else ``None``."""
        return None if self.original == self.text else self.original


def read_claim(text: object) -> ReadClaim:
    """Return the claim in NFC, with single spaces and without invisible characters.

    What is around the claim is removed ("Fact check: …"), number words become digits, and
    characters of a wrong encoding or a wide keyboard are replaced.

    Raises:
        InvalidClaim: it is empty or too long, contains no word of two letters, or
            contains control or unreadable characters.
    """
    if not isinstance(text, str):
        raise InvalidClaim(
            "claim_not_text", "The claim is not text.", "Send one sentence as a string."
        )
    repaired = ftfy.fix_encoding(text, restore_byte_a0=False)
    plain = "".join(map(_of_any_keyboard, repaired))
    claim = unwrapped(_tidy(plain))
    read = ReadClaim(with_digits(claim.text), _tidy(text), ())
    _refuse(read)
    checked = [f"Checked as the statement “{read.text}”."] if claim.asked else []
    return replace(read, notices=(*checked, *notices_of(read.text)))


def _tidy(text: str) -> str:
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFC", _SPACE.sub(" ", visible)).strip()


def _of_any_keyboard(character: str) -> str:
    variant = unicodedata.decomposition(character).startswith(_OF_A_KEYBOARD)
    return unicodedata.normalize("NFKC", character) if variant else character


def _refuse(read: ReadClaim) -> None:
    claim, length = read.text, len(read.original)
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
    if length > LONGEST:
        raise InvalidClaim(
            "claim_too_long",
            f"The claim is {length} characters long; at most {LONGEST} can be checked.",
            "Check one sentence at a time.",
        )
    if not any(c.isalpha() for c in claim):
        raise InvalidClaim("claim_no_letters", "The claim contains no words.", example)
    if not _WORD.search(claim):
        raise InvalidClaim("claim_too_short", "Single letters are not a claim.", example)
