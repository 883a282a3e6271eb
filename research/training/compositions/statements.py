"""Short statements about a page that name another page, cut from one of its sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.training.compositions.definitions import DefinitionReader, called
from research.training.compositions.phrases import (
    CHILDREN,
    DOER,
    DOERS,
    DONE_BY_ONE,
    HEARSAY,
    MAKER,
    OF_ONE,
    PARENT,
    PLACED,
    PLACES,
    SPOUSES,
    STATES,
    UNSURE,
    BridgeFinder,
    Mention,
    PageWords,
    noun_phrase,
    prepositional_phrase,
    tidied,
    with_pronoun,
    words,
    written,
)
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.index.formats.titles import split_disambiguation
from retrieval.text.english import EnglishParser
from retrieval.types import SUPPORTS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_LEADING_ON = words("attr dobj prep pobj agent acl xcomp oprd advcl pcomp")
_ELLIPTIC = ("conj", "appos")  # words that replace the word above them
_PRONOUNS = words("he she it")
_SHORTENED = 0.6  # share of "is a film directed by" that becomes "was directed by"
_LONGEST = 20  # words


@dataclass(frozen=True, slots=True)
class OpenStatement:
    """``before`` + a name + ``after``, from one sentence of the page ``about``.

    ``single``: the name is the only one of its kind, as a director or a place of birth. ``role``:
    the role of the named one for the page, such as "director"; ``done``: what it did, such as
    "directed". ``inside``: it is a place that something is in.
    """

    key: SentenceKey
    about: str
    bridge: str
    name: str
    before: str
    after: str
    single: bool
    role: str | None
    inside: bool
    done: str | None = None

    @property
    def relation(self) -> str:
        """The last two words before the name, such as "directed by"."""
        return " ".join(self.before.split()[-2:])


def statements(
    doc: Doc,
    key: SentenceKey,
    about: str,
    mentions: Sequence[Mention],
    nouns: frozenset[str],
    chance: random.Random,
) -> Iterator[OpenStatement]:
    """Yield a statement for each mention with a simple relation to the page.

    ``nouns``: words for the page's subject, such as "film", and its pronouns.
    """
    if not _speaks_of(doc, about, nouns):
        return
    for mention in mentions:
        span = doc.char_span(mention.start, mention.end)
        if span is None or not _is_name(span.root, span.start, span.end):
            continue
        way = _climbed(span.root, chance.random() < _SHORTENED)
        if way is None:
            continue
        way.kept -= {token.i for token in span} - {span.root.i}
        said = written(doc, way.kept, {**way.instead, span.root.i: "\0"})
        before, _, after = f"{about} {said}".partition("\0")
        if not before.split()[-1][0].islower():
            continue  # the rest of another name
        role = _role(span.root, way)
        yield OpenStatement(
            key=key,
            about=about,
            bridge=mention.page,
            name=_with_its_article(span),
            before=before,
            after=after,
            single=_is_single(span.root, way),
            role=role,
            inside=_is_inside(span.root),
            done=_done(way) if role in DOERS and not after else None,
        )


def claim_statement(
    doc: Doc, key: SentenceKey, about: str, mention: Mention
) -> OpenStatement | None:
    """Return a claim as a statement about one of the two pages that it names."""
    span = doc.char_span(mention.start, mention.end)
    if span is None or not _is_name(span.root, span.start, span.end):
        return None
    head, above = span.root, span.root.head
    before_it = [child for child in head.children if child.i < span.start]
    if head.dep_ not in ("pobj", "dobj") or any(
        child.dep_ in _ELLIPTIC or child.dep_ == "relcl" for child in head.children
    ):
        return None
    start = min([span.start, *(child.left_edge.i for child in before_it)])
    text = doc.text.rstrip(" .")
    governor = above if head.dep_ == "dobj" else above.head
    way = _Way(governor=governor)
    return OpenStatement(
        key=key,
        about=about,
        bridge=mention.page,
        name=_with_its_article(span),
        before=text[: doc[start].idx],
        after=text[span.end_char :],
        single=_is_single(head, way) and not doc[span.end - 1 :].text.count(" and "),
        role=None,
        inside=_is_inside(head),
    )


@dataclass(slots=True)
class _Way:
    """The words of a sentence that are kept on the way from a name up to its root."""

    governor: Token | None = None  # the word that the name depends on: "directed" in "directed by"
    several: bool = False
    kept: set[int] = field(default_factory=set)
    instead: dict[int, str] = field(default_factory=dict)


def _climbed(head: Token, shorten: bool) -> _Way | None:
    """Go up from a name and keep the words that each word needs; None if it is not simple."""
    way, node = _Way(kept={head.i}), head
    while True:
        first = node
        while first.dep_ in _ELLIPTIC:
            way.several = way.several or first.dep_ == "conj"
            first = first.head
        if first is not node and not _may_stand_for(node, first, node is head):
            return None
        if first.dep_ == "ROOT":
            _keep_auxiliaries(way, node, first)
            break
        above = first.head
        if first.dep_ not in _LEADING_ON:
            return None
        if first.dep_ == "advcl" and not (node.tag_ == "VBN" and above.dep_ == "ROOT"):
            return None
        if way.governor is None and above.pos_ not in ("ADP", "SCONJ"):
            way.governor = above
        if first.dep_ == "advcl" or (shorten and _is_of_definition(first)):
            if not _shortened(way, node):
                return None
            break
        _keep(way, above, first)
        node = above
    kept = {head.doc[i].lower_ for i in way.kept}
    lemmas = {head.doc[i].lemma_ for i in way.kept if head.doc[i].pos_ == "VERB"}
    numbers = [i for i in way.kept if head.doc[i].dep_ == "dobj" and head.doc[i].pos_ == "NUM"]
    plain = not numbers and not kept & UNSURE and not lemmas & HEARSAY and len(way.kept) <= _LONGEST
    return way if way.governor is not None and plain else None


def _may_stand_for(node: Token, first: Token, is_name: bool) -> bool:
    """Return whether a word can replace the one that it is joined to."""
    if node.pos_ in ("VERB", "AUX"):
        if any(child.dep_ in ("nsubj", "nsubjpass", "csubj") for child in node.children):
            return False
        own = any(child.dep_ in ("aux", "auxpass") for child in node.children)
        finite = first.dep_ == "ROOT" and (own or node.tag_ == "VBD")
        return finite or node.tag_ == first.tag_ == "VBN"
    joined = first.pos_ == "NOUN" if node.dep_ == "appos" else first.pos_ in ("NOUN", "PROPN")
    return is_name and joined


def _keep_auxiliaries(way: _Way, verb: Token, first: Token) -> None:
    """Give the verb the auxiliaries of the first verb that it is joined to."""
    if not any(child.dep_ in ("aux", "auxpass") for child in verb.children):
        way.kept |= {child.i for child in first.children if child.dep_ in ("aux", "auxpass")}
    way.kept.add(verb.i)


def _keep(way: _Way, above: Token, below: Token) -> None:
    """Keep a word with the words that it requires."""
    if above.pos_ in ("NOUN", "PROPN", "PRON"):
        way.kept |= noun_phrase(above, 0)
        return
    way.kept.add(above.i)
    for child in above.children:
        if child is below or child.dep_ == below.dep_ == "dobj":
            continue
        if child.dep_ in ("aux", "auxpass", "neg", "prt"):
            way.kept.add(child.i)
        elif child.dep_ in ("dobj", "attr", "oprd") and child.i > above.i:
            way.kept |= noun_phrase(child)
        elif child.dep_ == "dative":
            way.kept |= prepositional_phrase(child) or {child.i}


def _is_of_definition(token: Token) -> bool:
    """Return whether this is "directed" or "starring" in "P is a film directed by Q"."""
    return (
        token.dep_ == "acl"
        and (token.tag_ == "VBN" or token.lower_ in ("starring", "featuring"))
        and token.head.dep_ == "attr"
        and token.head.head.dep_ == "ROOT"
    )


def _shortened(way: _Way, verb: Token) -> bool:
    """Make the participle the statement's verb; return False if it is no such participle."""
    be = "is" if verb.lemma_ in STATES and _is_of_definition(verb) else "was"
    finite = {"VBN": f"{be} {verb.text.lower()}", "VBG": f"{verb.lemma_}s"}
    if verb.tag_ not in finite:
        return False
    way.kept = {i for i in way.kept if i >= verb.i}
    way.instead[verb.i] = finite[verb.tag_]
    return True


def _speaks_of(doc: Doc, about: str, nouns: frozenset[str]) -> bool:
    """Return whether the text is one sentence whose subject is the page."""
    sentences = list(doc.sents)
    root = sentences[0].root
    subjects = [child for child in root.children if child.dep_ in ("nsubj", "nsubjpass")]
    if len(sentences) != 1 or len(subjects) != 1 or root.pos_ not in ("VERB", "AUX"):
        return False
    subject, own = subjects[0], set(about.split())
    called = subject.lower_ in nouns and any(c.lower_ == "the" for c in subject.children)
    pronoun = subject.lower_ in nouns & _PRONOUNS
    named = subject.pos_ == "PROPN" and subject.text in own
    if called and not all(child.dep_ == "det" for child in subject.children):
        return False
    strange = [t for t in subject.children if t.dep_ in ("conj", "poss", "prep", "relcl")]
    return pronoun or called or (named and all(t.text in own for t in strange))


def _is_name(head: Token, start: int, end: int) -> bool:
    """Return whether the tokens are a whole name and not a part of a longer one."""
    if head.dep_ not in ("pobj", "dobj", "conj", "appos", "attr"):
        return False
    inside = range(start, end)
    entity = next((e for e in head.doc.ents if e.start <= head.i < e.end), None)
    if entity is None:
        return end - start > 1
    beyond = {token.lower_ for token in entity if token.i not in inside}
    return beyond <= {"the", "'s"} and all(
        child.i in inside or child.dep_ != "compound" or child.tag_ == "NN"
        for child in head.children
    )


def _with_its_article(span: Span) -> str:
    doc, start = span.doc, span.start
    return f"the {span.text}" if start and doc[start - 1].lower_ == "the" else span.text


def _is_inside(head: Token) -> bool:
    return head.dep_ == "pobj" and head.head.lower_ in ("in", "at") and head.ent_type_ == "GPE"


def _is_single(head: Token, way: _Way) -> bool:
    """Return whether there is only one such relation for a subject."""
    above = way.governor
    if above is None or way.several or any(child.dep_ == "conj" for child in head.children):
        return False
    if above.i and above.nbor(-1).text == "-":  # co-written
        return False
    if head.dep_ == "dobj":
        return above.lemma_ == "marry"
    if head.dep_ != "pobj":
        return False
    if head.head.lower_ == "by":
        return above.lemma_ in DOER or above.lower_ in MAKER or above.lemma_ in DONE_BY_ONE
    if _is_inside(head):
        return above.lemma_ in PLACED or (above.dep_ == "attr" and above.lower_ in PLACES)
    return (above.lower_, head.head.lower_) in OF_ONE


def _role(head: Token, way: _Way) -> str | None:
    """Return the role of the named one for the page, if only one can have it."""
    above = way.governor
    if above is None or head.dep_ != "pobj":
        return None
    if head.head.lower_ == "by" and _is_single(head, way) and _is_of_page(above):
        return DOER.get(above.lemma_) or MAKER.get(above.lower_)
    if head.head.lower_ == "of" and not way.several and above.dep_ == "attr":
        return PARENT if above.lower_ in CHILDREN else SPOUSES.get(above.lower_)
    return None


def _is_of_page(governor: Token) -> bool:
    """Return whether an action was done to the page's subject, not to something in it."""
    first = governor
    while first.dep_ == "conj":
        first = first.head
    if first.dep_ == "acl":
        return first.head.dep_ == "attr"
    return first.dep_ in ("ROOT", "advcl", "attr")


def _done(way: _Way) -> str | None:
    """Return the participle of the named one's action."""
    above = way.governor
    return above.text.lower() if above is not None and above.tag_ == "VBN" else None


_LENGTHS = range(4, 46)  # words; longer sentences are parsed badly
_BEGINNING = re.compile(r"(?:It|He|She|The \w+|[A-Z]\w+ed by .*, (?:it|the \w+)|In .{4,20}, \w+) ")
_SUBJECT_PRONOUNS = {True: frozenset({"he", "she"}), False: frozenset({"it"})}


class StatementFinder:
    """Finds statements that name a page with a definition.

    That page must not name the page that the statement is about, or it would contain the statement
    itself.
    """

    def __init__(
        self,
        pool: SentencePool,
        said: PageWords,
        definitions: DefinitionReader,
        parser: EnglishParser,
    ) -> None:
        """Make a table of the pool's names."""
        self._pool = pool
        self._said = said
        self._definitions = definitions
        self._parser = parser
        self._bridges = BridgeFinder(pool)

    def of_pages(self, chance: random.Random) -> Iterator[OpenStatement]:
        """Yield statements from sentences about their own pages."""
        for sentence in self._pool.sentences:
            about = split_disambiguation(sentence.title)[0]
            is_person = self._definitions.is_person(sentence.page)
            text = with_pronoun(tidied(sentence.text), about, "He" if is_person else "It")
            if len(text.split()) not in _LENGTHS or not _may_speak_of(about, text):
                continue
            mentions = self._telling(text, sentence, about)
            if mentions:
                yield from statements(
                    self._parser.parse(text),
                    sentence.key,
                    about,
                    mentions,
                    self._called(sentence.page),
                    chance,
                )

    def of_claims(self, claims: Sequence[AnnotatedClaim]) -> Iterator[OpenStatement]:
        """Yield supported claims that one sentence decides and that name its page."""
        for claim in claims:
            alone = [group[0] for group in claim.evidence if len(group) == 1]
            if claim.label != SUPPORTS or not alone or alone[0] not in self._pool.position:
                continue
            sentence = self._pool.sentences[self._pool.position[alone[0]]]
            about = split_disambiguation(sentence.title)[0]
            mentions = self._telling(claim.text, sentence, about)
            if not mentions or about not in claim.text:
                continue
            doc = self._parser.parse(claim.text)
            for mention in mentions:
                statement = claim_statement(doc, alone[0], about, mention)
                if statement is not None and statement.name in tidied(sentence.text):
                    yield statement

    def _telling(self, text: str, sentence: PoolSentence, about: str) -> list[Mention]:
        is_person = self._definitions.is_person(sentence.page)
        return [
            mention
            for mention in self._bridges.named(text, sentence.page, about)
            if not self._said.names(mention.page, sentence.page, is_person)
            and self._definitions.definition(mention.page) is not None
        ]

    def _called(self, page: str) -> frozenset[str]:
        """Return the words that a sentence may use for the subject of its page."""
        if self._definitions.is_person(page):
            return _SUBJECT_PRONOUNS[True]
        return (
            called(self._pool.sentences[self._pool.by_page[page][0]].text)
            | _SUBJECT_PRONOUNS[False]
        )


def _may_speak_of(name: str, text: str) -> bool:
    """Return whether a sentence begins as if it were about its page; the parser decides later."""
    return bool(_BEGINNING.match(text)) or text.partition(" ")[0] in name.split()
