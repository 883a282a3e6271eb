"""Cuts phrases out of a parsed sentence and turns them into text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from research.training.compositions.composition import Fact
from research.training.compositions.vocabulary import NATIONS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

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
