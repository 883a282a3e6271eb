"""The stage ``proof``: natural logic, part by part (AdMIRaL, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Token

from retrieval.models.prover import ProofReading
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.ending import says_more
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
from retrieval.text.context import evidence_set_text, evidence_text
from retrieval.text.english import FINITE, VERBS
from retrieval.text.word_forms import stems_in
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    OPERATORS,
    REFUTES,
    SUPPORTS,
    Evidence,
    EvidenceSpan,
    Label,
    Mutation,
    Offsets,
    Operator,
    Proof,
)

_NEXT: dict[Label, dict[Operator, Label]] = {
    SUPPORTS: {
        EQUIVALENCE: SUPPORTS,
        NEGATION: REFUTES,
        ALTERNATION: REFUTES,
        INDEPENDENCE: NOT_ENOUGH_INFO,
    },
    REFUTES: {
        EQUIVALENCE: REFUTES,
        NEGATION: SUPPORTS,
        # An alternative of an alternative of the claim may be anything.
        ALTERNATION: NOT_ENOUGH_INFO,
        INDEPENDENCE: NOT_ENOUGH_INFO,
    },
}


def label_of(operators: Iterable[Operator]) -> Label:
    """Return the label that a proof's operators lead to, from SUPPORTS and left to right.

    NOT ENOUGH INFO is never left again.
    """
    state: Label = SUPPORTS
    for operator in operators:
        if state == NOT_ENOUGH_INFO:
            break
        state = _NEXT[state][operator]
    return state


MOST = 12  # parts of a claim
_LONGEST_POSSESSIVE = 6  # words of a noun phrase that is not cut after its possessor
_LONGEST_REMARK = 3  # words in brackets that still belong to a name: "(1931 film)"

_QUOTED = re.compile(r"[\"“][^\"“”]+[\"”]|(?<!\w)[‘'][^‘’']{2,}[’'](?!\w)")  # noqa: RUF001
_BRACKETED = re.compile(r"\([^()]*\)")
_OPENING = {"”": "“", "’": "‘", ")": "(", "]": "[", '"': '"', "'": "'"}  # noqa: RUF001
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_MARKS = {*_OPENING, *_CLOSING, *",.;:!?…-–—", "--", "..."}  # noqa: RUF001
_HYPHENS = {"-", "–"}  # noqa: RUF001 - the dash of spans of time is meant
# Lower-case words inside names: some always, some unless the rules below exclude it.
_LINKS = {"of", "de", "la", "le", "du", "del", "der", "da", "di", "von", "van", "&", ":", "-"}
_LOOSE_LINKS = {"and", "in", "with", "on", "to", "at", "for", "from", "by", "a", "an", "the"}
_TIMES = {"DATE", "TIME"}
_PLACES = {"GPE", "LOC"}
_RELATIVE = {"WDT", "WP"}
_PREDICATES = {"acomp", "oprd", "attr"}
_BEFORE_ITS_HEAD = {"advmod", "quantmod", "npadvmod", "nummod", "neg", "preconj", "expl"}


def cut(doc: Doc) -> list[tuple[int, int]]:
    """Return consecutive (start, end) offsets that cover every word of the claim.

    At most 12 phrases: a noun phrase with all words before its noun, a verb with its auxiliaries
    and negation, a preposition with the phrase after it. A noun phrase is cut before a participle
    or a preposition; names, titles and quotations are never cut. Punctuation around a phrase is
    left out.
    """
    phrases = _Phrases(doc)
    groups: list[list[Token]] = []
    for token in doc:
        if token.is_space:
            continue
        if groups and phrases.join(groups[-1][-1], token):
            groups[-1].append(token)
        else:
            groups.append([token])
    trimmed = [kept for group in groups if (kept := _trimmed(group))]
    spans = [(group[0].idx, group[-1].idx + len(group[-1])) for group in _joined(trimmed)]
    while len(spans) > MOST:
        first = min(range(len(spans) - 1), key=lambda i: spans[i + 1][1] - spans[i][0])
        spans[first : first + 2] = [(spans[first][0], spans[first + 1][1])]
    return spans


class _Phrases:
    """Decides which neighbouring words of a claim belong to one phrase."""

    def __init__(self, doc: Doc) -> None:
        self._chunks = {token.i: chunk for chunk in doc.noun_chunks for token in chunk}
        self._within_names = set(_within_names(doc))
        self._overlooked = _overlooked_verb(doc)

    def join(self, left: Token, right: Token) -> bool:
        if left.i in self._within_names:
            return True
        if self._overlooked in {left.i, right.i} and left.whitespace_:
            return False
        chunk = self._chunks.get(left.i)
        if chunk is not None and chunk == self._chunks.get(right.i):
            # "the Norwegian dramatist Henrik Ibsen's" + "second published play"
            return left.tag_ != "POS" or len(chunk) <= _LONGEST_POSSESSIVE
        if left.text in _MARKS or right.text in _MARKS:
            return _hyphenated(left, right)
        if not left.whitespace_:
            return True
        verb = self._verb(right)
        if verb is not None and self._verb(left) == verb:
            return True
        return _leads_to(left, right, verb) or (
            right.dep_ in {"prt", "prep"} and right.right_edge == right and right.head == left
        )

    def _verb(self, token: Token) -> Token | None:
        """Return the main verb of the group that the word belongs to, if it is in one."""
        while token.i not in self._chunks and token.i - 1 not in self._within_names:
            head = token.head
            if token.pos_ in VERBS:
                if token.dep_ not in {"aux", "auxpass", "xcomp", *_PREDICATES} or head == token:
                    return token
            elif token.pos_ == "ADJ":
                if token.dep_ not in _PREDICATES:
                    return None
            elif token.dep_ not in {"neg", "prt", "aux", "advmod"} or head == token:
                return None
            token = head
        return None


def _overlooked_verb(doc: Doc) -> int | None:
    """Return the index of a verb that was parsed as a plural noun: "Nordlys stars Liv Holm"."""
    if any(token.tag_ in FINITE for token in doc):
        return None
    plural = (t.i for t in doc[1:] if t.tag_ == "NNS" and t.is_lower and doc[t.i - 1].tag_ == "NNP")
    return next(plural, None)


def _leads_to(left: Token, right: Token, verb: Token | None) -> bool:
    """Return whether the left word begins the phrase of the right one."""
    if left.dep_ == "cc" or left.pos_ == "CCONJ" or left.dep_ == "mark":
        return True
    if left.head == right and left.dep_ in _BEFORE_ITS_HEAD:
        return True
    if left.pos_ in {"ADP", "SCONJ", "DET"} and left.dep_ != "prt":
        return left.right_edge != left or left.dep_ not in {"prep", "agent"}
    if verb is not None and left.tag_ in _RELATIVE:  # "who" + "wrote"
        return True
    if left.dep_ == "acl" and left.tag_ in {"VBN", "VBG"}:  # "born" + "in 1973"
        finite = any(child.dep_ in {"aux", "auxpass"} for child in left.children)
        return not finite and left.is_ancestor(right) and right.dep_ not in {"cc", "mark", "advcl"}
    return left.pos_ == right.pos_ == "PROPN" and "compound" in {left.dep_, right.dep_}


def _hyphenated(left: Token, right: Token) -> bool:
    """Return whether a hyphen next to one of the words belongs to it."""
    return not left.whitespace_ and (
        (left.text in _HYPHENS and right.text not in _MARKS)
        or (right.text in _HYPHENS and not right.whitespace_ and left.text not in _MARKS)
    )


def _within_names(doc: Doc) -> Iterator[int]:
    """Yield the indices of words after which a name, title or quotation continues."""
    for quotation in _QUOTED.finditer(doc.text):
        yield from _covered(doc, quotation)[:-1]
    for remark in _BRACKETED.finditer(doc.text):
        inside = _covered(doc, remark)
        yield from inside[:-1]
        before = inside[0] - 1 if inside else -1  # none of it begins a word: "U(1)"
        short = len(inside) <= _LONGEST_REMARK + 2  # the brackets are words, too
        if short and before >= 0 and doc[before].text[0].isupper():
            yield before
    for entity in doc.ents:
        if not any(token.pos_ == "AUX" and token.is_lower for token in entity):
            yield from range(entity.start, entity.end - 1)
    if any(t.text[0].islower() and t.text not in _LINKS | _LOOSE_LINKS for t in doc):
        yield from _within_capitals(doc)


def _covered(doc: Doc, match: re.Match[str]) -> list[int]:
    return [token.i for token in doc if match.start() <= token.idx < match.end()]


def _within_capitals(doc: Doc) -> Iterator[int]:
    """Yield the same for runs of capitalised words, if capitals mark names in the claim."""
    verb = next((t for t in doc if t.tag_ in FINITE and t.is_lower), None)
    for first in doc:
        if not first.text[0].isupper() or first.pos_ == "PRON":
            continue
        if first.i == 0 and first.pos_ in {"ADP", "SCONJ", "ADV", "CCONJ"}:
            continue
        between: list[Token] = []
        for token in doc[first.i + 1 : first.i + 5]:
            if token.text[0].isupper() or (not between and token.text.isdigit()):
                if _one_name(first, between, token, verb):
                    yield from range(first.i, token.i)
                break
            if token.text not in _LINKS | _LOOSE_LINKS | {","}:
                break
            between.append(token)


def _one_name(first: Token, between: Sequence[Token], last: Token, verb: Token | None) -> bool:
    """Return whether capitalised words with these words between them are one name.

    ``verb``: the first finite verb of the claim. Before it, a preposition is usually part of a
    title. A singular verb shows that "Sense and Sensibility" is one name and not two.
    """
    texts = [token.text for token in between]
    if not texts:
        return (first.ent_type_ in _TIMES) == (last.ent_type_ in _TIMES)
    if not _LINKS.isdisjoint(texts):
        return not (first.text.isupper() and first.pos_ == "NOUN")  # "the CEO" + "of Nordlys"
    if texts == [","]:
        return {first.ent_type_, last.ent_type_} <= _PLACES and last.dep_ != "conj"
    if "," in texts or (first.ent_type_ and last.ent_type_):
        return False
    if verb is None or last.i > verb.i:
        return between[0].dep_ == "prep" and between[0].head == first
    return texts != ["and"] or verb.tag_ == "VBZ" or verb.text == "was"


def _trimmed(group: list[Token]) -> list[Token]:
    """Drop the punctuation around a phrase; brackets and quotes stay if both are in it."""
    kept = list(group)
    while kept and kept[-1].text in _MARKS and not _has(kept[:-1], _OPENING.get(kept[-1].text)):
        kept.pop()
    while kept and kept[0].text in _MARKS and not _has(kept[1:], _CLOSING.get(kept[0].text)):
        kept.pop(0)
    return kept if any(letter.isalnum() for token in kept for letter in token.text) else []


def _has(tokens: Sequence[Token], partner: str | None) -> bool:
    return partner is not None and any(partner in token.text for token in tokens)


def _joined(groups: list[list[Token]]) -> list[list[Token]]:
    """Join words without a meaning of their own to the next phrase, or to the last one."""
    joined_groups: list[list[Token]] = []
    waiting: list[Token] = []
    for group in groups:
        joined = waiting + group
        waiting = joined if _is_light(joined) else []
        if not waiting:
            joined_groups.append(joined)
    if waiting and joined_groups:
        joined_groups[-1] = joined_groups[-1] + waiting
    elif waiting:
        joined_groups.append(waiting)
    return joined_groups


def _is_light(group: Sequence[Token]) -> bool:
    light = {"ADV", "CCONJ", "SCONJ", "PART", "ADP", "DET", "INTJ"}
    return all(
        token.is_stop and (token.pos_ in light or token.tag_ in _RELATIVE) for token in group
    )


LONGEST = 12  # tokens of an evidence span


class NaturalLogicProver(Stage):
    """Rewrites each span of the claim into one of the evidence, or leaves it open.

    The operator of a span is the most probable one. But a span is open as soon as the probability
    of "independent" reaches a fitted cutoff, and instead of being equivalent if it has a noun,
    number, name or adjective that is not in the words it is rewritten into, nor in their title:
    "the Nobel Prize in Chemistry" is not equivalent to "Nobel Prize". No other rule changes the
    model's output, so the decision follows from the proof that is shown.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._model = resources.models.prover
        self._cutoff = settings.independence_cutoff

    def run(self, state: ClaimState) -> Step:
        """Make the ``proof`` from the selected evidence.

        Sentences that do not fit the model's window are left out, the last ones first.
        """
        steps = tuple(self._steps(state, cut(state.parsed)))
        proof = Proof(steps, label_of(step.operator for step in steps))
        still_open = ", ".join(f"“{state.claim[start:end]}”" for start, end in proof.open)
        message = "Every part of the claim is covered"
        if still_open:
            message = f"Nothing found yet about {still_open}"
        return Step(replace(state, proof=proof), message)

    def _steps(self, state: ClaimState, spans: Sequence[Offsets]) -> Iterator[Mutation]:
        """Yield what each span of the claim is rewritten into."""
        if not state.selected:
            yield from (Mutation(span, INDEPENDENCE, None) for span in spans)
            return
        text = evidence_set_text([(item.heading, item.sentence.text) for item in state.selected])
        reading = self._model.read(state.parsed.text, spans, text)
        aligned = aligned_spans(reading, text, state.selected)
        for span, probabilities, where in zip(spans, reading.operators, aligned, strict=True):
            operator = operator_of(probabilities.tolist(), self._cutoff)
            unmatched = (
                where is not None
                and operator == EQUIVALENCE
                and says_more(state.parsed, span, _said(where, state.selected))
            )
            if where is None or operator == INDEPENDENCE or unmatched:
                yield Mutation(span, INDEPENDENCE, None)
            else:
                yield Mutation(span, operator, where)


def _said(where: EvidenceSpan, evidence: Sequence[Evidence]) -> set[str]:
    """Return the stems of these words of the evidence, and of their document's title."""
    item = next(item for item in evidence if item.key == where.key)
    start, end = where.start - item.sentence.start, where.end - item.sentence.start
    return stems_in(item.heading) | stems_in(item.sentence.text[start:end])


def operator_of(probabilities: Sequence[float], independence_cutoff: float | None) -> Operator:
    """Return a span's operator, given the probabilities of ``OPERATORS`` in their order."""
    of = dict(zip(OPERATORS, probabilities, strict=True))
    if independence_cutoff is not None and of.pop(INDEPENDENCE) >= independence_cutoff:
        return INDEPENDENCE
    return max(of, key=lambda operator: of[operator])


def aligned_spans(
    reading: ProofReading, text: str, evidence: Sequence[Evidence]
) -> list[EvidenceSpan | None]:
    """Return the words of the evidence that each span of the claim is rewritten into.

    ``text`` is the evidence as the model read it. A span has at most 12 tokens of one sentence,
    widened to whole words. If the words are of the title before a sentence, it is the whole
    sentence. None if the model saw no token of the span or of the evidence.
    """
    passages = list(_passages(evidence))
    at = np.full(len(reading.evidence), -1)
    for number, passage in enumerate(passages):
        begins = reading.offsets[:, 0]
        at[reading.evidence & (begins >= passage.start) & (begins < passage.end)] = number
    found: list[EvidenceSpan | None] = []
    allowed = _allowed(at)
    for starts, ends, seen in zip(reading.starts, reading.ends, reading.seen, strict=True):
        if not seen or not allowed.any():
            found.append(None)
            continue
        scores = np.where(allowed, starts[:, None] + ends[None, :], -np.inf)
        first, last = divmod(int(scores.argmax()), len(at))
        begin, end = int(reading.offsets[first, 0]), int(reading.offsets[last, 1])
        found.append(passages[at[first]].span(text, begin, end))
    return found


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence in the evidence text, or the title before it; offsets into that text."""

    start: int
    end: int
    item: Evidence
    is_title: bool

    def span(self, text: str, start: int, end: int) -> EvidenceSpan:
        sentence = self.item.sentence
        if self.is_title:
            return EvidenceSpan(*self.item.key, sentence.start, sentence.end)
        while start > self.start and text[start - 1].isalnum() and text[start].isalnum():
            start -= 1
        while end < self.end and text[end - 1].isalnum() and text[end].isalnum():
            end += 1
        moved = sentence.start - self.start
        return EvidenceSpan(*self.item.key, start + moved, end + moved)


def _passages(evidence: Sequence[Evidence]) -> Iterator[_Passage]:
    """Yield the positions of titles and sentences in the ``evidence_set_text`` of the evidence."""
    pairs = [(item.heading, item.sentence.text) for item in evidence]
    for number, item in enumerate(evidence):
        end = len(evidence_set_text(pairs[: number + 1]))
        sentence = end - len(item.sentence.text)
        yield _Passage(end - len(evidence_text(*pairs[number])), sentence, item, is_title=True)
        yield _Passage(sentence, end, item, is_title=False)


def _allowed(at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which (start, end) of tokens are valid: in one passage, in order, not too long."""
    places = np.arange(len(at))
    length = places[None, :] - places[:, None] + 1
    together: NDArray[np.bool_] = (at[:, None] == at[None, :]) & (at[:, None] >= 0)
    return together & (length >= 1) & (length <= LONGEST)


MAKERS: Makers = {"proof": NaturalLogicProver}
