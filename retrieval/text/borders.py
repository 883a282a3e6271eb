"""Claims about borders, in the words in which a verifier reads them well.

It loses its way in long lists ("bordered by Sudan to the north, …") and takes "borders" and "is
bordered by", or two sides in another order, for different things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.text.model_texts import evidence_text, path_text
from retrieval.text.titled import without_brackets

_NAME = r"(?:[Tt]he )?[A-Z][\w.’'-]*(?: (?:(?:of|the|and) )*[A-Z][\w.’'-]*)*?"  # noqa: RUF001
_BORDERS = (
    r"(?:directly )?(?:borders?|(?:is|are) bordered by"
    r"|(?:has|have) an? (?:land )?border with|shares? (?:an?|its) (?:land |common )?border with)"
)
_TOGETHER = r"(?:share an? (?:land |common )?border|border (?:each other|one another))"
_NEIGHBOURS = re.compile(
    rf"(?P<one>{_NAME}) (?:{_BORDERS} (?P<other>{_NAME})|and (?P<with>{_NAME}) {_TOGETHER})"
)
_DESCRIBED = re.compile(
    rf"(?:The|An?) \w+ (?:whose|that|which|where|with|in|of) .+ {_BORDERS} (?P<other>{_NAME})"
)
_ON = re.compile(
    rf"(?P<thing>{_NAME}) (?:(?:lies|is|sits|stands|runs)(?: located| situated)? (?:on|along)"
    r"|straddles|marks|forms?)(?P<part>(?: a)? part of)? the (?:international )?"
    rf"border (?:between|of) (?P<one>{_NAME}) and (?P<other>{_NAME})"
)
_BORDER = re.compile(r"\bborder(?:s|ed|ing)?\b")
# A list of what borders a thing ends here.
_END = re.compile(
    r"\b(?:which|that|who|whose|where|while|is|are|has|have|lies|connected|separated)\b"
)
# What ends, denies or only nears a border.
_OTHERWISE = re.compile(
    r"\b(?:no|not|never|nor|former(?:ly)?|until|once|historical(?:ly)?|maritime|near|close|from"
    r"|almost|except|but|was|were|had)\b",
    re.IGNORECASE,
)
# The end of a longer name: "Equatorial", "Gulf of".
_LONGER_BEFORE = re.compile(r"[A-Z]\w* (?:of )?(?:the )?\Z")
_LONGER_AFTER = re.compile(r"[-–]\w| [A-Z]\w")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Borders:
    """What a claim says: two things border each other, or a thing is on the border of two.

    ``one`` is "" where the claim only describes it: "the country whose capital is Paris".
    ``thing``: what is on the border, "" where two things border each other. ``in_part``: it is only
    a part of the border, so another part does not refute it.
    """

    one: str
    other: str
    thing: str = ""
    in_part: bool = False

    def worded(self, claim: str, texts: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Return the claim and (title, sentence) texts, the last in the same few words as the claim
        if it says so."""
        title, sentence = texts[-1]
        if not self._names_both(title, sentence):
            return claim, path_text(texts[-1], texts[:-1])
        if self.thing:
            said = f"{self.thing} is on the border of {self.one} and {self.other}."
        else:
            said = f"{self.one} is bordered by {self.other}."
        return said, evidence_text(title, said)

    def may_be_refuted_by(self, title: str, sentence: str) -> bool:
        """Return whether a sentence may tell all borders of one of the things."""
        if self.in_part or not _BORDER.search(sentence) or self._names_both(title, sentence):
            return False
        if not self.one:
            return not _is_about(self.other, title, sentence) and self.other not in sentence
        owners = (self.thing,) if self.thing else (self.one, self.other)
        return any(_is_about(name, title, sentence) for name in owners)

    def _names_both(self, title: str, sentence: str) -> bool:
        """Return whether a sentence about one thing names the other as what it borders."""
        if not self.one:
            return False
        if self.thing:
            sides = rf"(?:{_either(self.one, self.other)}|{_either(self.other, self.one)})"
            named = re.search(sides, sentence) and not _OTHERWISE.search(sentence)
            return bool(named) and _is_about(self.thing, title, sentence)
        return any(
            _is_about(name, title, sentence) and _borders(sentence, other)
            for name, other in ((self.one, self.other), (self.other, self.one))
        )


def borders_of(claim: str) -> Borders | None:
    """Return what a claim says about borders, ``None`` if it is about something else."""
    claim = claim.rstrip(". ")
    if found := _NEIGHBOURS.fullmatch(claim):
        return Borders(_bare(found["one"]), _bare(found["other"] or found["with"]))
    if found := _DESCRIBED.fullmatch(claim):
        return Borders("", _bare(found["other"]))
    if found := _ON.fullmatch(claim):
        sides = _bare(found["one"]), _bare(found["other"])
        return Borders(*sides, thing=found["thing"], in_part=bool(found["part"]))
    return None


def _bare(name: str) -> str:
    return re.sub(r"\A[Tt]he ", "", name)


def _either(one: str, other: str) -> str:
    one, other = re.escape(one), re.escape(other)
    return (
        rf"border (?:between|of) (?:the )?{one} and (?:the )?{other}\b"
        rf"|\b{one}[-–]{other} border"  # noqa: RUF001
    )


def _is_about(name: str, title: str, sentence: str) -> bool:
    name = _bare(name).casefold()
    if _bare(without_brackets(title)).casefold() == name:
        return True
    return bool(re.match(rf"(?:the )?{re.escape(name)}\b", sentence.casefold()))


def _borders(sentence: str, name: str) -> bool:
    """Return whether a list of what borders a thing has a name that is no part of a longer one."""
    for border in _BORDER.finditer(sentence):
        begin = max(sentence.rfind(sign, 0, border.start()) for sign in ",;") + 1
        end = _END.search(sentence, border.end())
        listed = sentence[begin : end.start() if end else len(sentence)]
        for found in re.finditer(rf"\b{re.escape(name)}\b", listed):
            before = listed[: found.start()]
            if (
                begin + found.start() >= border.end()
                and not _OTHERWISE.search(before)
                and not _LONGER_BEFORE.search(before)
                and not _LONGER_AFTER.match(listed[found.end() :])
            ):
                return True
    return False
