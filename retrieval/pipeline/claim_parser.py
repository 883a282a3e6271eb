"""Makes of a claim as it was written the statements that are checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from lemminflect import getAllLemmas
from spacy.tokens import Doc, Span, Token

from retrieval.checkable.references import owners_in
from retrieval.claim import ReadClaim, as_sentence, checked_as, read_claim
from retrieval.index.formats.titles import title_key
from retrieval.index.interface import DocumentStore
from retrieval.models.title_trie import TitleTokenizer
from retrieval.text.clause import as_statement
from retrieval.text.english import SUBJECTS, VERBS, EnglishParser
from retrieval.text.notices import NAMELESS, NO_STATEMENT, QUESTION, SEVERAL
from retrieval.text.statement_cutter import CutStatement, Owner, makes_several, statements
from retrieval.text.word_forms import edit_distance, one_edit_away
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

    def titled(self, claim: Doc, read: Iterable[str]) -> tuple[Misspelt, ...]:
        """Return words in names of a claim that may be meant for those of titles, in its order.

        Such a word is in no title of the documents ``read``. One edit leads from its name, which is
        no title, to one, or two edits from a longer word that no text has.
        """
        known = {title_key(word) for title in read for word in _LETTERS.findall(title)}
        found: list[Misspelt] = []
        for word, start, names in _words_of_names(claim) if self._store.knows_its_words else ():
            near = self._near_title(word, names) if title_key(word) not in known else None
            if near is not None:
                found.append(Misspelt(word, start, _in_the_case_of(word, near)))
        return tuple(found)

    def _near_title(self, word: str, names: list[str]) -> str | None:
        """Return the one word that makes a title of a name, which has another one instead."""
        written = title_key(word)
        if len(word) < _MEDIUM or self._store.title_matches(names):
            return None
        edits = 2 if len(word) > _MEDIUM else 1
        for near in (one_edit_away(written), [*self._store.near_words(word, edits)]):
            meant = {names[-1].replace(word, one): one for one in near}
            words = {meant[match.name] for match in self._store.title_matches([*meant])}
            named = self._names_among([written, *sorted(words)])
            others = [one for one in named if one != written]
            if written in named and len(others) == 1:
                return None if _may_be_forms_of_one(written, others[0]) else others[0]
        return None

    def _in_a_title(self, token: Token, near: Mapping[str, int]) -> str | None:
        """Return the one word that makes a title of several words with those beside it."""
        if not near or not (token.text[:1].isupper() or _is_in_a_name(token)):
            return None
        meant = {
            " ".join(one if word == token else word.text for word in words): one
            for one in near
            for words in _phrases_with(token)
        }
        words = {meant[match.name] for match in self._store.title_matches([*meant])}
        return words.pop() if len(words) == 1 else None

    def _meant(self, word: str, names: list[str]) -> str | None:
        written = title_key(word)
        near = {
            one: count
            for one, count in self._store.near_words(word, 2 if len(word) >= _LONG else 1).items()
            if len(word) >= _MEDIUM or len(written) != len(one) or sorted(written) == sorted(one)
        }
        ends = ("s", "es")  # a singular and its plural are forms of one word
        forms = {form for end in ends for form in (written + end, written.removesuffix(end))}
        another_form = not forms.isdisjoint(near.keys() - {written})
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


def _words_of_names(claim: Doc) -> Iterator[tuple[str, int, list[str]]]:
    """Yield words with a capital or in a name, where they begin, and the names that they are in."""
    for token in claim:
        if not (token.text[:1].isupper() or _is_in_a_name(token)):
            continue
        names = [name.text for name in claim.ents if name.start <= token.i < name.end]
        for found in _LETTERS.finditer(token.text):
            if len(found[0]) >= _SHORTEST:
                yield found[0], token.idx + found.start(), [found[0], *names]


def _is_in_a_name(token: Token) -> bool:
    return token.pos_ == "PROPN" or token.ent_type_ not in _NO_NAMES


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


_PRONOUNS = {"he", "she", "it", "they"}
_WEATHER = {"rain", "snow", "hail", "freeze", "thunder"}


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement of the claim, and as it is read: a sentence with its words and relations."""

    statement: CutStatement
    parsed: Doc


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """A claim and its statements, at least one, in their order.

    ``parsed``: all of it. ``suggestion``: the claim with other words where it may be misspelt, ""
    where it is not.
    """

    read: ReadClaim
    statements: tuple[ParsedStatement, ...]
    parsed: Doc
    suggestion: str = ""


class ClaimParser:
    """Reads and parses claims."""

    def __init__(self, english: EnglishParser, spelling: Spelling | None = None) -> None:
        """``english`` is loaded by ``warm_up`` or when it is first needed.

        ``spelling`` knows the words of the corpus; without it no name is corrected.
        """
        self._english = english
        self._spelling = spelling

    def warm_up(self) -> None:
        """Load the models."""
        self._english.warm_up()
        if self._spelling is not None:
            self._spelling.warm_up()

    def parse(self, text: str) -> ParsedClaim:
        """Return the claim that is checked: with the names as the corpus spells them; of a question
        for yes or no, its statement.

        Raises:
            InvalidClaim: the text cannot be checked.
        """
        read = self._as_statement(self._spelt_as_the_corpus(read_claim(text, anyway=True)))
        parsed = self._english.parse(as_sentence(read.text))
        found = self._spelling.suggested(parsed) if self._spelling is not None else ()
        suggestion = _spelt(read.text, found) if found else ""
        if _says_nothing(parsed):
            read = replace(read, notices=(*read.notices, NO_STATEMENT))
        elif _is_nameless(parsed):
            read = replace(read, notices=(*read.notices, NAMELESS))
        owners = owners_in(parsed)
        cut = statements(parsed, self._english, owners)
        others = _without(read, SEVERAL).notices
        if len(cut) == 1:
            if makes_several(parsed, self._english):
                read = replace(read, notices=(*others, SEVERAL))
            whole = replace(cut[0], text=read.text, end=len(read.text))
            return ParsedClaim(read, (ParsedStatement(whole, parsed),), parsed, suggestion)
        read = replace(read, notices=(*_replaced(cut, owners, read.text), *others))
        inside = (replace(one, end=min(one.end, len(read.text))) for one in cut)
        made = tuple(ParsedStatement(one, self._english.parse(one.text)) for one in inside)
        return ParsedClaim(read, made, parsed, suggestion)

    def titled(self, claim: ParsedClaim, read: Iterable[str]) -> str:
        """Return a claim with the names of titles that it may mean, "" where it means none.

        ``read``: the titles of the documents that were read for it.
        """
        found = self._spelling.titled(claim.parsed, read) if self._spelling is not None else ()
        return _spelt(claim.read.text, found) if found else ""

    def _spelt_as_the_corpus(self, read: ReadClaim) -> ReadClaim:
        if self._spelling is None:
            return read
        misspelt = self._spelling.misspelt(self._english.parse(as_sentence(read.text)))
        text = _spelt(read.text, misspelt)
        notices = dict.fromkeys(
            f"“{one.word}” is not in the corpus; it was read as “{one.meant}”." for one in misspelt
        )
        return replace(read, text=text, notices=(*notices, *read.notices))

    def _as_statement(self, read: ReadClaim) -> ReadClaim:
        statement = as_statement(read.text, self._english) if QUESTION in read.notices else None
        if statement is None:
            return read
        others = _without(read, QUESTION).notices
        return replace(read, text=statement, notices=(checked_as(statement), *others))


def _spelt(claim: str, misspelt: Sequence[Misspelt]) -> str:
    """Return the claim with the words that its misspelt ones stand for."""
    for one in reversed(misspelt):
        claim = claim[: one.start] + one.meant + claim[one.start + len(one.word) :]
    return claim


def _says_nothing(parsed: Doc) -> bool:
    """Return whether a text only names something: "the capital of France".

    The parser takes some verbs for nouns ("Daag stars Vanisri"), but no first word, and without an
    ending only one after a plural ("Kettles boil water").
    """
    if not parsed.has_annotation("DEP") or any(token.pos_ in VERBS for token in parsed):
        return False
    words = [token for token in parsed if token.is_alpha]
    ends_in_thing = bool(words) and words[-1].pos_ in ("NOUN", "PROPN")
    return ends_in_thing and not any(
        token.is_lower and (token.text.endswith(("s", "ed")) or _is_of_plural(before, token))
        for before, token in pairwise(words)
    )


def _is_of_plural(before: Token, token: Token) -> bool:
    """Return whether a word may be the verb of the plural that begins the text."""
    verbs = getAllLemmas(token.lower_, upos="VERB").get("VERB", ())
    return before.i == 0 and before.lower_.endswith("s") and token.lower_ in verbs


def _is_nameless(parsed: Doc) -> bool:
    """Return whether a claim is about a "he", "she" or "it" that nothing before it names.

    "It is cold in Ober." and "It is true that …" are about no thing.
    """
    subject = next((t for t in parsed if t.dep_ in SUBJECTS), None)
    if subject is None or subject.head.dep_ != "ROOT" or subject.lower_ not in _PRONOUNS:
        return False
    clauses = {"ccomp", "xcomp", "csubj", "advcl"}
    if any(t.pos_ in ("NOUN", "PROPN") for t in parsed[: subject.i]):
        return False
    return subject.lower_ != "it" or not any(
        t.dep_ in clauses or t.pos_ == "PROPN" or t.lemma_ in _WEATHER for t in parsed
    )


def _replaced(
    cut: Sequence[CutStatement], owners: Mapping[int, Owner], claim: str
) -> Iterator[str]:
    """Yield the notices that name what words such as "its" were read as."""
    for at, owner in sorted(owners.items()):
        if not any(piece.start <= at < piece.end for one in cut for piece in one.pieces):
            said = claim[at:].partition(" ")[0]
            yield f"“{said}” was read as “{owner.words}”."


def _without(read: ReadClaim, notice: str) -> ReadClaim:
    return replace(read, notices=tuple(one for one in read.notices if one != notice))
