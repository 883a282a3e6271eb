"""Reads what a user typed: one Unicode form, a clear refusal, or a kind notice."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from retrieval.errors import InvalidClaim

LONGEST = 500  # characters

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001 - the curly one is meant
# A sentence may end behind a word of two letters or more: initials ("J. K.") end none.
_SENTENCE_END = re.compile(r"([^\W\d_]{2,}|\d{2,})[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z])")
_ABBREVIATION_WORDS = """
    mr mrs ms dr st mt ft jr sr prof capt gov gen col lt sgt rev hon no inc ltd co corp dept vs etc
    jan feb mar apr jun jul aug sep sept oct nov dec approx ca
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())

_ENGLISH_WORDS = """
    a an the of in on at to for from by with and or but not is was were are be been has have had
    did does do will would can could may it its he she his her they their who which that this these
    as than
"""
# Function words of other widely written languages that are no English words or names.
_FOREIGN_WORDS = """
    der das und ist nicht ein eine wurde von mit auf für dem den
    le les des est une dans pour avec qui sur aux du et été
    el los las una es por con del fue según y que en
    il gli della è nel che di sono stato
    een het van niet werd zijn
    uma foi não dos em um da
    och är att som det
    jest nie się był
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_FOREIGN = frozenset(_FOREIGN_WORDS.split())


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """A claim that can be checked, and what its reader should know about the answer."""

    text: str
    notices: tuple[str, ...]


def read_claim(text: object) -> ReadClaim:
    """Return the claim in NFC, white space folded, invisible characters removed.

    Raises:
        InvalidClaim: it is empty, too short or too long, holds no letters, or
            holds control characters.
    """
    if not isinstance(text, str):
        raise InvalidClaim(
            "claim_not_text", "The claim is not text.", "Send one sentence as a string."
        )
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    claim = unicodedata.normalize("NFC", _SPACE.sub(" ", visible)).strip()
    _refuse(claim)
    return ReadClaim(claim, tuple(_notices(claim)))


def _refuse(claim: str) -> None:
    example = 'Try something like "Frankenstein was written by Mary Shelley."'
    if not claim:
        raise InvalidClaim("claim_empty", "There is no claim to check.", example)
    if any(unicodedata.category(c) in {"Cc", "Cs"} for c in claim):
        raise InvalidClaim(
            "claim_control_characters",
            "The claim holds control characters.",
            "Type it again, or paste it as plain text.",
        )
    if len(claim) > LONGEST:
        raise InvalidClaim(
            "claim_too_long",
            f"The claim is {len(claim)} characters long; at most {LONGEST} can be checked.",
            "Check one sentence at a time.",
        )
    letters = sum(c.isalpha() for c in claim)
    if letters == 0:
        raise InvalidClaim("claim_no_letters", "The claim holds no words.", example)
    if letters == 1:
        raise InvalidClaim("claim_too_short", "One letter is not a claim.", example)


def _notices(claim: str) -> list[str]:
    notices = []
    if not _is_english(claim):
        notices.append(
            "ESOTERIC reads English only, and this does not look like English;"
            " the answer may be poor."
        )
    if _is_question(claim):
        notices.append(
            "This is a question. It is checked as it stands; a statement gives a clearer verdict."
        )
    elif any(end[1].casefold() not in _ABBREVIATIONS for end in _SENTENCE_END.finditer(claim)):
        notices.append(
            "There is more than one sentence here. They are checked together;"
            " one at a time gives a clearer verdict."
        )
    return notices


def _is_question(claim: str) -> bool:
    first = _WORD.match(claim)
    return claim.rstrip("\"')").endswith("?") or (
        first is not None
        and first[0].casefold() in {"who", "whom", "why", "how", "did", "does", "do"}
        and not claim.endswith((".", "!"))
    )


def _is_english(claim: str) -> bool:
    """Guess from the script and from function words; names alone count as English."""
    letters = [c for c in claim if c.isalpha()]
    latin = sum(unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if latin < 0.7 * len(letters):
        return False
    words = [word.casefold() for word in _WORD.findall(claim)]
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    return foreign < 2 or english >= foreign
