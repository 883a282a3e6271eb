"""The query encoder's training examples: queries, sentences to find, and sentences to ignore.

The sets of examples have different objectives (M3, section 3.2.2). FEVER claims and steps from one
of their gold sentences to another have a contrastive and a classification objective; Fool Me Twice,
composed claims and examples made from the pages themselves have only the contrastive one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions import compositions
from research.training.data import PageClaim, TrainingData
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.models.encoders import Query
from retrieval.text.context import evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO

STEPS_PER_CLAIM = 2
SHORTEST_NAME = 2  # least words of a title that counts as mentioned in a sentence
SHORTEST_PIECE = 6  # words of a sentence


@dataclass(frozen=True, slots=True)
class DenseExample:
    """A query with its sentences, which are rows of the sentence vectors.

    ``wanted`` should be nearer than all others except the ``ignored``, which may be evidence that
    was not annotated. Without ``wanted`` there is no contrastive objective. ``verdict``: a sentence
    and the index of its stance in ``LABELS``; without it there is no classification objective.
    """

    claim: str
    path: tuple[tuple[str, str], ...]
    wanted: tuple[int, ...]
    ignored: tuple[int, ...] = ()
    verdict: tuple[int, int] | None = None

    @property
    def query(self) -> Query:
        """The text that is encoded."""
        return self.claim, self.path

    @property
    def length(self) -> int:
        """The number of its characters."""
        return len(self.claim) + sum(len(evidence_text(*step)) for step in self.path)


@dataclass(frozen=True, slots=True)
class ExampleSets:
    """The examples by their objectives: FEVER's claims with their steps have both, others one.

    ``composed``: the number of composed claims among the others.
    """

    claims: list[DenseExample]
    others: list[DenseExample]
    composed: int

    @classmethod
    def of(
        cls,
        data: TrainingData,
        ignored: Mapping[str, Sequence[int]],
        composed: int,
        from_pages: int,
        seed: int,
    ) -> ExampleSets:
        """Return those of the data, with at most this many composed claims and from pages.

        ``ignored``: rows that are likely evidence, by the texts of claims.
        """
        chance = random.Random(seed)
        # A contrast claim has its original's evidence, annotated or not.
        ignored = {**ignored, **{c.claim.text: ignored.get(c.original, ()) for c in data.contrasts}}
        made = compositions(data, seed, composed)
        fever = [*data.train, *(contrast.claim for contrast in data.contrasts)]
        return cls(
            claim_examples(fever, ignored, data.pool, chance),
            [
                *composed_examples([composition.claim for composition in made], data.pool),
                *page_claim_examples(data.page_claims, len(data.pool.sentences)),
                *page_examples(data.pool, from_pages, chance),
            ],
            len(made),
        )


def claim_examples(
    claims: Sequence[AnnotatedClaim],
    ignored: Mapping[str, Sequence[int]],
    pool: SentencePool,
    chance: random.Random,
) -> list[DenseExample]:
    """Return an example for each claim and, if its evidence is on several pages, its steps.

    A step goes from a gold sentence, whose page counts as read, to those of the same set on other
    pages; there are at most ``STEPS_PER_CLAIM``. An undecided claim is classified with the most
    similar sentence. ``ignored``: rows by the texts of claims.
    """
    undecided = [claim for claim in claims if claim.label == NOT_ENOUGH_INFO]
    nearest = pool.nearest([claim.text for claim in undecided], 1)
    label = LABELS.index(NOT_ENOUGH_INFO)
    examples = [
        DenseExample(claim.text, (), (), verdict=(int(row), label))
        for claim, (row,) in zip(undecided, nearest, strict=True)
    ]
    for claim in claims:
        gold = pool.gold(claim)
        if not gold:
            continue
        label = LABELS.index(claim.label)
        left = set(ignored.get(claim.text, ()))
        examples.append(
            DenseExample(
                claim.text,
                (),
                tuple(gold),
                tuple(sorted(left - set(gold))),
                (chance.choice(gold), label),
            )
        )
        steps = list(_steps(claim, pool))
        for lead, others in chance.sample(steps, min(STEPS_PER_CLAIM, len(steps))):
            read = {*gold, *pool.by_page[pool.sentences[lead].page]}
            examples.append(
                DenseExample(
                    claim.text,
                    (pool.sentences[lead].pair,),
                    tuple(others),
                    tuple(sorted((left | read) - set(others))),
                    (chance.choice(others), label),
                )
            )
    return examples


def composed_examples(claims: Sequence[AnnotatedClaim], pool: SentencePool) -> list[DenseExample]:
    """Return two examples for each composed claim, whose one set of evidence is a path.

    One goes from the claim to the first sentence, one from both to the second.
    """
    examples = []
    for claim in claims:
        first, second = pool.rows(claim.evidence[0])
        read = tuple(pool.by_page[pool.sentences[first].page])
        examples.append(DenseExample(claim.text, (), (first,), (second,)))
        examples.append(DenseExample(claim.text, (pool.sentences[first].pair,), (second,), read))
    return examples


def page_claim_examples(claims: Sequence[PageClaim], row: int) -> list[DenseExample]:
    """Return an example for each Fool Me Twice claim; the page's other sentences are not wanted.

    ``row`` is that of the first claim's first gold sentence. The gold sentences of a claim are
    followed by the others of its page, and then by the next claim's.
    """
    examples = []
    for claim in claims:
        gold = tuple(range(row, row + len(claim.gold)))
        examples.append(DenseExample(claim.text, (), gold))
        row += len(claim.gold) + len(claim.others)
    return examples


def page_examples(pool: SentencePool, limit: int, chance: random.Random) -> list[DenseExample]:
    """Return up to ``limit`` examples that the pages give without any annotation.

    For sentences in random order: a piece of the sentence with its title, to find the sentence;
    and, if it mentions the title of another page, the sentence, to find that page's first one. So
    no page is only a negative.
    """
    finder = CandidateFinder(pool)
    examples: list[DenseExample] = []
    for row in chance.sample(range(len(pool.sentences)), len(pool.sentences)):
        if len(examples) >= limit:
            break
        sentence = pool.sentences[row]
        words = sentence.text.split()
        if len(words) >= SHORTEST_PIECE:
            start = chance.randrange(len(words) // 2)
            piece = " ".join(words[start : start + len(words) // 2])
            examples.append(DenseExample(f"{sentence.title} {piece}", (), (row,)))
        mentioned = [
            page
            for page in finder.named(sentence.text)
            if page != sentence.page and _is_name(pool.page(page)[0].title)
        ]
        if mentioned:
            first = pool.by_page[mentioned[0]][0]
            examples.append(DenseExample(sentence.text, (), (first,), (row,)))
    return examples[:limit]


def _steps(claim: AnnotatedClaim, pool: SentencePool) -> Iterator[tuple[int, list[int]]]:
    """Yield each gold sentence with those of its set that are on other pages."""
    for group in claim.evidence:
        known = [key for key in group if key in pool.position]
        for lead in known:
            others = pool.rows(key for key in known if key[0] != lead[0])
            if others:
                yield pool.position[lead], others


def _is_name(title: str) -> bool:
    return len(title.partition(" (")[0].split()) >= SHORTEST_NAME
