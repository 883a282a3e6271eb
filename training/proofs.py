"""Proofs to learn from, made from claims whose evidence is known to suffice or not to.

Nobody wrote proofs for such claims. AdMIRaL (section 3.2) has ProoFVer write them,
mends them with lexicons and changes the fewest operators that make a proof
agree with what is known of its evidence. ProoFVer is a model of its own; here the
proof to begin with is what lexicon and contextual vectors find (``alignment``),
and the changes are the paper's but for these:

- A refuted claim gets one negation or alternation, where the evidence contradicts
  it, and equivalence elsewhere. The paper turns all that is open into negations;
  two of them refute nothing (``sufficiency.automaton``).
- What the evidence has another of the same kind of, such as another year, is
  alternated, not negated; so is a thing for which the evidence has another.
- Where evidence does not suffice, nothing is negated or alternated but what is
  known to be exchanged: another year contradicts nothing if it is of something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from retrieval.cross_encoders.inputs import evidence_set_text, evidence_text
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.sufficiency.automaton import label_of
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    OPERATORS,
    REFUTES,
    Operator,
)
from training.alignment import (
    Alignment,
    Offsets,
    Reader,
    ReadSentence,
    ReadSpan,
    TokenEncoder,
    align,
)
from training.compositions import Composition
from training.data import TrainingData
from training.evidence_sets import (
    EvidenceSet,
    Pair,
    claim_sets,
    composition_sets,
    contrast_sets,
    page_sets,
)
from training.lexicon import Lexicon, number_of

ALIKE = 0.7  # similarity from which a span is found though not all of its words are
NEAR = 0.55  # similarity from which a place with none of a span's words is pointed to
AGAINST = 0.3  # and from which one that must contradict it is
NAMED = 0.15  # by how much less alike a name or number that is not found counts
UNTOLD = 2  # spans of a refuted claim, beside the contradicted one, that need not be found
LESS = 0.1  # by how much less alike than the gold sentence what tells too little must be


@dataclass(frozen=True, slots=True)
class ProofExample:
    """A claim beside evidence, as ``evidence_set_text`` writes it, with its proof.

    ``operators`` are indices into ``OPERATORS``, one of each span. ``aligned``:
    offsets into the evidence, where they are known.
    """

    claim: str
    spans: tuple[Offsets, ...]
    evidence: str
    operators: tuple[int, ...]
    aligned: tuple[Offsets | None, ...]

    @property
    def length(self) -> int:
        """Its characters."""
        return len(self.claim) + len(self.evidence)


def proof_examples(
    data: TrainingData,
    compositions: Sequence[Composition],
    lexicon: Lexicon,
    encoder: TokenEncoder,
    seed: int,
    limit: int,
) -> list[ProofExample]:
    """Return proofs, ``limit`` at most, drawn from those of all training claims.

    Which they are and their order depend on the seed alone.
    """
    sets = [
        *claim_sets(data.train, data.pool, seed),
        *contrast_sets(data.contrasts, data.pool, seed),
        *page_sets(data.page_claims, seed),
        *composition_sets(compositions, data.pool, seed),
    ]
    drawn = sorted(Random(seed).sample(range(len(sets)), min(limit, len(sets))))
    return proofs([sets[i] for i in drawn], lexicon, encoder)


def proofs(
    sets: Sequence[EvidenceSet], lexicon: Lexicon, encoder: TokenEncoder
) -> list[ProofExample]:
    """Return a proof of each set of which enough is known to prove it.

    Left out are refuted claims of which the evidence seems to tell little, and sets
    that may suffice although nobody said so.
    """
    reader = Reader(encoder)
    claims = list(dict.fromkeys(one.claim for one in sets))
    pairs = list(dict.fromkeys(pair for one in sets for pair in (*one.sentences, *one.missing)))
    spans = dict(zip(claims, reader.claims(claims), strict=True))
    read = dict(zip(pairs, reader.sentences(pairs), strict=True))
    proved = [_Prover(one, spans[one.claim], read, lexicon).proof() for one in sets]
    return [example for example in proved if example is not None]


@dataclass(frozen=True, slots=True)
class _Step:
    """An operator, and where the evidence has what the span is rewritten into."""

    operator: Operator
    sentence: int = 0
    place: Offsets | None = None


@dataclass(frozen=True, slots=True)
class _Aligned:
    """A span beside the sentence of the set that is closest to it."""

    span: ReadSpan
    sentence: int
    alignment: Alignment

    @property
    def found(self) -> bool:
        """Whether the sentence tells the span, as far as words and vectors show."""
        found = self.alignment
        if found.covered == 1:
            return True
        telling = any(w.kind or number_of(w.text) is not None for w in found.uncovered)
        return found.covered > 0 and found.similarity >= ALIKE and not telling

    @property
    def likeness(self) -> float:
        """How alike the two are; a name or number that is not found weighs heavier."""
        named = any(w.kind or number_of(w.text) is not None for w in self.alignment.uncovered)
        return self.alignment.covered + self.alignment.similarity - NAMED * named

    def step(self, operator: Operator) -> _Step:
        """Return the step, which points somewhere only where that is likely to be right."""
        similar = self.alignment.similarity
        least = NEAR if operator == EQUIVALENCE else AGAINST
        known = similar >= least or (similar > 0 and self.alignment.covered > 0)
        place = self.alignment.place if known and operator != INDEPENDENCE else None
        return _Step(operator, self.sentence, place)


class _Prover:
    """Proves one set."""

    def __init__(
        self,
        known: EvidenceSet,
        spans: Sequence[ReadSpan],
        read: dict[Pair, ReadSentence],
        lexicon: Lexicon,
    ) -> None:
        self._known, self._spans, self._lexicon = known, spans, lexicon
        self._read = [read[pair] for pair in (*known.sentences, *known.missing)]
        self._present = range(len(known.sentences))
        self._missing = range(len(known.sentences), len(self._read))
        titles = [split_disambiguation(title)[0] for title, _ in known.sentences]
        self._titles = frozenset(map(title_key, (*titles, *(t for t, _ in known.sentences))))
        self._named = [
            match.span()
            for title in titles
            for match in re.finditer(rf"(?i)\b{re.escape(title)}(?!\w)", known.claim)
        ]
        self._closest = cache(self._find)

    def proof(self) -> ProofExample | None:
        """Return the proof, or none where too little is known for one."""
        if not self._spans:
            return None
        steps = self._insufficient() if self._known.label == NOT_ENOUGH_INFO else self._sufficient()
        if steps is None:
            return None
        operators = [step.operator for step in steps]
        if label_of(operators) != self._known.label:
            raise RuntimeError(f"A proof of {self._known.label} comes to {label_of(operators)}.")
        starts = [0]
        for title, sentence in self._known.sentences:
            starts.append(starts[-1] + len(evidence_text(title, sentence)) + len(" [SEP] "))
        return ProofExample(
            claim=self._known.claim,
            spans=tuple((span.start, span.end) for span in self._spans),
            evidence=evidence_set_text(self._known.sentences),
            operators=tuple(map(OPERATORS.index, operators)),
            aligned=tuple(
                (step.place[0] + starts[step.sentence], step.place[1] + starts[step.sentence])
                if step.place
                else None
                for step in steps
            ),
        )

    def _sufficient(self) -> list[_Step] | None:
        """Nothing is open; one span of a refuted claim is contradicted.

        No proof says that the evidence tells much that it does not seem to: what
        refutes one part of a claim may be silent on the others.
        """
        aligned = self._aligned(self._known.telling)
        steps = [one.step(EQUIVALENCE) for one in aligned]
        if self._known.label == REFUTES:
            number, step = self._exchanged() or self._contradicted(aligned)
            steps[number] = step
            untold = [n for n, one in enumerate(aligned) if n != number and not one.found]
            if len(untold) > UNTOLD:
                return None
        return steps

    def _insufficient(self) -> list[_Step] | None:
        """Something is open: what only missing sentences tell, or else what is least alike."""
        if self._known.telling:
            steps = self._left(self._aligned(self._known.telling))
        else:
            steps = self._unrelated()
        aligned = self._aligned(self._known.telling or self._present)
        is_open = [number for number, step in enumerate(steps) if step.operator == INDEPENDENCE]
        if self._known.surely_open:
            if not is_open:
                steps[self._least_alike(aligned)] = _Step(INDEPENDENCE)
            return steps
        gold = self._aligned(self._missing)
        less = any(aligned[n].likeness + LESS < gold[n].likeness for n in is_open)
        return steps if less else None

    def _left(self, aligned: Sequence[_Aligned]) -> list[_Step]:
        """Prove from what is left of a gold set: what the missing sentence alone tells is open."""
        missing = self._aligned(self._missing)
        exchange = self._exchanged()
        steps = []
        for number, (here, there) in enumerate(zip(aligned, missing, strict=True)):
            if self._known.open:
                span = here.span
                is_open = any(
                    start < span.end and span.start < end for start, end in self._known.open
                )
            else:
                is_open = not here.found and here.likeness < there.likeness
            step = here.step(INDEPENDENCE if is_open else EQUIVALENCE)
            if exchange and exchange[0] == number and not is_open:
                step = exchange[1]
            steps.append(step)
        return steps

    def _unrelated(self) -> list[_Step]:
        """Prove from sentences that may be of something else.

        Where some are about what the claim names, what others have in common with
        it is chance.
        """
        about = [place for place in self._present if self._is_about(place)]
        aligned = self._aligned(about or self._present)
        return [one.step(EQUIVALENCE if one.found else INDEPENDENCE) for one in aligned]

    def _is_about(self, place: int) -> bool:
        return any(
            any(word.word.text[:1].isupper() for word in span.words)
            and self._closest(number, place).alignment.covered == 1
            for number, span in enumerate(self._spans)
        )

    def _contradicted(self, aligned: Sequence[_Aligned]) -> tuple[int, _Step]:
        """Return the span that the evidence contradicts, and how.

        A negation that the evidence does not have; an antonym; another one of the
        same kind, such as another year; else the least similar span: a thing is
        something else then, an action did not take place.
        """
        apart = {
            n for n, one in enumerate(aligned) if self._is_title(one.span) and len(aligned) > 1
        }
        told = [self._read[n] for n in self._known.telling]
        if not any(sentence.negated for sentence in told):
            for number, one in enumerate(aligned):
                if one.span.negated and number not in apart:
                    return number, one.step(NEGATION)
        conflicts = [
            (one.alignment.conflict, -one.likeness, number)
            for number, one in enumerate(aligned)
            if one.alignment.conflict and number not in apart
        ]
        if conflicts:
            conflict, _, number = min(
                conflicts, key=lambda known: (known[0].relation != "opposite", known[1])
            )
            operator = NEGATION if conflict.relation == "opposite" else ALTERNATION
            place = (conflict.start, conflict.end)
            return number, _Step(operator, aligned[number].sentence, place)
        number = self._least_alike(aligned)
        step = aligned[number].step(ALTERNATION)
        acts = any(word.word.part == "v" for word in aligned[number].span.words)
        return number, replace(step, operator=NEGATION) if acts or not step.place else step

    def _exchanged(self) -> tuple[int, _Step] | None:
        """Return the span with what is known to be exchanged, beside what it was exchanged for."""
        exchange = self._known.exchange
        if exchange is None:
            return None
        for number, span in enumerate(self._spans):
            if span.start < exchange.end and exchange.start < span.end:
                for place in self._known.telling:
                    sentence = self._read[place]
                    told = re.compile(rf"\b{re.escape(exchange.told)}\b")
                    match = told.search(sentence.text, sentence.body)
                    if match:
                        return number, _Step(ALTERNATION, place, match.span())
        return None

    def _least_alike(self, aligned: Sequence[_Aligned]) -> int:
        """Return the span that is least like the evidence; a title of it only if all are."""
        return min(
            range(len(aligned)),
            key=lambda n: (
                self._is_title(aligned[n].span),
                not aligned[n].span.words,
                aligned[n].likeness,
            ),
        )

    def _is_title(self, span: ReadSpan) -> bool:
        """Whether the span is a title of the evidence or a piece of one that the claim names."""
        return title_key(span.text) in self._titles or any(
            start <= span.start and span.end <= end for start, end in self._named
        )

    def _aligned(self, places: Sequence[int]) -> list[_Aligned]:
        """Return each span beside the sentence in these places that is closest to it."""
        return [
            max((self._closest(n, place) for place in places), key=lambda one: one.likeness)
            for n in range(len(self._spans))
        ]

    def _find(self, number: int, place: int) -> _Aligned:
        span = self._spans[number]
        return _Aligned(span, place, align(span, self._read[place], self._lexicon))
