"""Claims composed of two pages, and the phrases that are cut out of parsed sentences for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions.vocabulary import NATIONS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Span: TypeAlias = tuple[int, int]
Kind: TypeAlias = Literal["description", "container", "apposition", "role", "shared"]


@dataclass(frozen=True, slots=True)
class Composition:
    """A claim with one evidence set of two sentences on two pages, in the order of reading.

    Offsets are characters of the claim. ``parts``: the words that only the first sentence contains
    and those that only the second one contains. If a fact was exchanged, ``flipped`` are the words
    that make the claim false, and ``in_evidence`` are the words of the evidence instead.
    """

    claim: AnnotatedClaim
    kind: Kind
    bridge: str  # title of the page that links both
    parts: tuple[tuple[Span, ...], tuple[Span, ...]]
    flipped: Span | None = None
    in_evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """Words of a phrase that can be exchanged for others of their kind."""

    start: int
    end: int
    kind: Literal["nation", "place", "year", "trade"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a claim that comes from one sentence, with its exchangeable facts."""

    text: str
    facts: tuple[Fact, ...] = ()

    def joined(self, other: Phrase, between: str = " ") -> Phrase:
        """Return the two with ``between`` in the middle."""
        shift = len(self.text) + len(between)
        return Phrase(self.text + between + other.text, (*self.facts, *moved(other.facts, shift)))

    def with_exchanged(self, fact: Fact, new: str) -> Phrase:
        """Return the phrase with ``new`` as its only fact, in place of ``fact``."""
        text = self.text[: fact.start] + new + self.text[fact.end :]
        return Phrase(text, (Fact(fact.start, fact.start + len(new), fact.kind),))


def moved(facts: Sequence[Fact], shift: int) -> tuple[Fact, ...]:
    """Return the facts moved by ``shift`` characters."""
    return tuple(Fact(fact.start + shift, fact.end + shift, fact.kind) for fact in facts)


_WITHIN = frozenset({"compound", "amod", "nmod", "quantmod", "npadvmod"})
_NATIONS = frozenset(nation for group in NATIONS for nation in group)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


def noun_phrase(head: Token, depth: int = 2) -> set[int]:
    """Return the tokens of a noun with those before it and, to ``depth``, its "of" phrases."""
    kept = {head.i}
    for child in head.children:
        if child.dep_ in ("det", "case", "predet") and child.i < head.i:
            kept.add(child.i)
        elif child.dep_ in ("nummod", "poss") or (child.dep_ in _WITHIN and child.i < head.i):
            kept.update(token.i for token in child.subtree)
        elif child.dep_ == "punct" and child.text == "-" and child.i < head.i:
            kept.add(child.i)
        elif child.dep_ == "prep" and child.lower_ == "of" and depth:
            kept |= prepositional_phrase(child, depth - 1)
    return kept


def prepositional_phrase(preposition: Token, depth: int = 1) -> set[int]:
    """Return the tokens of a preposition with its noun; none if it has no noun."""
    nouns = [child for child in preposition.children if child.dep_ == "pobj"]
    return {preposition.i} | noun_phrase(nouns[0], depth) if nouns else set()


def written(doc: Doc, tokens: Iterable[int], instead: Mapping[int, str]) -> str:
    """Return the tokens in order as one text; ``instead`` replaces some of them."""
    kept = sorted(set(tokens) | set(instead))
    pieces = []
    for i, following in zip(kept, [*kept[1:], -1], strict=True):
        pieces.append(instead.get(i, doc[i].text))
        pieces.append(doc[i].whitespace_ if following == i + 1 else " ")
    return "".join(pieces).strip()


def facts_of(doc: Doc, tokens: Iterable[int]) -> tuple[Fact, ...]:
    """Return nations, places and years among the tokens, as offsets into ``written``."""
    kept = sorted(set(tokens))
    starts: dict[int, int] = {}
    for order, i in enumerate(kept):
        starts[i] = len(written(doc, kept[: order + 1], {})) - len(doc[i].text)
    facts = []
    for entity in doc.ents:
        if not all(i in starts for i in range(entity.start, entity.end)):
            continue
        first, text = entity.start, entity.text
        start, before = starts[first], doc[max(first - 1, 0)]
        if not _alone(doc, first, entity.end):
            continue
        if text in _NATIONS:
            facts.append(Fact(start, start + len(text), "nation"))
        elif entity.label_ == "GPE" and before.pos_ == "ADP" and doc[entity.end - 1].tag_ != "POS":
            facts.append(Fact(start, start + len(text), "place"))
    facts += [
        Fact(start, start + 4, "year")
        for i, start in starts.items()
        if _YEAR.fullmatch(doc[i].text)
    ]
    return tuple(sorted(facts, key=lambda fact: fact.start))


def _alone(doc: Doc, start: int, end: int) -> bool:
    """Return whether no hyphen joins the tokens to another word."""
    before = doc[start - 1].text if start else ""
    after = doc[end].text if end < len(doc) else ""
    return before != "-" and after != "-"


_PARENTHESES = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_QUOTATION_MARK = re.compile(r"\s*[\"“”`]+\s*")  # the release has them with spaces on either side
_BEFORE_PUNCTUATION = re.compile(r"\s+([,.;:!?](?:\s|$)|['’]s\b)")  # noqa: RUF001 - curly too
_HYPHEN = re.compile(r"(?<=\w)-\s+(?!(?:and|or|to)\b)(?=\w)")
_COMMAS = re.compile(r",\s*(?=[,.])")
_SPACE = re.compile(r"\s+")
_VOWEL = re.compile(r"(?!(?:uni|use|usu|eu|ewe|one\b|u\.?[sk])\w*)(?:[aeiou]|hono|hour|heir)", re.I)


def tidied(sentence: str) -> str:
    """Return the sentence without parentheses, quotation marks and stray spaces."""
    text, before = sentence, ""
    while text != before:
        text, before = _PARENTHESES.sub("", text), text
    text = _QUOTATION_MARK.sub(" ", text)
    text = _HYPHEN.sub("-", _BEFORE_PUNCTUATION.sub(r"\1", text))
    return _COMMAS.sub("", _SPACE.sub(" ", text)).strip()


def with_pronoun(text: str, name: str, pronoun: str) -> str:
    """Return the text with a pronoun for the name at its beginning: titles confuse parsers."""
    start = text.removeprefix("The ") if not name.startswith("The ") else text
    rest = start.removeprefix(name)
    return pronoun + rest if rest != start and rest[:1] in (" ", ",") else text


def with_article(noun: str) -> str:
    """Return ``noun`` with "a" or "an" before it."""
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"
