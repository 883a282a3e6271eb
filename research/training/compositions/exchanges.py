"""Exchanges one fact of a phrase for another that is false according to the pages."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable

from research.training.compositions.composition import Fact, Phrase
from research.training.compositions.definitions import Definition
from research.training.compositions.tidying import with_article
from research.training.compositions.vocabulary import KINDS, NATIONS, REALMS, trade
from research.training.contrast import YEARS

_NATION = {nation: group for group in NATIONS for nation in group}
_REALM = {place: group for group in REALMS for place in group}
_ARTICLE = re.compile(r"\b(?:a|an) $")
_LAST_YEAR = 2017  # of the pages
_TRIES = 8


class Exchanges:
    """Draws the replacement of a fact from those of true phrases, with the same frequencies."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        """Collect the facts of all definitions."""
        kept = list(definitions)
        self._what = {known.name: known.noun for known in kept}
        self._said: dict[tuple[str, str], list[str]] = defaultdict(list)
        for known in kept:
            for phrase in known.phrases:
                for fact in phrase.facts:
                    text = phrase.text[fact.start : fact.end]
                    self._said[self._kind(fact, text)].append(text)

    def exchanged(
        self, phrase: Phrase, ruled_out: str, chance: random.Random
    ) -> tuple[Phrase, str] | None:
        """Return the phrase with one fact exchanged, and the old words; None if impossible.

        ``ruled_out``: the text of the pages; the new words do not occur in it.
        """
        kinds = [fact.kind for fact in phrase.facts]
        facts = [f for f in phrase.facts if f.kind == "trade" or kinds.count(f.kind) == 1]
        for fact in chance.sample(facts, len(facts)):
            old = phrase.text[fact.start : fact.end]
            new = self._other(fact, old, ruled_out, chance)
            if new is not None:
                return _with_its_article(phrase.with_exchanged(fact, new)), old
        return None

    def _kind(self, fact: Fact, text: str) -> tuple[str, str]:
        """Return a replacement of the same kind: a city for a city, a trade for a trade."""
        if fact.kind == "place":
            return "place", self._what.get(_bare(text), "")
        if fact.kind == "trade":
            group = trade(text)
            return "trade", next((kind[0][0] for kind in KINDS if group in kind), "")
        return fact.kind, ""

    def _other(self, fact: Fact, old: str, ruled_out: str, chance: random.Random) -> str | None:
        if fact.kind == "year":
            moved = int(old) + chance.choice((-1, 1)) * chance.randint(1, YEARS)
            return None if str(moved) in ruled_out or moved > _LAST_YEAR else str(moved)
        kind = self._kind(fact, old)
        said = self._said.get(kind, ())
        if not said or kind == ("place", ""):
            return None
        for _ in range(_TRIES):
            new = chance.choice(said)
            if self._excludes(fact, old, new) and not _is_named(fact, new, ruled_out):
                return new
        return None

    @staticmethod
    def _excludes(fact: Fact, old: str, new: str) -> bool:
        if fact.kind == "nation":
            return _NATION[new] is not _NATION.get(old)
        if fact.kind == "trade":
            return trade(new) is not trade(old)
        realms = _REALM.get(_bare(old)), _REALM.get(_bare(new))
        return _bare(old) != _bare(new) and (realms[0] is None or realms[0] is not realms[1])


def _bare(place: str) -> str:
    return place.removeprefix("the ")


def _is_named(fact: Fact, new: str, ruled_out: str) -> bool:
    """Return whether the pages contain it or, for a trade, any word of its group."""
    if fact.kind != "trade":
        return _bare(new) in ruled_out
    words = set(ruled_out.lower().replace(",", " ").replace(".", " ").split())
    return any(noun in words or f"{noun}s" in words for noun in trade(new) or ())


def _with_its_article(phrase: Phrase) -> Phrase:
    """Return the phrase with the right article, "a" or "an", for its exchanged words."""
    (fact,) = phrase.facts
    before, new = phrase.text[: fact.start], phrase.text[fact.start :]
    stem = _ARTICLE.sub("", before)
    if stem == before:
        return phrase
    text = stem + with_article(new)
    start = len(text) - len(new)
    return Phrase(text, (Fact(start, start + fact.end - fact.start, fact.kind),))
