"""What a claim is about, and whether a text is about it too.

A sentence about another thing of the same kind settles nothing: that Brisbane is the capital of an
Australian state says nothing about Canberra. Minutes, a form or a mail name what they are about
once, and every sentence of them is about that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from spacy.tokens import Doc, Token

from retrieval.text.context import is_about_its_title, without_number
from retrieval.text.english import (
    CLAUSE_SUBJECTS,
    COMPARATIVES,
    SUPERLATIVES,
    VERBS,
    subject_in,
)
from retrieval.text.word_forms import (
    FUNCTION_WORDS,
    folded,
    lexicon,
    stem,
    word_set,
)
from retrieval.types import Document, Evidence

_WORD = re.compile(r"[^\W_]+|[,;:()]")  # "kestrel_income", the name of a file, has two
_ABBREVIATED = re.compile(r"\b(?:\w\.){2,}")  # "U.S."
_ASIDE = re.compile(r"\([^)]*+(?:\)|\Z)|, .*")  # words in parentheses, and a section
_POSSESSIVE = re.compile(r"(?<=\w)['’][sS]?\b")  # noqa: RUF001 - curly quotes are meant
_LINKS = {"of", "the", "de", "la", "von", "van", "da", "del", "al"}  # between the words of a name
_BEST = re.compile(r"most|least|best|first|last|only|\w{3,}est")
_NEAR = 8  # words between a name and what is said of it
_OBJECTS = {"attr", "dobj", "oprd"}
# Names may lack these words, which say what kind of thing has the name: "Mount Kilimanjaro".
_KINDS = lexicon("kinds_of_named")
# What was made, found or won has one maker, finder or winner.
_OF_ONE = lexicon("of_one")
# Words that are true of one thing only, apart from superlatives.
_UNIQUE = {"first", "last", "only"}
# Whoever these are, the claim is about something else.
_ANYONE = lexicon("anyone")
# With a capital these are a name, and without one a kind of thing: "the Moon", "a moon".
_CAPITAL = word_set("moon sun earth galaxy")
# Before a word in small letters that is a name all the same: "the moon", "on earth".
_BEFORE_ONE = word_set("the on from to in around of at by with")
_IRREGULAR = {"men": "man", "mice": "mouse", "feet": "foot", "teeth": "tooth", "children": "child"}
_HYPHENS = ("-", "–")  # noqa: RUF001
_BREAK = "."  # after a title and after a sentence: no name goes on there


@dataclass(frozen=True, slots=True)
class _Name:
    """A name, or a word for a kind of thing, as it is compared with the words of a text.

    ``words``: the forms of each of its words, folded. ``known_as``: its words as they are written,
    empty if it is no name. ``people``: whether it is the name of a people or a nationality.
    ``proper``: it is one word that its capital alone makes a name: "the Moon", not "a moon".
    """

    words: tuple[frozenset[str], ...]
    known_as: tuple[str, ...] = ()
    people: bool = False
    proper: bool = False

    def is_in(self, text: _Text) -> bool:
        if all(forms & text.words for forms in self.words):
            return not self.proper or text.names(self.words[0])
        if not self.known_as:
            return False
        return self._without_kind(text) or self._shortened(text) or self._of_people(text)

    def is_title(self, title: Sequence[str]) -> bool:
        """Return whether a title, as its folded words, is this name or a longer form of it."""
        own = [forms for forms in self.words if not forms & _KINDS] or list(self.words)
        if not title or not all(forms.intersection(title) for forms in own):
            return False
        others = set(title) - _KINDS - frozenset().union(*self.words)
        return not others or (bool(self.known_as) and title[-1] in own[-1])

    def _without_kind(self, text: _Text) -> bool:
        """Return whether the text has the name without the kind of thing, as its whole name."""
        own = [forms for forms in self.words if not forms & _KINDS]
        whole = 0 < len(own) < len(self.words)
        return whole and all(text.alone(forms, self) for forms in own)

    def _shortened(self, text: _Text) -> bool:
        """Return whether the text has the last word, with initials or nothing before it, or the
        initials of all words, or the words that these are the initials of."""
        if len(self.known_as) == 1:
            word = self.known_as[0]
            return word.isupper() and 2 <= len(word) <= 5 and word in text.initials
        initials = "".join(word[0] for word in self.known_as)
        if initials.isupper() and initials in text.written:
            return True
        return not self.words[-1] & _KINDS and text.alone(self.words[-1], self)

    def _of_people(self, text: _Text) -> bool:
        stems = tuple(stem(form) for form in self.words[-1] if len(form) > 3)
        return self.people and any(word.startswith(stems) for word in text.words)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as its words: as ``written``, folded, and the initials of its capitalised ``runs``."""

    written: tuple[str, ...]
    words: frozenset[str] = field(init=False)
    initials: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", frozenset(map(_folded, self.written)))
        object.__setattr__(self, "initials", frozenset(_initials(self.written)))

    def alone(self, forms: frozenset[str], name: _Name) -> bool:
        """Return whether a word stands in the text and is not the end of a longer, other name."""
        return any(True for _ in self._places(forms, name))

    def names(self, forms: frozenset[str]) -> bool:
        """Return whether a word is a name here: with a capital, or "the moon" that is of nothing.

        "A moon" and "the moon of Mars" are any moon.
        """
        before, after = (_BREAK, *self.written[:-1]), (*self.written[1:], _BREAK)
        return any(
            word[0].isupper() or (one.casefold() in _BEFORE_ONE and other != "of")
            for one, word, other in zip(before, self.written, after, strict=True)
            if _folded(word) in forms
        )

    def near(self, name: _Name) -> Iterator[str]:
        """Yield the words, folded, that stand near the last word of a name."""
        for place in self._places(name.words[-1], name):
            yield from map(_folded, self.written[max(0, place - _NEAR) : place + _NEAR + 1])

    def _places(self, forms: frozenset[str], name: _Name) -> Iterator[int]:
        ours = frozenset().union(*name.words)
        begins = {form[0] for form in ours}
        for place, word in enumerate(self.written):
            if not word[0].isupper() or _folded(word) not in forms:
                continue
            last = self.written[max(0, place - 2) : place]
            before = last[-1] if last else ""
            other = before[:1].isupper() and before.casefold() not in FUNCTION_WORDS
            # Of "J. K. Rowling" one initial must be that of a word of the name.
            initial = len(before) == 1 and bool({w.casefold() for w in last} & begins)
            if not other or initial or _folded(before) in ours or _folded(before) in _KINDS:
                yield place


@dataclass(frozen=True, slots=True)
class _Said:
    """What a claim says that is true of one thing only, whichever it is.

    ``names``: what it says it of; a document about that thing is about the claim too. Another one
    must have one of the words ``beside``, folded, or with ``best`` a superlative, near a name.
    ``compared``: it must be the document's own thing, because the claim compares things.
    """

    names: tuple[_Name, ...]
    beside: frozenset[str] = frozenset()
    best: bool = False
    compared: bool = False

    def is_in(self, text: _Text, titles: _Text) -> bool:
        if all(titles.alone(name.words[-1], name) for name in self.names):
            return True
        if self.compared or not all(name.is_in(text) for name in self.names):
            return False
        if not self.beside and not self.best:
            return True
        near = {word for name in self.names for word in text.near(name)}
        return bool(self.beside & near) or (self.best and any(map(_BEST.fullmatch, near)))


def _all_words(texts: Iterable[str]) -> _Text:
    return _Text(tuple(word for text in texts for word in (*_written(text), _BREAK)))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a claim is about.

    ``text``: its words in the claim, "" if nothing was recognised; then every text is about it.
    ``_papers``: ids of documents that are about it as a whole.
    """

    text: str = ""
    _names: tuple[_Name, ...] = ()
    _instead: tuple[_Said, ...] = ()
    _claim: frozenset[str] = frozenset()
    _papers: frozenset[str] = frozenset()

    def in_documents(self, documents: Sequence[Document]) -> Subject:
        """Return the subject with those documents that are about it as a whole.

        They name it somewhere, and are no articles: texts with an address about what their title
        names. Passages of one document count together.
        """
        published = (one for one in documents if one.url)
        articles = {without_number(one.id) for one in published if is_about_its_title(one)}
        others = [one for one in documents if without_number(one.id) not in articles]
        named = {without_number(d.id) for d in others if self.is_in([(d.heading, d.text)])}
        papers = frozenset(one.id for one in others if without_number(one.id) in named)
        return replace(self, _papers=papers)

    def is_of(self, evidence: Sequence[Evidence]) -> bool:
        """Return whether sentences, read together, are about the subject, or one's document is."""
        in_paper = any(item.key.document_id in self._papers for item in evidence)
        return in_paper or self.is_in([item.as_read for item in evidence])

    def is_in(self, texts: Sequence[tuple[str, str]]) -> bool:
        """Return whether the (title, sentence) pairs, taken together, are about the subject.

        They are if they contain one of its names, or, where the claim says something that is true
        of one thing only ("the capital of Australia"), if they say it too. If the subject has no
        name ("bananas"), any name of the claim, or a title that the claim contains, is enough.
        """
        if not self._names:
            return True
        text = _all_words(part for pair in texts for part in pair)
        titles = _all_words(title for title, _ in texts)
        return (
            any(name.is_in(text) for name in self._names)
            or any(said.is_in(text, titles) for said in self._instead)
            or any(self._claim.issuperset(_title_words(title) or {title}) for title, _ in texts)
        )

    def is_titled(self, title: str) -> bool:
        """Return whether a document with this title is about the subject.

        The title has all words of one of its names and no other, or it is a longer name with the
        same last word: "Charles Dickens" for "Dickens".
        """
        return any(name.is_title(_title_words(title, _LINKS)) for name in self._names)


ANYTHING = Subject()


def subject_of(doc: Doc) -> Subject:
    """Return the subject of a parsed claim: that of its first sentence."""
    root = next((sentence.root for sentence in doc.sents), None)
    head = subject_in(root, CLAUSE_SUBJECTS) if root else None
    if root is None or head is None or head.lemma_.casefold() in _ANYONE:
        return ANYTHING
    phrase = list(head.subtree)
    text = doc[phrase[0].i : phrase[-1].i + 1].text
    rest = [token for token in doc if token not in phrase]
    if names := _names(phrase):
        one = next((t for t in root.children if t.dep_ == "attr" and t.pos_ == "PROPN"), None)
        if head.pos_ == "NOUN" and one is not None:  # "The capital of Australia is Canberra."
            said = _Said(tuple(names), _forms(head), best=_has_best(phrase))
            return Subject(text, tuple(_names(list(one.subtree))), (said,))
        return Subject(text, tuple(names), tuple(_instead(root, rest)))
    if not (things := _things(phrase)):
        return ANYTHING
    return Subject(
        text,
        tuple(things),
        tuple(_Said((name,)) for name in _names(rest)),
        frozenset(form for token in doc for form in _forms(token)),
    )


def _title_words(title: str, without: Collection[str] = ()) -> list[str]:
    """Return the words of a title without its section and its words in parentheses."""
    return [_folded(word) for word in _written(_ASIDE.sub("", title)) if word not in without]


def _instead(root: Token, rest: Sequence[Token]) -> Iterator[_Said]:
    """Yield what the claim says of its subject that is true of one thing only."""
    named = tuple(_names(rest))
    if named and (_has_best(rest) or any(token.lower_ == "any" for token in rest)):
        yield _Said(named, best=True)
    if named and any(token.tag_ in COMPARATIVES for token in rest):
        yield _Said(named, compared=True)
    for token in rest:
        if token.lower_ == "than" and (things := _things(list(token.subtree))):
            yield _Said(tuple(things), compared=True)
    for child in root.children:
        if child.dep_ not in _OBJECTS:
            continue
        phrase = list(child.subtree)
        names, best = tuple(_names(phrase)), [token for token in phrase if _is_best(token)]
        if root.lemma_ in _OF_ONE:
            yield _Said(names or tuple(_things([child])))
        elif best and not names:
            yield _Said((*_things([child]), *map(_thing, best)))
        elif names and any(t.dep_ == "poss" or t.lower_ == "the" for t in child.children):
            yield _Said(names, _forms(child), best=bool(best))


def _has_best(tokens: Sequence[Token]) -> bool:
    return any(map(_is_best, tokens))


def _is_best(token: Token) -> bool:
    return token.tag_ in SUPERLATIVES or token.lower_ in _UNIQUE


def _names(tokens: Sequence[Token]) -> list[_Name]:
    """Return the names among these words."""
    runs: list[list[Token]] = []
    for token in tokens:
        after = bool(runs) and runs[-1][-1].i == token.i - 1
        if after and (token.pos_ == "PROPN" or _goes_on(token)):
            runs[-1].append(token)
        elif token.pos_ == "PROPN":
            runs.append([token])
    return [
        _Name(
            tuple(_forms(token) for token in said),
            tuple(word for token in said for word in _written(token.text)),
            any(token.ent_type_ == "NORP" for token in said) or _of_people(said),
            len(said) == 1 and _is_proper(said[0]),
        )
        for run in runs
        if (said := [t for t in run if t.lower_ not in _LINKS and _WORD.match(t.text)])
    ]


def _of_people(said: Sequence[Token]) -> bool:
    """Return whether a name is a single word after "the", as most names of peoples are."""
    return len(said) == 1 and any(child.lower_ == "the" for child in said[0].children)


def _is_proper(token: Token) -> bool:
    """Return whether a capital makes a word a name, so not the first word or one of a headline."""
    headline = not any(t.text.islower() for t in token.doc if t.pos_ in VERBS)
    first = not any(t.is_alpha for t in token.doc[: token.i])
    return token.lower_ in _CAPITAL and token.text.istitle() and not first and not headline


def _goes_on(token: Token) -> bool:
    """Return whether a word after a name is a part of it: "Apollo 11", "Lincoln-Douglas"."""
    if token.text in _HYPHENS:
        return not token.whitespace_ and token.i + 1 < len(token.doc)
    if token.lower_ in _LINKS:
        following = next((t for t in token.doc[token.i + 1 :] if t.lower_ not in _LINKS), None)
        return following is not None and following.pos_ == "PROPN"
    return token.like_num and token.text[0].isdigit()


def _things(tokens: Sequence[Token]) -> list[_Name]:
    return [_thing(token) for token in tokens if token.pos_ == "NOUN"]


def _thing(token: Token) -> _Name:
    return _Name((_forms(token),))


def _forms(token: Token) -> frozenset[str]:
    return frozenset(_folded(w) for text in (token.text, token.lemma_) for w in _written(text))


def _written(text: str) -> list[str]:
    text = _ABBREVIATED.sub(lambda found: found[0].replace(".", "") + " ", text)
    return _WORD.findall(_POSSESSIVE.sub(" ", text))


@lru_cache(10_000)
def _folded(word: str) -> str:
    """Return a word without case, accents and the ending of a plural."""
    plain = folded(word)
    for many, one in _IRREGULAR.items():
        if plain.endswith(many):
            return plain.removesuffix(many) + one
    if len(plain) > 4 and plain.endswith("ies"):
        return plain[:-3] + "y"
    if len(plain) > 4 and plain.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return plain[:-2]
    return plain[:-1] if len(plain) > 3 and plain[-1] == "s" and plain[-2] not in "siu" else plain


def _initials(words: Sequence[str]) -> Iterator[str]:
    """Yield the initials of every run of two to five capitalised words, small words left out."""
    run: list[str] = []
    for word in words:
        if word[0].isupper():
            run.append(word[0])
            for first in range(max(0, len(run) - 5), len(run) - 1):
                yield "".join(run[first:])
        elif word not in FUNCTION_WORDS:
            run = []
