"""What people put around a claim: labels, a question for its truth, links and hashtags."""

from __future__ import annotations

import re
from dataclasses import dataclass

from retrieval.text.function_words import FUNCTION_WORDS

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


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The claim itself; ``asked``: it was the object of a question for its truth."""

    text: str
    asked: bool


def unwrapped(text: str) -> Unwrapped:
    """Return the claim without what is around it, "" if there is nothing else.

    Hashtags at the end are dropped unless the sentence needs them ("… lies in #Wales"); within it
    they lose their mark.
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
    return Unwrapped(claim if claim == text else _capitalised(claim), asked is not None)


def is_link(text: str) -> bool:
    """Return whether there is nothing but links, labels and hashtags."""
    return re.search(_LINK, text, re.IGNORECASE) is not None and not unwrapped(text).text


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
