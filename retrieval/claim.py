"""Reads the text of a claim: its plain form, notices, and a refusal of what cannot be checked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

import ftfy

from retrieval.errors import InvalidClaim
from retrieval.text.notices import asks_for_a_thing, is_english, notices_of
from retrieval.text.word_forms import FUNCTION_WORDS, meanings, nfc

_LABEL = re.compile(
    r"(?:fact[- ]?check(?:ed|ing)?|claim|true or false|breaking(?: news)?)\s*:\s*|RT @\w+\s*:?\s*",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:is it (?:really |actually )?(?:true|correct|right|a fact)|did you know)(?: that)?\s+"
    r"(?P<statement>\S.*?)\s*[?.!]*$",
    re.IGNORECASE,
)
_RATED = (
    r"(?:(?:mostly|partly|partially|largely|half|completely|totally|outright|entirely) )?"
    r"(?:true|false|correct|incorrect|wrong|right|accurate|inaccurate|misleading|unproven|untrue"
    r"|unverified|unsupported|supported|refuted|debunked|confirmed|disputed|satire|fake|(?:a )?hoax"
    r"|(?:a )?mixture|mixed|missing context|needs context|out of context|miscaptioned|altered"
    r"|pants on fire|not enough (?:info|information|evidence)|not settled|no evidence)"
)
_SCORE = r"\d+(?:\.\d+)?\s*(?:/|of|out of)\s*\d+"
_RATING = re.compile(
    r"(?:(?:(?:our|the) )?(?:(?:final|truth) )?(?:rating|ruling|verdict|conclusion|result|status)"
    rf"\s*[:=\u2013\u2014-]\s*\W*(?:{_RATED}|{_SCORE})|{_RATED})\W*",
    re.IGNORECASE,
)
_LINK = r"(?:https?://|www\.)\S+"
_LINKS_AT_THE_END = re.compile(rf"(?:\s*{_LINK})+$", re.IGNORECASE)
_TAG = r"(?<!\S)#[^\W\d_]\w*"
_TAGS_AT_THE_END = re.compile(rf"(?<!\S)(?P<before>\S++)\s+{_TAG}(?:\s+{_TAG})*$")
_MARK = re.compile(r"(?<![\w#&])#(?=[^\W\d_]\w)")


def unwrapped(text: str) -> tuple[str, bool]:
    """Return the claim without what is around it, "" if there is nothing else.

    And whether it was the object of a question for its truth. Hashtags at the end are dropped
    unless the sentence needs them ("… lies in #Wales"); within it they lose their mark.
    """
    claim = text
    while label := _LABEL.match(claim):
        claim = claim[label.end() :]
    while (shorter := _without_end(claim)) != claim:
        claim = shorter
    claim = _MARK.sub("", claim)
    asked = _ASKED.match(claim)
    if asked:
        claim = asked["statement"] + "."
    return claim if claim == text else _capitalised(claim), asked is not None


def is_link(text: str) -> bool:
    """Return whether there is nothing but links, labels and hashtags."""
    return re.search(_LINK, text, re.IGNORECASE) is not None and not unwrapped(text)[0]


def is_rating(text: str) -> bool:
    """Return whether a text only says how true something else is: "Rating: False."."""
    return _RATING.fullmatch(text) is not None


def _without_end(claim: str) -> str:
    claim = _LINKS_AT_THE_END.sub("", claim).rstrip()
    tags = _TAGS_AT_THE_END.search(claim)
    if tags is None or tags["before"].lower() in FUNCTION_WORDS:
        return claim
    return claim[: tags.end("before")]


def _capitalised(claim: str) -> str:
    """Return the claim with a capital, unless its first word is spelt in its own way ("iPod")."""
    first = claim.partition(" ")[0]
    return claim[:1].upper() + claim[1:] if first.islower() else claim


def _words(text: str) -> list[str]:
    return text.split()


_UNITS = _words("one two three four five six seven eight nine")
_TEENS = _words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {
    **{word: value for value, word in enumerate([*_UNITS, *_TEENS], 1)},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
    "a": 1,
}
_HUNDRED, _THOUSAND = "hundred", "thousand"
_WITH_COMMA = 10_000  # smaller numbers may be years


def _any(words: list[str]) -> str:
    return f"(?:{'|'.join(words)})"


_UNDER_100 = rf"(?:{_any(_TENS)}(?:[- ]{_any(_UNITS)})?|{_any(_TEENS)}|{_any(_UNITS)})"
_AND_MORE = rf"(?: (?:and )?{_UNDER_100})?"
_HUNDREDS = rf"(?:a|{_UNDER_100}) {_HUNDRED}{_AND_MORE}"
_THOUSANDS = rf"(?:{_HUNDREDS}|a|{_UNDER_100}) {_THOUSAND}(?: {_HUNDREDS}|{_AND_MORE})"
_CENTURY = _any([*_TEENS, "twenty"])
_YEAR = (
    rf"(?P<century>{_CENTURY})[- ]"
    rf"(?P<rest>oh[- ]{_any(_UNITS)}|{_any(_TENS)}(?:[- ]{_any(_UNITS)})?|{_any(_TEENS)})"
)
_NUMBER = re.compile(
    r"[\"“][^\"”]*[\"”]"  # quoted words, kept as they are
    rf"|(?<![\w-])(?P<number>{_YEAR}|{_THOUSANDS}|{_HUNDREDS}|{_UNDER_100})"
    r"(?![\w-])(?! \w*ties\b)"  # not of "twelve-year-old" or of "nineteen thirties"
)
_CAPITAL_OF_THE_SENTENCE = re.compile(rf"(?i:{_any(_TEENS + _TENS)})(?=[- ][a-z])")


def with_digits(text: str) -> str:
    """Return the text with its number words as digits."""
    if _CAPITAL_OF_THE_SENTENCE.match(text):
        replaced = _NUMBER.sub(_digits, text[0].lower() + text[1:])
        return text[0] + replaced[1:] if replaced[0].isalpha() else replaced
    return _NUMBER.sub(_digits, text)


def _digits(found: re.Match[str]) -> str:
    words = found["number"]
    if words is None or words in (*_UNITS, "ten", f"a {_HUNDRED}", f"a {_THOUSAND}"):
        return found[0]
    if found["century"]:
        return str(100 * _value(found["century"]) + _value(found["rest"]))
    value = _value(words)
    return f"{value:,}" if value >= _WITH_COMMA else str(value)


def _value(words: str) -> int:
    """Return the number that the words of one number add up to."""
    thousands = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word == _HUNDRED:
            group *= 100
        elif word == _THOUSAND:
            thousands, group = 1000 * group, 0
        else:
            group += _VALUES.get(word, 0)  # "and", "oh"
    return thousands + group


SHORT_FORMS = meanings("short_forms")
# Not at the beginning: "Isn't it old?" and "Don't run." are no statements.
_SHORT = re.compile(rf"(?<=\w )({'|'.join(SHORT_FORMS)})\b", re.IGNORECASE)
_CURLY = "n\N{RIGHT SINGLE QUOTATION MARK}t"
_ENDS = (".", "!", "?", '"', "”", ")")


def in_full(text: str) -> str:
    """Return the text with "is not" for "isn't"."""
    return _SHORT.sub(lambda found: SHORT_FORMS[found[0].lower()], text.replace(_CURLY, "n't"))


def as_sentence(text: str) -> str:
    """Return the text with a capital and a full stop. All offsets in it stay."""
    stop = "" if text.endswith(_ENDS) else "."
    first, space, rest = text.partition(" ")
    small = first.islower()  # not "iPads"
    return (first[:1].upper() + first[1:] if small else first) + space + rest + stop


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
    plain = "".join(
        unicodedata.normalize("NFKC", c)
        if unicodedata.decomposition(c).startswith(_OF_A_KEYBOARD)
        else c
        for c in repaired
    )
    whole = _tidy(plain)
    claim, asked = (whole, False) if is_link(whole) else unwrapped(whole)
    read = ReadClaim(with_digits(in_full(claim)), original, ())
    _refuse(read)
    if not anyway:
        _refuse_what_has_no_verdict(read.text)
    notices = [checked_as(read.text)] if asked else []
    return replace(read, notices=(*notices, *notices_of(read.text)))


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
