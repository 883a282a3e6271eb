"""A claim that compares two things, and the sentences that compare them too.

A verifier that reads a sentence about each of two things guesses which is more. So a sentence must
be about both, or say that one of them is the most or the least of all. And it takes "the
second-largest city after Orn" for a denial of "Selm is smaller than Orn", but reads "Orn is larger
than Selm" rightly. So it gets the claim in the words of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lemminflect import getAllLemmas

from retrieval.text.clause import text_of
from retrieval.text.model_texts import path_text
from retrieval.text.subject import Subject, thing_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_OPPOSITES = {
    "smaller": ("larger", "bigger"), "larger": ("smaller",), "bigger": ("smaller",),
    "shorter": ("longer", "taller"), "longer": ("shorter",), "taller": ("shorter",),
    "lower": ("higher",), "higher": ("lower",), "lighter": ("heavier",), "heavier": ("lighter",),
    "narrower": ("wider", "broader"), "wider": ("narrower",), "broader": ("narrower",),
    "shallower": ("deeper",), "deeper": ("shallower",), "slower": ("faster",),
    "faster": ("slower",), "colder": ("hotter", "warmer"), "cooler": ("warmer", "hotter"),
    "hotter": ("colder", "cooler"), "warmer": ("colder", "cooler"), "younger": ("older",),
    "older": ("younger",), "poorer": ("richer",), "richer": ("poorer",), "fewer": ("more",),
}  # fmt: skip
_ALSO_SAID = {"larger": "|populous", "more": "|populous|most|large(?:r|st)"}
_VERBS = {"is": "are", "was": "were", "has": "have"}
_COMPARATIVES = {"JJR", "RBR"}
_PLAIN = {"det", "amod", "compound", "nmod", "punct"}
_MOST = re.compile(r"(?<![\w-])(?<!one of the )(?:most|least|\w{2,}est)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ComparedThings:
    """The things that a claim compares: two, or three of "nearer to Orn than to Selm".

    ``word``: the comparative. ``converses``: the claim the other way around, by the opposite word.
    """

    things: tuple[Subject, ...]
    word: str
    converses: Mapping[str, str]

    def may_be_settled_by(self, read: Sequence[tuple[str, str]]) -> bool:
        """Return whether (title, sentence) pairs that are read together may say which is more.

        Several do only if documents about each of the things have numbers.
        """
        if len(read) != 1:
            numbers = [pair for pair in read if re.search(r"\d", pair[1])]
            return all(
                any(thing.is_in([(title, "")]) for title, _ in numbers) for thing in self.things
            )
        is_most = any(_is_superlative(word) for word in _MOST.findall(read[0][1]))
        return self.are_in(read) or (is_most and any(one.is_in(read) for one in self.things))

    def are_in(self, read: Sequence[tuple[str, str]]) -> bool:
        """Return whether (title, sentence) pairs name all of the things."""
        return all(thing.is_in(read) for thing in self.things)

    def wording(self, claim: str, text: str) -> str:
        """Return the claim as a text says it: the other way around if that has the opposite word
        and not the claim's own."""
        if not _has(self.word, text):
            for opposite, converse in self.converses.items():
                if _has(opposite, text):
                    return converse
        return claim

    def worded(self, claim: str, texts: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Return the claim as the (title, sentence) texts say it, and the texts as they are."""
        text = path_text(texts[-1], texts[:-1])
        return self.wording(claim, text), text

    @property
    def words(self) -> str:
        """The things, for people."""
        first, *others = (f"“{thing.text}”" for thing in self.things)
        return f"{first} with {' and '.join(others)}"


def compared_things(claim: Doc) -> ComparedThings | None:
    """Return what a claim such as "Orn is larger than Selm" compares; None of any other claim."""
    than = next((token for token in claim if token.lower_ == "than"), None)
    subject = next((t for t in claim if t.dep_ == "nsubj" and t.head.dep_ == "ROOT"), None)
    if than is None or subject is None or not _is_plain(subject):
        return None
    others = [t for t in than.subtree if t.dep_ == "pobj"][:1]
    beside = [t for t in claim[: than.i] if t.tag_ in _COMPARATIVES]
    if len(beside) != 1 or not others or not _is_plain(others[0]):
        return None
    converses = {}
    if "to" in (token.lower_ for token in than.children):  # "nearer to Orn than to Selm"
        others = [t for t in claim[beside[0].i : than.i] if t.dep_ == "pobj"][:1] + others
    elif others[0].head == than:
        converses = dict(_converses(subject, beside[0], than, others[0]))
    things = tuple(thing_of(token) for token in (subject, *others))
    return ComparedThings(things, beside[0].lower_, converses)


def _converses(subject: Token, word: Token, than: Token, other: Token) -> Iterator[tuple[str, str]]:
    """Yield the opposites of a comparative, each with the claim the other way around."""
    doc, verb = subject.doc, subject.head
    first, second = list(subject.subtree), list(other.subtree)
    between = [t for t in doc[first[-1].i + 1 : than.i] if t != word]
    if first[0].i > 0 or any(t.is_alpha for t in doc[second[-1].i + 1 :]) or verb not in between:
        return
    many = other.tag_ in ("NNS", "NNPS") or any(t.dep_ == "conj" for t in other.children)
    agreed = {
        form: plural if many else one for one, plural in _VERBS.items() for form in (one, plural)
    }
    for opposite in _OPPOSITES.get(word.lower_, ()):
        new = {verb: agreed.get(verb.lower_, verb.text), word: opposite}
        said = text_of(doc[first[-1].i + 1 : than.i], doc, new)
        turned = f"{text_of(second, doc)} {said} than {text_of(first, doc)}."
        yield opposite, turned[:1].upper() + turned[1:]


def _is_superlative(word: str) -> bool:
    """Return whether a word is the superlative of an adjective: "largest", not "honest"."""
    word = word.lower()
    adjectives = getAllLemmas(word).get("ADJ", ())
    return word in ("most", "least") or any(plain != word for plain in adjectives)


def _has(comparative: str, text: str) -> bool:
    """Return whether a text has an adjective as a comparative or superlative."""
    also = _ALSO_SAID.get(comparative, "")
    forms = f"{comparative}|{comparative.removesuffix('r')}st{also}"
    return re.search(rf"\b(?:{forms})\b", text, re.IGNORECASE) is not None


def _is_plain(thing: Token) -> bool:
    """Return whether a thing is only named: not "the sea near Orn", which has to be found first."""
    if thing.pos_ not in ("PROPN", "NOUN") or thing.lower_ in ("any", "all", "other", "others"):
        return False
    return all(
        (t.dep_ in _PLAIN or _goes_on(thing, t))
        and t.tag_ != "CD"
        and t.lower_ not in ("any", "other", "most", "no")
        for t in thing.children
        if t.pos_ != "PROPN"
    )


def _goes_on(thing: Token, word: Token) -> bool:
    """Return whether a name goes on: "the United States of America"."""
    return thing.pos_ == "PROPN" and word.lower_ == "of"
