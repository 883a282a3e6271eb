"""Cuts a claim into the statements that it makes.

A claim is cut between its sentences, at semicolons, and before "and" or "but" where both halves
have a finite verb of their own. A half without a subject takes that of the half before it, and a
pronoun as subject is replaced by the subject that it stands for. "Its" and the like within a half
are replaced where the caller knows whose something is. Where any of this is not plain,
the claim stays whole: that is checked as one, but a wrong statement is not what the claim says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from spacy.tokens import Doc, Token

from retrieval.text.english import COMPARATIVES, FINITE, SUBJECTS, VERBS, EnglishParser

MOST_STATEMENTS = 6

_JOINS = {"and", "but"}
_AFTER_A_MISREAD_THING = {"conj", "advcl", "ccomp"}
_NAMES_A_THING = {"NOUN", "PROPN"}
_SUBJECTS = SUBJECTS | {"expl"}
# What is said under a condition, or as one of two things, is not said by a half alone.
_BINDS = {"if", "unless", "whether", "either", "neither", "nor", "or"}
_PRONOUNS = {"it", "he", "she", "they"}
_OF_A_PERSON = {"he", "his", "she", "her"}
_THINGS = {"GPE", "LOC", "FAC", "ORG", "WORK_OF_ART", "PRODUCT", "EVENT"}  # named ones
_COMPARES = {"another", "both", "former", "latter", "other", "others", "respectively", "same"}
_NOT_THE_SAME = {"a", "an", "any", "few", "many", "most", "no", "nobody", "one", "several", "some"}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")

Slice: TypeAlias = tuple[int, int]
"""Characters of the claim."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of a statement from ``at`` on that are ``claim[start:end]``."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Owner:
    """What a word such as "its" stands for.

    ``words``: what can stand in its place ("Australia's"). ``said_at``: where the claim names it.
    """

    words: str
    said_at: int


@dataclass(frozen=True, slots=True)
class CutStatement:
    """A statement of the claim; ``claim[start:end]`` makes it.

    ``pieces``: where its text is that of the claim. A copied subject lies before ``start``.
    """

    text: str
    start: int
    end: int
    pieces: tuple[Piece, ...]

    def in_claim(self, start: int, end: int) -> Slice | None:
        """Return the offsets in the claim of a part of the text.

        ``None`` for what it does not have from ``claim[start:end]``.
        """
        for piece in self.pieces:
            moved = piece.start - piece.at
            if piece.at <= start and end + moved <= piece.end and start + moved >= self.start:
                return start + moved, end + moved
        return None


_NO_OWNERS: Mapping[int, Owner] = MappingProxyType({})


def statements(
    claim: Doc, parser: EnglishParser, owners: Mapping[int, Owner] = _NO_OWNERS
) -> tuple[CutStatement, ...]:
    """Return the statements of a parsed claim, at most ``MOST_STATEMENTS``, in its order.

    ``owners``: what the words such as "its" that begin at these offsets stand for, where it is
    certain. A claim that is not cut is its only statement.
    """
    text = claim.text
    try:
        parts = list(_parts(claim, parser, owners))
    except _NotPlain:
        parts = []
    if len(parts) < 2:
        return (CutStatement(text, 0, len(text), (Piece(0, 0, len(text)),)),)
    if len(parts) > MOST_STATEMENTS:
        last = parts[MOST_STATEMENTS - 1]
        parts[MOST_STATEMENTS - 1 :] = [replace(last, end=parts[-1].end)]
    return tuple(_statement(part, text) for part in parts)


def makes_several(claim: Doc, parser: EnglishParser) -> bool:
    """Return whether a claim makes several statements, also if it cannot be cut into them."""
    try:
        return len(list(_clauses(claim, parser))) > 1
    except _NotPlain:
        return False


def clauses_of(sentence: Doc) -> tuple[Slice, ...]:
    """Return the places of the clauses that "and" or "but" join, if each has its own subject.

    So each can be read by itself once its pronouns are known. The clause between the commas of "The
    tower, which was completed in 1889, is tall" is not among them: see ``with_aside_apart``. None
    if the sentence is one clause, or must not be cut.
    """
    try:
        quoted = [found.span() for found in _QUOTED.finditer(sentence.text)]
        found = list(_halves(sentence, 0, quoted))
    except _NotPlain:
        return ()
    whole = len(found) > 1 and all(clause.subject is not None for clause in found)
    return tuple((clause.start, clause.end) for clause in found) if whole else ()


def with_aside_apart(sentence: Doc) -> tuple[str, str] | None:
    """Return the two statements of "The tower, which was completed in 1889, is 300 m tall.".

    The clause that "which" or "who" begins is about the subject, and stands between commas. What
    needs it to say which thing is meant has no commas, and is not cut: then ``None``.
    """
    try:
        subject = _subject(_root(sentence)) if _may_be_cut(sentence) else None
    except _NotPlain:
        return None
    aside = next((t for t in subject.children if t.dep_ == "relcl"), None) if subject else None
    if subject is None or aside is None or not _is_finite(aside):
        return None
    link, last = aside.left_edge, aside.right_edge
    ended = last if last.text == "," else sentence[min(last.i + 1, len(sentence) - 1)]
    between = link.i > 0 and sentence[link.i - 1].text == "," and ended.text == ","
    begins = link.lower_ in {"which", "who"} and link == _subject(aside)
    if not between or not begins or any(t.tag_ in {"PRP", "PRP$"} for t in aside.subtree):
        return None
    text = sentence.text
    named = text[subject.left_edge.idx : sentence[link.i - 1].idx].rstrip()
    main = f"{named} {text[ended.idx + 1 :].lstrip()}"
    said = text[link.idx + len(link) : ended.idx].strip()
    return f"{named} {said}.", main


class _NotPlain(Exception):
    """It is not certain what a part of the claim says without the others."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the claim. ``before``: its subject, if that is elsewhere in the claim; it stands
    for what is before ``rest``. ``owned``: words after it, each with what stands for them.
    """

    before: tuple[Slice | str, ...]
    start: int
    rest: int
    end: int
    owned: tuple[tuple[Slice, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause with a finite verb; ``start`` and ``end`` are its offsets in the claim.

    ``offset``: where the text that was parsed begins in the claim.
    """

    verb: Token
    start: int
    end: int
    offset: int

    @property
    def subject(self) -> Token | None:
        return _subject(self.verb)

    @property
    def words(self) -> list[Token]:
        return [t for t in self.verb.doc if self.start <= t.idx + self.offset < self.end]

    def place(self, subject: Token) -> Slice:
        """Return where the whole subject is in the claim."""
        last = subject.right_edge
        return self.offset + subject.left_edge.idx, self.offset + last.idx + len(last)


@dataclass(frozen=True, slots=True)
class _Known:
    """The last subject that was named, where it is in the claim, and the clauses so far."""

    place: Slice
    head: Token
    before: tuple[_Clause, ...]
    others: bool = False

    def after(self, clause: _Clause) -> _Known:
        """Return what is known after the clause too."""
        before, subject = (*self.before, clause), clause.subject
        if subject is None or _is_pronoun(subject) or _is_pronoun(subject.left_edge):
            return replace(self, before=before)
        return _Known(clause.place(subject), subject, before, others=True)

    @property
    def is_one_thing(self) -> bool:
        """Whether it is the same thing in two sentences, as "a mill" or "no mill" need not be."""
        first = self.head.left_edge
        return first.lower_ not in _NOT_THE_SAME and first.pos_ != "NUM"

    def may_be(self, pronoun: Token) -> bool:
        """Return whether the pronoun stands for this subject and for nothing else."""
        head, kind = self.head, self.head.ent_type_
        said = [token for clause in self.before for token in clause.words]
        plural = head.tag_ in {"NNS", "NNPS"} or any(t.dep_ == "conj" for t in head.children)
        if self.others or head.pos_ not in {"NOUN", "PROPN"}:
            return False
        if pronoun.lower_ in {"they", "their"}:
            return plural
        if pronoun.lower_ in {"it", "its"}:
            thing = head.left_edge.lower_ == "the" or kind in _THINGS
            rival = pronoun.lower_ == "it" and any(token.dep_ == "dobj" for token in said)
            return thing and kind != "PERSON" and not plural and not rival
        if pronoun.lower_ not in _OF_A_PERSON:
            return False
        own = set(head.subtree)
        rival = any(token.ent_type_ == "PERSON" and token not in own for token in said)
        return kind not in _THINGS and not plural and not rival


def _statement(part: _Part, claim: str) -> CutStatement:
    text, pieces = "", []
    after = part.rest
    rest: list[Slice | str] = []
    for (start, end), words in part.owned:
        rest += [(after, start), words]
        after = end
    for piece in (*part.before, *rest, (after, part.end)):
        if not isinstance(piece, str):
            pieces.append(Piece(len(text), *piece))
            piece = claim[slice(*piece)]
        text += piece
    return CutStatement(f"{text[:1].upper()}{text[1:]}.", part.start, part.end, tuple(pieces))


def _parts(claim: Doc, parser: EnglishParser, owners: Mapping[int, Owner]) -> Iterator[_Part]:
    """Yield the parts of the claim.

    Raises:
        _NotPlain: the claim must not be cut.
    """
    known: _Known | None = None
    for clause in _clauses(claim, parser):
        subject = clause.subject
        if known is None:
            if subject is None:
                raise _NotPlain
            yield _whole(clause)
            known = _Known(clause.place(subject), subject, (clause,))
        else:
            yield _part(clause, known, owners)
            known = known.after(clause)


def _part(clause: _Clause, known: _Known, owners: Mapping[int, Owner]) -> _Part:
    """Return the part of the claim that says what the clause says without those before it."""
    subject = clause.subject
    # Words that stand for something which only those before the clause name.
    owned = {
        token: owner.words
        for token in clause.words
        if (owner := owners.get(clause.offset + token.idx)) and owner.said_at < clause.start
    }
    pronoun = subject and next((t for t in (subject, subject.left_edge) if _is_pronoun(t)), None)
    words = [token for token in clause.words if token != pronoun]
    if any(token.tag_ == "PRP" or token.lower_ in _COMPARES for token in words):
        raise _NotPlain  # it may stand for anything
    if any(map(_compares, words)) and not any(token.lower_ == "than" for token in words):
        raise _NotPlain  # "more people" than what was named before
    unclear = [t for t in words if t.tag_ == "PRP$" and t not in owned]
    if any(not known.may_be(token) for token in unclear):
        raise _NotPlain
    places = ((clause.offset + token.idx, token) for token in words if token in owned)
    placed = (((start, start + len(token)), owned[token]) for start, token in places)
    whole = replace(_whole(clause), owned=tuple(placed))
    if (subject is None or pronoun is not None) and not known.is_one_thing:
        raise _NotPlain
    if subject is None:
        return replace(whole, before=(known.place, " "))
    if pronoun is None:
        if _is_the_thing_before(subject) or unclear:
            raise _NotPlain
        return whole
    if clause.offset + pronoun.idx != clause.start or not known.may_be(pronoun):
        raise _NotPlain
    owns = "'s" if pronoun.tag_ == "PRP$" else ""
    rest = clause.start + len(pronoun)
    return replace(whole, before=(known.place, owns), rest=rest)


def _whole(clause: _Clause) -> _Part:
    return _Part((), clause.start, clause.start, clause.end)


def _clauses(claim: Doc, parser: EnglishParser) -> Iterator[_Clause]:
    quoted = [found.span() for found in _QUOTED.finditer(claim.text)]
    sentences = list(_sentences(claim, quoted))
    for start, end in sentences:
        parsed = claim if len(sentences) == 1 else parser.parse(claim.text[start:end])
        yield from _of_sentence(parsed, start, quoted, parser)


def _of_sentence(
    sentence: Doc, offset: int, quoted: Sequence[Slice], parser: EnglishParser
) -> Iterator[_Clause]:
    """Yield the clauses of a sentence; where the parser joined the wrong words, each half is read
    on its own.
    """
    joint = _misread_joint(sentence)
    if joint is None or _inside(offset + joint.idx, quoted):
        yield from _halves(sentence, offset, quoted)
        return
    after = sentence[joint.i + 1].idx
    for start, half in (
        (0, sentence.text[: joint.idx].rstrip(" ,")),
        (after, sentence.text[after:]),
    ):
        yield from _of_sentence(parser.parse(half), offset + start, quoted, parser)


def _misread_joint(sentence: Doc) -> Token | None:
    """Return the "and" of "Everest is in Nepal and K2 is in Pakistan", read as "Nepal and K2".

    The verb after such a thing has no subject of its own.
    """
    if not _may_be_cut(sentence):
        return None
    root = _root(sentence)
    for verb in sentence[root.i + 1 :]:
        if not _is_finite(verb) or verb.dep_ not in _AFTER_A_MISREAD_THING or _subject(verb):
            continue
        before = sentence[verb.left_edge.i - 1]
        for thing in (before, *before.ancestors):
            joint = sentence[max(thing.left_edge.i - 1, 0)]
            joined = thing.dep_ == "conj" and joint.dep_ == "cc" and joint.lower_ in _JOINS
            # Not what somebody claims, or when something was: "It is a myth that bats are birds …".
            said = next((t for t in thing.ancestors if t.pos_ in VERBS), root) == root
            if joined and said and thing.pos_ in _NAMES_A_THING and thing.right_edge == before:
                return joint
    return None


def _sentences(claim: Doc, quoted: Sequence[Slice]) -> Iterator[Slice]:
    """Yield the offsets of what ends with the end of a sentence or a semicolon, outside quotes."""
    if not claim.has_annotation("SENT_START"):
        raise _NotPlain
    start = 0
    for token in claim:
        last = token.i + 1 == len(claim)
        ends = last or claim[token.i + 1].is_sent_start or token.text == ";"
        if ends and not (_inside(token.idx, quoted) and not last):
            end = token.idx + len(token)
            if not (last and start == 0) and claim.text[:end].endswith("?"):
                raise _NotPlain
            yield start, end
            start = end if last else claim[token.i + 1].idx


def _root(sentence: Doc) -> Token:
    """Return the main verb of a sentence.

    Raises:
        _NotPlain: it has none.
    """
    roots = [token for token in sentence if token.dep_ == "ROOT"]
    if len(roots) != 1 or not _is_finite(roots[0]):
        raise _NotPlain
    return roots[0]


def _may_be_cut(sentence: Doc) -> bool:
    """Return whether nothing holds for both halves, such as "in 1990" at its begin, or an "if"."""
    subject = _subject(_root(sentence))
    leading = subject is not None and subject.left_edge.i > 0
    return not leading and _BINDS.isdisjoint(token.lower_ for token in sentence)


def _halves(sentence: Doc, offset: int, quoted: Sequence[Slice]) -> Iterator[_Clause]:
    """Yield the clauses that "and" or "but" join; one if the sentence must not be cut."""
    first = _root(sentence)
    joined = sorted(verb for verb in first.conjuncts if _is_finite(verb))
    if not _may_be_cut(sentence):
        joined = []
    begins = [(first, 0, 0)]  # a verb, where the part before ends, and where its own begins
    for verb in joined:
        joint = verb.left_edge.i - 1
        joins = sentence[joint].lower_ in _JOINS and sentence[joint].dep_ == "cc"
        if joins and not _inside(offset + sentence[joint].idx, quoted):
            begins.append((verb, sentence[joint].idx, verb.left_edge.idx))
    ends = [end for _, end, _ in begins[1:]] + [len(sentence.text)]
    for (verb, _, start), end in zip(begins, ends, strict=True):
        said = sentence.text[:end].rstrip(" .!;,")
        yield _Clause(verb, offset + start, offset + len(said), offset)


def _subject(verb: Token) -> Token | None:
    subjects = (child for child in verb.children if child.dep_ in _SUBJECTS and child.i < verb.i)
    return next(subjects, None)


def _is_finite(verb: Token) -> bool:
    """Return whether the verb or its auxiliary is; "written and illustrated by" shares one."""
    if any(t.dep_ in {"aux", "auxpass"} and t.tag_ in FINITE for t in verb.children):
        return True
    return verb.tag_ in FINITE and not any(t.dep_ == "agent" for t in verb.children)


def _is_pronoun(token: Token) -> bool:
    return token.lower_ in _PRONOUNS or token.tag_ == "PRP$"


def _compares(token: Token) -> bool:
    """Return whether this is "more" or the like, not of "once more" or "no longer"."""
    of_time = token.i > 0 and token.nbor(-1).lower_ in {"once", "no", "any"}
    return token.tag_ in COMPARATIVES and not of_time


def _is_the_thing_before(subject: Token) -> bool:
    """Return whether this may be something that was named before ("the book", "this")."""
    words = list(subject.subtree)
    named = any(t.pos_ in {"PROPN", "NUM"} for t in words)
    return subject.tag_ == "DT" or (words[0].lower_ in {"the", "this", "these"} and not named)


def _inside(at: int, quoted: Sequence[Slice]) -> bool:
    return any(start < at < end - 1 for start, end in quoted)
