"""Words of a claim that the corpus spells in another way.

A misspelt name finds nothing, and what is found about others may seem to refute the claim. Where a
name is meant for certain, it is read so; other words are only suggested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from spacy.tokens import Doc, Span, Token

from retrieval.index.formats.title_key import title_key
from retrieval.index.interface import DocumentStore
from retrieval.models.title_trie import TitleTokenizer
from retrieval.text.edit_distance import edit_distance
from retrieval.types import PhraseSearch

_SHORTEST = 5  # letters; among shorter words too many are near each other (Elba, Elbe, Ebla)
# Letters from which on a letter may be another one: a short word that differs so is often another
# name (Korea, Morea).
_MEDIUM = 6
_LONG = 8  # letters from which on a word may have two mistakes
_COMPARED, _READ = 5, 5  # words of the corpus, and documents with each
_OFTEN = 20  # texts of the corpus that have a word which is suggested for another
_MOST_SUGGESTED = 3  # words of a claim that the corpus is asked about; each takes milliseconds
_TITLE_WORDS = 4  # of a title that a word may be part of
_ENDINGS = frozenset("sdrnyl")  # letters in which forms of one word may differ at its end
_LETTERS = re.compile(r"[^\W\d_]+")
_NO_NAMES = {"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME", ""}


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A word of the claim that no text has, where it begins, and the word that it stands for."""

    word: str
    start: int
    meant: str


class Spelling:
    """Compares the names of claims with the words of an index."""

    def __init__(self, store: DocumentStore) -> None:
        """Search ``store``, which is asked only about words that may be misspelt."""
        self._store = store

    def warm_up(self) -> None:
        """Load the frequent words.

        Raises:
            ModelUnavailable: the package that they come with is missing or damaged.
        """
        _tokenizer()

    def misspelt(self, claim: Doc) -> tuple[Misspelt, ...]:
        """Return the misspelt words of the names in a claim, in its order.

        These are words that no text contains, that are not frequent in English and that one name of
        the corpus is nearer to than all others. Of equally near ones the most frequent is meant.
        """
        found: list[Misspelt] = []
        for word, start, names in _words_of_names(claim):
            if not _is_common(word) and (meant := self._meant(word, names)) is not None:
                found.append(Misspelt(word, start, _in_the_case_of(word, meant)))
        return tuple(found)

    def suggested(self, claim: Doc) -> tuple[Misspelt, ...]:
        """Return words of a claim that may be meant for others, with these, in its order.

        No text contains them, and one edit leads to a word that many texts have, or that makes a
        title with the words beside it. Names that ``misspelt`` returns are not among them.
        """
        found: list[Misspelt] = []
        asked = 0
        for token in claim:
            if asked == _MOST_SUGGESTED:
                break
            if not token.is_alpha or len(token) < _SHORTEST or token.is_stop:
                continue
            near = self._store.near_words(token.text, 1)
            asked += bool(near)
            meant = self._in_a_title(token, near) or _often_meant(token, near)
            if meant is not None:
                found.append(Misspelt(token.text, token.idx, _in_the_case_of(token.text, meant)))
        return tuple(found)

    def _in_a_title(self, token: Token, near: Mapping[str, int]) -> str | None:
        """Return the one word that makes a title of several words with those beside it."""
        if not near or not (token.text[:1].isupper() or _is_in_a_name(token)):
            return None
        meant = {_with(words, token, one): one for one in near for words in _phrases_with(token)}
        words = {meant[match.name] for match in self._store.title_matches([*meant])}
        return words.pop() if len(words) == 1 else None

    def _meant(self, word: str, names: list[str]) -> str | None:
        written = title_key(word)
        near = {
            one: count
            for one, count in self._store.near_words(word, 2 if len(word) >= _LONG else 1).items()
            if len(word) >= _MEDIUM or not _differ_in_a_letter(written, one)
        }
        another_form = any(_are_forms_of_one(written, one) for one in near)
        if not near or another_form or self._store.title_matches(names):
            return None
        ranks = {one: (edit_distance(written, one), -count) for one, count in near.items()}
        ranked = self._names_among(sorted(ranks, key=lambda one: (ranks[one], one))[:_COMPARED])
        tied = len(ranked) > 1 and ranks[ranked[0]] == ranks[ranked[1]]
        return ranked[0] if ranked and not tied else None

    def _names_among(self, words: list[str]) -> list[str]:
        """Return the words that texts of the corpus always begin with a capital."""
        found = self._store.phrase_matches([PhraseSearch((word,), _READ) for word in words])
        ids = dict.fromkeys(match.document_id for matches in found for match in matches)
        texts = " ".join(document.text for document in self._store.documents([*ids]))
        small = {title_key(one) for one in _LETTERS.findall(texts) if one[0].islower()}
        return [word for word in words if word not in small]


def _often_meant(token: Token, near: Mapping[str, int]) -> str | None:
    """Return the most frequent word near one that is no name and no form of such a word."""
    word = title_key(token.text)
    if token.text[:1].isupper() or _is_in_a_name(token):
        return None
    if (
        _is_common(word)
        or _is_common(token.lemma_)
        or any(_may_be_forms_of_one(word, one) for one in near)
    ):
        return None
    often = [one for one, count in near.items() if count >= _OFTEN and _is_common(one)]
    return max(often, key=lambda one: (near[one], one), default=None)


def _may_be_forms_of_one(word: str, other: str) -> bool:
    """Return whether two words differ only at the end, as "moves" and "moved" do."""
    shorter, longer = sorted((word, other), key=len)
    if longer[: len(shorter)] == shorter:
        return longer[-1] in _ENDINGS
    return word[:-1] == other[:-1] and {word[-1], other[-1]} <= _ENDINGS


def _phrases_with(token: Token) -> Iterator[Span]:
    """Yield the words around one that may be a title with it, at least two."""
    doc = token.doc
    for size in range(2, _TITLE_WORDS + 1):
        for first in range(token.i - size + 1, token.i + 1):
            if first >= 0 and first + size <= len(doc):
                span = doc[first : first + size]
                if all(one.is_alpha for one in span) and not (span[0].is_stop or span[-1].is_stop):
                    yield span


def _with(words: Span, token: Token, other: str) -> str:
    """Return a phrase with another word in the place of one of its words."""
    return " ".join(other if one == token else one.text for one in words)


def _words_of_names(claim: Doc) -> Iterator[tuple[str, int, list[str]]]:
    """Yield words with a capital or in a name, where they begin, and the names that they are in."""
    for token in claim:
        if not (token.text[:1].isupper() or _is_in_a_name(token)):
            continue
        names = [ent.text for ent in claim.ents if _holds(ent, token)]
        for found in _LETTERS.finditer(token.text):
            if len(found[0]) >= _SHORTEST:
                yield found[0], token.idx + found.start(), [found[0], *names]


def _is_in_a_name(token: Token) -> bool:
    return token.pos_ == "PROPN" or token.ent_type_ not in _NO_NAMES


def _holds(name: Span, token: Token) -> bool:
    return bool(name.start <= token.i < name.end)


def _are_forms_of_one(word: str, other: str) -> bool:
    """Return whether they are a singular and its plural."""
    shorter, longer = sorted((word, other), key=len)
    return longer in {f"{shorter}s", f"{shorter}es"}


def _differ_in_a_letter(word: str, other: str) -> bool:
    return len(word) == len(other) and sorted(word) != sorted(other)


def _in_the_case_of(word: str, meant: str) -> str:
    if word.isupper():
        return meant.upper()
    return meant.capitalize() if word[0].isupper() else meant


def _is_common(word: str) -> bool:
    """Return whether English texts use the word so often that it is no mistake."""
    return len(_tokenizer().tokens([word])[0]) == 1


@cache
def _tokenizer() -> TitleTokenizer:
    return TitleTokenizer()
