"""What claims of two pages are made of: word lists, phrases of parsed sentences, names of pages.

``vocabulary.yaml`` has the closed word lists: words that exclude each other, and names of roles.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from research.evaluation.claims import AnnotatedClaim
from research.training.sentence_pool import SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.word_forms import FUNCTION_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


Groups: TypeAlias = tuple[tuple[str, ...], ...]


def words(text: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(text.split())


_LISTS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("vocabulary.yaml").read_text("utf-8")
)


def _groups(name: str) -> Groups:
    return tuple(map(tuple, _LISTS[name]))


NATIONS, OCCUPATIONS, WORKS, REALMS = map(_groups, ("nations", "occupations", "works", "realms"))
WORK_NOUNS = frozenset(noun for group in WORKS for noun in group)
KINDS = (OCCUPATIONS, WORKS, _groups("organisations"), _groups("sites"))
_TRADE = {noun: group for kind in KINDS for group in kind for noun in group}


def trade(phrase: str) -> tuple[str, ...] | None:
    """Return the group that the last word of a phrase is in, such as "player" of "chess player"."""
    return _TRADE.get(phrase.split()[-1].lower())


DOER: dict[str, str] = _LISTS["doer"]
MAKER: dict[str, str] = _LISTS["maker"]
SPOUSES: dict[str, str] = _LISTS["spouses"]
PAST: dict[str, str] = _LISTS["past"]
DOERS = frozenset({*DOER.values(), *MAKER.values()})
PARENT = "parent"  # of a child; father or mother
CHILDREN, PLACED, PLACES, DONE_BY_ONE, STATES = (
    words(_LISTS[name]) for name in ("children", "placed", "places", "done_by_one", "states")
)
OF_ONE = frozenset(_groups("of_one"))
UNSURE, HEARSAY, MADE, UNTELLING, GENERIC = (
    words(_LISTS[name]) for name in ("unsure", "hearsay", "made", "untelling", "generic")
)
IMPLIED = {role: words(text) for role, text in _LISTS["implied"].items()}


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


_LONGEST_NAME = 8  # words
_SHORTEST_NAME = 3  # characters
_WORD = re.compile(r"\S+")
_AROUND = "\"',.;:!?()"
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001 - curly too
_NAME_GOES_ON = re.compile(r"^(?: | of (?:the )?)[A-Z0-9]|^-|^['’]s [A-Z]")  # noqa: RUF001
_NAME_BEGAN = re.compile(r"(?:^|\s)\S+ (?:[A-Z][\w.'-]*|&|[\w.]*-) $|-$")


@dataclass(frozen=True, slots=True)
class Mention:
    """The place where a tidied text names a page."""

    page: str
    start: int
    end: int


class BridgeFinder:
    """Finds pages by their plain names; for an ambiguous name the text must show which is meant."""

    def __init__(self, pool: SentencePool) -> None:
        """Make a table of the pool's names and of the words of each page."""
        self._pages: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
        self._says: dict[str, str] = {}
        for page, indices in pool.by_page.items():
            name, words = split_disambiguation(pool.sentences[indices[0]].title)
            self._pages[name].append((page, words))
            self._says[page] = " ".join(sentence.text for sentence in pool.page(page))

    def named(self, text: str, page: str, name: str) -> list[Mention]:
        """Return the other pages that a text about ``page`` names, in the order of the text."""
        words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        mentions: list[Mention] = []
        first = 0
        while first < len(words):
            mention, first = self._longest(text, words, first)
            if mention and mention[0] not in name and name not in mention[0]:
                meant = self._meant(mention[0], page, name, text)
                if meant and self._whole(text, mention[1], mention[1] + len(mention[0])):
                    mentions.append(Mention(meant, mention[1], mention[1] + len(mention[0])))
        return mentions

    def _longest(
        self, text: str, words: list[tuple[int, int]], first: int
    ) -> tuple[tuple[str, int] | None, int]:
        """Return the longest name that begins with this word, and the next position."""
        for last in range(min(first + _LONGEST_NAME, len(words)) - 1, first - 1, -1):
            start, end = words[first][0], words[last][1]
            start += len(text[start:end]) - len(text[start:end].lstrip(_AROUND))
            whole = text[start:end]
            for name in (whole, whole.rstrip(_AROUND), _POSSESSIVE.sub("", whole.rstrip(_AROUND))):
                if name in self._pages and len(name) >= _SHORTEST_NAME and name[0].isupper():
                    return (name, start), last + 1
        return None, first + 1

    @staticmethod
    def _whole(text: str, start: int, end: int) -> bool:
        """Return whether the name is not a part of a longer one."""
        return not _NAME_GOES_ON.match(text[end:]) and not _NAME_BEGAN.search(text[:start])

    def _meant(self, name: str, page: str, title: str, text: str) -> str | None:
        """Return the page that the name means, or None if that is uncertain."""
        pages = self._pages[name]
        if page in {other for other, _ in pages}:
            return None
        signs = [
            other
            for other, words in pages
            if (words and any(f" {word}" in text for word in words.split() if len(word) > 2))
            or title in self._says[other]
        ]
        if len(pages) == 1 and pages[0][1] is None:
            return pages[0][0]
        return signs[0] if len(signs) == 1 else None


Source: TypeAlias = Literal[0, 1] | None
"""Where words come from: the first sentence (0), the second one (1) or neither (None)."""

_CONTENT_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")  # noqa: RUF001 - curly too


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a claim and their source.

    ``flipped``: the exchanged words. ``implied``: words without new information.
    """

    text: str
    source: Source
    flipped: Span | None = None
    implied: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Joined:
    """A claim's text with the offsets for a composition."""

    text: str
    parts: tuple[tuple[Span, ...], tuple[Span, ...]]
    flipped: Span | None


class PageWords:
    """The pages of a pool as text and as sets of words."""

    def __init__(self, pool: SentencePool) -> None:
        """Store the pool; a page is split when it is first needed."""
        self._pool = pool
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}

    def text(self, page: str) -> str:
        """Return the page's title and sentences as one text."""
        if page not in self._texts:
            sentences = self._pool.page(page)
            said = [sentences[0].title, *(sentence.text for sentence in sentences)]
            self._texts[page] = " ".join(said)
        return self._texts[page]

    def words(self, page: str) -> frozenset[str]:
        """Return the page's words in the form in which they are compared."""
        if page not in self._words:
            self._words[page] = frozenset(_stem(w) for w in _CONTENT_WORD.findall(self.text(page)))
        return self._words[page]

    def names(self, page: str, other: str, by_surname: bool) -> bool:
        """Return whether a page names the other one."""
        name = self._pool.name(other)
        if by_surname and " of " not in name and "," not in name:
            return _stem(name.split()[-1]) in self.words(page)
        return name.casefold() in self.text(page).casefold()


def joined(pieces: Sequence[Piece], pages: tuple[str, str], said: PageWords) -> Joined | None:
    """Return the pieces as one claim; None if one page contains the other one's part."""
    text, flipped = "", None
    parts: tuple[list[Span], list[Span]] = ([], [])
    for piece in pieces:
        if piece.flipped:
            flipped = (len(text) + piece.flipped[0], len(text) + piece.flipped[1])
        if piece.source is not None:
            others = said.words(pages[1 - piece.source])
            parts[piece.source].extend(_only_here(piece, len(text), others))
        text += piece.text
    text = f"{text[0].upper()}{text[1:].rstrip(' .,')}."
    first, second = (_runs(text, spans) for spans in parts)
    if not first or not second:
        return None
    if flipped and not any(start <= flipped[0] and flipped[1] <= end for start, end in second):
        return None
    return Joined(text, (first, second), flipped)


def _only_here(piece: Piece, shift: int, others: frozenset[str]) -> list[Span]:
    """Return the offsets of content words that do not occur on the other page."""
    spans, left_out = [], FUNCTION_WORDS | GENERIC | piece.implied | others
    for match in _CONTENT_WORD.finditer(piece.text):
        exchanged = piece.flipped and piece.flipped[0] <= match.start() < piece.flipped[1]
        if exchanged or not {match[0].casefold(), _stem(match[0])} & left_out:
            spans.append((shift + match.start(), shift + match.end()))
    return spans


def _runs(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join spans with only spaces between."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return tuple(runs)


def _stem(word: str) -> str:
    """Return a word in the compared form: "Actors" and "actor's" become "actor"."""
    plain = re.sub(r"['’]s$", "", word.casefold())  # noqa: RUF001 - curly too
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain
