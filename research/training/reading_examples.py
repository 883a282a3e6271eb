"""Training examples for teacher and student: claims with one sentence or a few, as in use.

Single sentences teach stance and relevance; sets teach the reading of several sentences. NOT ENOUGH
INFO is learnt from retrieved sentences, which look like evidence, and from other sentences of the
gold pages, never from random ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from research.evaluation.claims import AnnotatedClaim
from research.training.contrast import YEAR, Contrast, refuting, symmetric
from research.training.data import PageClaim, TrainingData
from research.training.loop import Example, labelled
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.text.context import evidence_set_text, evidence_text
from retrieval.types import NOT_ENOUGH_INFO, Label

SINGLES = 2  # gold sentences that are read alone, and nearest ones of an undecided claim
ELSEWHERE = 0.8  # share of decided claims with a convincing sentence of another page
SAME_PAGE = 0.6  # and with another sentence of a gold page
CONVINCING = 5  # those of other pages are drawn from so many of the nearest
FLIPPED = 0.5  # share of contrast claims that are also read after the exchange in the evidence
SETS = 0.5  # share of claims that are also read with several sentences
SET_SIZES = (2, 3)
MOST_NEEDED = 4  # sentences of an evidence set; longer ones are cut


def reading_examples(data: TrainingData, seed: int, limit: int) -> list[Example]:
    """Return examples, ``limit`` at most, drawn from those of all training claims.

    They and their order depend only on the seed.
    """
    chance, pool = random.Random(seed), data.pool
    candidates = CandidateFinder(pool).find([claim.text for claim in data.train])
    examples: list[Example] = []
    for claim, found in zip(data.train, candidates, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _undecided(claim, found, pool, chance)
        else:
            examples += _decided(claim, found, pool, chance)
    for contrast in data.contrasts:
        examples += _contrasted(contrast, pool, chance)
    for page_claim in data.page_claims:
        examples += _of_one_page(page_claim, chance)
    drawn = chance.sample(range(len(examples)), min(limit, len(examples)))
    return [examples[i] for i in sorted(drawn)]


def _undecided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    rest = found[SINGLES:]
    read_alone = [*found[:SINGLES], *chance.sample(rest, min(1, len(rest)))]
    examples = [_alone(claim.text, i, NOT_ENOUGH_INFO, pool) for i in read_alone]
    if chance.random() < SETS:
        nearest = found[: chance.choice(SET_SIZES)]
        examples.append(labelled(claim.text, pool.together(nearest), NOT_ENOUGH_INFO))
    return examples


def _decided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    gold = pool.gold(claim)
    sets = [pool.rows(group) for group in claim.evidence]
    sufficient = [group[0] for group in sets if len(group) == 1] or gold
    examples = [
        _alone(claim.text, i, claim.label, pool)
        for i in chance.sample(sufficient, min(SINGLES, len(sufficient)))
    ]
    # Sentences near the claim on a gold page may be evidence that was not annotated.
    elsewhere = pool.elsewhere(claim, found)
    same = pool.beside(claim)
    if elsewhere and chance.random() < ELSEWHERE:
        convincing = chance.choice(elsewhere[:CONVINCING])
        examples.append(_alone(claim.text, convincing, NOT_ENOUGH_INFO, pool))
    dated = _of_other_years(claim.text, same, pool)
    if dated or (same and chance.random() < SAME_PAGE):
        examples.append(_alone(claim.text, chance.choice(dated or same), NOT_ENOUGH_INFO, pool))
    if chance.random() < SETS or min(len(group) for group in sets) > 1:
        needed = min(sets, key=len)[:MOST_NEEDED]
        size = max(len(needed), chance.choice(SET_SIZES))
        beside = [i for i in elsewhere if i not in needed][: size - len(needed)]
        chosen = [*needed, *beside]
        chance.shuffle(chosen)
        examples.append(labelled(claim.text, pool.together(chosen), claim.label))
    return examples


def _of_other_years(claim: str, indices: Sequence[int], pool: SentencePool) -> list[int]:
    """Return the sentences that contain only other years, if the claim contains a year."""
    years_of_claim = set(YEAR.findall(claim))
    if not years_of_claim:
        return []
    years = {i: set(YEAR.findall(pool.sentences[i].text)) for i in indices}
    return [i for i, others in years.items() if others and not others & years_of_claim]


def _contrasted(contrast: Contrast, pool: SentencePool, chance: random.Random) -> list[Example]:
    """Yield the refuting sentence and, with the same exchange in it, examples of both labels.

    So the wording of the claim alone does not give the label.
    """
    readings = symmetric(contrast, chance.choice(refuting(contrast, pool)))
    examples = [labelled(*readings[1])]
    if chance.random() < FLIPPED:
        examples += [labelled(*reading) for reading in readings[2:]]
    return examples


def _of_one_page(claim: PageClaim, chance: random.Random) -> list[Example]:
    gold = evidence_set_text([(claim.title, text) for text in claim.gold[:SINGLES]])
    examples = [labelled(claim.text, gold, claim.label)]
    if claim.others and chance.random() < SETS:
        other = evidence_text(claim.title, chance.choice(claim.others))
        examples.append(labelled(claim.text, other, NOT_ENOUGH_INFO))
    return examples


def _alone(claim: str, index: int, label: Label, pool: SentencePool) -> Example:
    return labelled(claim, pool.sentences[index].written, label)
