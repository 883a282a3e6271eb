"""Reads the text of a claim: normalizes it, refuses what cannot be checked, adds notices."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

import ftfy

from retrieval.errors import InvalidClaim
from retrieval.normal_form import nfc
from retrieval.text.notices import asks_for_a_thing, is_english, notices_of
from retrieval.text.plain_form import Unwrapped, in_full, is_link, is_rating, unwrapped, with_digits

LONGEST = 500  # characters
# Before spaces and invisible characters are left out, and marks are joined to their letters.
_LONGEST_RAW = 4 * LONGEST

_SPACE = re.compile(r"\s+")
# Two spaces and an invisible hyphen, unless they are bytes of letters read in a wrong encoding.
_MAYBE_BYTES = "\x85\xa0\xad"
_OTHER_SPACE = re.compile(rf"[^\S{_MAYBE_BYTES}]+")
_EXAMPLE = '"Frankenstein was written by Mary Shelley."'
ANYWAY = ' To check it as it is, use `esoteric check --anyway`, or "anyway": true in the API.'
_WORD = re.compile(r"[^\W\d_]{2}")
_FORMULA = re.compile(r"[=+@]\s*[\w$.]*\(.*\)|=\S+")  # of a table: "=SUM(A1:A3)"
_OF_A_KEYBOARD = ("<wide>", "<narrow>")  # full-width letters and digits of East Asian keyboards


CHECKED_ANYWAY = frozenset({"claim_link", "claim_not_english", "claim_wh_question"})
"""Codes of what is refused unless it is to be checked anyway."""


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


def read_claim(text: object, anyway: bool = False) -> ReadClaim:
    """Return the claim in NFC, with single spaces and without invisible characters.

    What is around the claim is removed ("Fact check: …"), number words become digits,
    "isn't" becomes "is not", and characters of a wrong encoding or a wide keyboard are replaced.

    Raises:
        InvalidClaim: it is empty or too long, contains no word of two letters, contains
            control or unreadable characters, or is only a formula or a rating; or, unless it is
            to be checked ``anyway``, it is a link, in another language, or a question that yes or
            no does not answer. The code is then one of ``CHECKED_ANYWAY``.
    """
    if not isinstance(text, str):
        raise InvalidClaim(
            "claim_not_text", "The claim is not text.", "Send one sentence as a string."
        )
    # First: what follows is made for short texts.
    _refuse_long(text, _LONGEST_RAW)
    original = _with_bytes(text)
    repaired = _repaired(original)
    if repaired == original:
        original = _tidy(original)
        repaired = _repaired(original)
    _refuse_long(original, LONGEST)
    plain = "".join(map(_of_any_keyboard, repaired))
    whole = _tidy(plain)
    claim = Unwrapped(whole, asked=False) if is_link(whole) else unwrapped(whole)
    read = ReadClaim(with_digits(in_full(claim.text)), original, ())
    _refuse(read)
    if not anyway:
        _refuse_what_has_no_verdict(read.text)
    asked = [checked_as(read.text)] if claim.asked else []
    return replace(read, notices=(*asked, *notices_of(read.text)))


def checked_as(statement: str) -> str:
    """Return the notice that names the statement that a question is checked as."""
    return f"Checked as the statement “{statement}”."


def _tidy(text: str) -> str:
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return nfc(_SPACE.sub(" ", visible)).strip()


def _with_bytes(text: str) -> str:
    """Return the text as ``_tidy`` does, but with what may be bytes of letters."""
    visible = "".join(c for c in text if c in _MAYBE_BYTES or unicodedata.category(c) != "Cf")
    return nfc(_OTHER_SPACE.sub(" ", visible)).strip(" ")


def _repaired(text: str) -> str:
    return ftfy.fix_encoding(text, restore_byte_a0=False)


def _of_any_keyboard(character: str) -> str:
    variant = unicodedata.decomposition(character).startswith(_OF_A_KEYBOARD)
    return unicodedata.normalize("NFKC", character) if variant else character


def _refuse_long(claim: str, most: int) -> None:
    if len(claim) > most:
        raise InvalidClaim(
            "claim_too_long",
            f"The claim is {len(claim)} characters long; at most {LONGEST} can be checked.",
            "Check one sentence at a time.",
        )


def _refuse(read: ReadClaim) -> None:
    claim = read.text
    example = f"Try something like {_EXAMPLE}"
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
    if not any(c.isalpha() for c in claim):
        raise InvalidClaim("claim_no_letters", "The claim contains no words.", example)
    if not _WORD.search(claim):
        raise InvalidClaim("claim_too_short", "Single letters are not a claim.", example)
    if _FORMULA.fullmatch(claim):
        raise InvalidClaim("claim_formula", "This is a formula, not a claim.", example)
    if is_rating(claim):
        raise InvalidClaim(
            "claim_rating",
            "This is a rating of a claim, not a claim.",
            f"Send the claim that it rates, such as {_EXAMPLE}",
        )


def _refuse_what_has_no_verdict(claim: str) -> None:
    if is_link(claim):
        raise InvalidClaim(
            "claim_link",
            "This is a link. It cannot be checked as a claim.",
            f"Write what the page says as a statement, such as {_EXAMPLE}{ANYWAY}",
        )
    if not is_english(claim):
        raise InvalidClaim(
            "claim_not_english",
            "This does not look like English, and ESOTERIC reads English only.",
            f"Write it in English, such as {_EXAMPLE}{ANYWAY}",
        )
    if asks_for_a_thing(claim):
        raise InvalidClaim(
            "claim_wh_question",
            "This is a question that yes or no does not answer, so it has no verdict.",
            f"Write it as a statement, such as {_EXAMPLE}{ANYWAY}",
        )
