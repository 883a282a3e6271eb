"""Training proofs, made from claims whose evidence is known to suffice or not to.

There are no annotated proofs for such claims. AdMIRaL (section 3.2) lets ProoFVer write them,
corrects them with lexicons and changes the fewest operators that make a proof agree with the known
label. ProoFVer is another model. Here the first proof comes from lexicon and contextual vectors
(``alignment``), and the changes are the paper's, with these differences:

- A refuted claim gets one negation or alternation, where the evidence contradicts it, and
  equivalence elsewhere. The paper turns all open spans into negations; two of them refute nothing
  (``retrieval.stages.decide.proof``).
- If the evidence has another value of the same kind, such as another year or another thing, the
  operator is alternation, not negation.
- If the evidence does not suffice, only a known exchange is negated or alternated: another year
  contradicts nothing if it is of something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from research.training.alignment import Alignment, align
from research.training.compositions import Composition
from research.training.data import TrainingData
from research.training.evidence_sets import (
    EvidenceSet,
    Pair,
    claim_sets,
    composition_sets,
    contrast_sets,
    page_sets,
)
from research.training.lexicon import Lexicon, number_of
from research.training.read_texts import Offsets, Reader, ReadSentence, ReadSpan, TokenEncoder
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.stages.decide.proof import label_of
from retrieval.text.context import evidence_set_text, evidence_text
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

ALIKE = 0.7  # least similarity of a span that counts as found though not all of its words are
NEAR = 0.55  # least similarity of a place that is pointed to without any of the span's words
AGAINST = 0.3  # the same of a place that must contradict it
NAMED = 0.15  # subtracted from the likeness for a name or number that is not found
UNFOUND = 2  # other spans of a refuted claim that need not be found
LESS = 0.1  # an insufficient sentence must be less alike than the gold one by this


@dataclass(frozen=True, slots=True)
class ProofExample:
    """A claim with evidence, as ``evidence_set_text`` writes it, with its proof.

    ``operators`` are indices into ``OPERATORS``, one for each span. ``aligned``: offsets into the
    evidence, if known.
    """

    claim: str
    spans: tuple[Offsets, ...]
    evidence: str
    operators: tuple[int, ...]
    aligned: tuple[Offsets | None, ...]

    @property
    def length(self) -> int:
        """The number of its characters."""
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

    They and their order depend only on the seed.
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
    """Return a proof of each set about which enough is known.

    Refuted claims are left out if few of their spans are found in the evidence, and so are sets
    that may suffice without an annotation.
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
    """An operator, and the place of the evidence that the span is rewritten into."""

    operator: Operator
    sentence: int = 0
    place: Offsets | None = None


@dataclass(frozen=True, slots=True)
class _Aligned:
    """A span and the sentence of the set that is closest to it."""

    span: ReadSpan
    sentence: int
    alignment: Alignment

    @property
    def found(self) -> bool:
        """Whether the sentence contains the span, by words and vectors."""
        found = self.alignment
        if found.covered == 1:
            return True
        named = any(w.kind or number_of(w.text) is not None for w in found.uncovered)
        return found.covered > 0 and found.similarity >= ALIKE and not named

    @property
    def likeness(self) -> float:
        """How alike the two are; a name or number that is not found reduces it more."""
        named = any(w.kind or number_of(w.text) is not None for w in self.alignment.uncovered)
        return self.alignment.covered + self.alignment.similarity - NAMED * named

    def step(self, operator: Operator) -> _Step:
        """Return the step, which points to a place only if that is probably right."""
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
        """Return the proof, or None if too little is known for one."""
        if not self._spans:
            return None
        steps = self._insufficient() if self._known.label == NOT_ENOUGH_INFO else self._sufficient()
        if steps is None:
            return None
        operators = [step.operator for step in steps]
        if label_of(operators) != self._known.label:
            raise RuntimeError(f"A proof of {self._known.label} gives {label_of(operators)}.")
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
        """Prove a sufficient set: no span is open; one span of a refuted claim is contradicted.

        There is no proof if too many other spans are not found: evidence that refutes one part of a
        claim may say nothing about the others.
        """
        aligned = self._aligned(self._known.gold)
        steps = [one.step(EQUIVALENCE) for one in aligned]
        if self._known.label == REFUTES:
            number, step = self._exchanged() or self._contradicted(aligned)
            steps[number] = step
            unfound = [n for n, one in enumerate(aligned) if n != number and not one.found]
            if len(unfound) > UNFOUND:
                return None
        return steps

    def _insufficient(self) -> list[_Step] | None:
        """Prove an insufficient set: open are spans of missing sentences, or the least alike."""
        if self._known.gold:
            steps = self._left(self._aligned(self._known.gold))
        else:
            steps = self._unrelated()
        aligned = self._aligned(self._known.gold or self._present)
        is_open = [number for number, step in enumerate(steps) if step.operator == INDEPENDENCE]
        if self._known.known_open:
            if not is_open:
                steps[self._least_alike(aligned)] = _Step(INDEPENDENCE)
            return steps
        gold = self._aligned(self._missing)
        less = any(aligned[n].likeness + LESS < gold[n].likeness for n in is_open)
        return steps if less else None

    def _left(self, aligned: Sequence[_Aligned]) -> list[_Step]:
        """Prove with the rest of a gold set: open are the spans that only the missing part has."""
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
        """Prove with sentences that may be about something else.

        If some are about the things that the claim names, common words of the others are ignored.
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

        In this order: a negation that the evidence does not have; an antonym; another value of the
        same kind, such as another year; otherwise the least similar span, with alternation for a
        thing and negation for an action.
        """
        apart = {
            n for n, one in enumerate(aligned) if self._is_title(one.span) and len(aligned) > 1
        }
        gold = [self._read[n] for n in self._known.gold]
        if not any(sentence.negated for sentence in gold):
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
        """Return the span with the known exchange, with its step to the words in the evidence."""
        exchange = self._known.exchange
        if exchange is None:
            return None
        for number, span in enumerate(self._spans):
            if span.start < exchange.end and exchange.start < span.end:
                for place in self._known.gold:
                    sentence = self._read[place]
                    words = re.compile(rf"\b{re.escape(exchange.in_evidence)}\b")
                    match = words.search(sentence.text, sentence.body)
                    if match:
                        return number, _Step(ALTERNATION, place, match.span())
        return None

    def _least_alike(self, aligned: Sequence[_Aligned]) -> int:
        """Return the span that is least like the evidence; a title only if all spans are titles."""
        return min(
            range(len(aligned)),
            key=lambda n: (
                self._is_title(aligned[n].span),
                not aligned[n].span.words,
                aligned[n].likeness,
            ),
        )

    def _is_title(self, span: ReadSpan) -> bool:
        """Return whether the span is a title of the evidence, or a part of one in the claim."""
        return title_key(span.text) in self._titles or any(
            start <= span.start and span.end <= end for start, end in self._named
        )

    def _aligned(self, places: Sequence[int]) -> list[_Aligned]:
        """Return each span with the closest of the sentences at these positions."""
        return [
            max((self._closest(n, place) for place in places), key=lambda one: one.likeness)
            for n in range(len(self._spans))
        ]

    def _find(self, number: int, place: int) -> _Aligned:
        span = self._spans[number]
        return _Aligned(span, place, align(span, self._read[place], self._lexicon))
