"""Training pairs for the ESOTERIC report's relevance classifier (report, 3.3.10).

A claim has one relevant sentence, two irrelevant ones of the same page and two of other pages
(figure 34). The author's program takes every relevant sentence of a claim, with twice as many
irrelevant ones of both kinds, and puts pairs of one claim into training and test; the report counts
claims, of which eight in ten are for training, one for validation and one for the test. This
follows the report, so no claim of the test is read in training.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim, SentenceKey, page_key
from research.training.loop import Example
from retrieval.corpora.corpus import Page

CLAIMS = 10_000  # table 5
SAME_PAGE = OTHER_PAGES = 2
_OTHERS = 20_000  # pages that sentences of other pages are drawn from


@dataclass(frozen=True, slots=True)
class Parts:
    """The pairs for training, validation and test; no claim is in two of them.

    Targets are the probabilities of irrelevant and relevant. ``claims``: how many of each part.
    """

    train: list[Example]
    validation: list[Example]
    test: list[Example]
    claims: tuple[int, int, int]


def relevance_parts(claims: Sequence[AnnotatedClaim], pages: Iterable[Page], seed: int) -> Parts:
    """Return the pairs of 10,000 claims, or of all if there are fewer; the seed draws them.

    Claims that read the same count as one. Claims without evidence, and those of which no evidence
    is on ``pages``, are left out. ``pages`` are FEVER's, split into sentences. A page with fewer
    irrelevant sentences gives fewer.
    """
    chance = random.Random(seed)
    gold: dict[str, set[SentenceKey]] = {}
    for claim in claims:
        if claim.evidence:
            gold.setdefault(claim.text, set()).update(claim.gold)
    cited = {page for keys in gold.values() for page, _ in keys}
    cited_pages, others = _read(pages, cited, chance)
    order = sorted(gold)
    chance.shuffle(order)
    drawn: list[list[Example]] = []
    for text in order:
        evidence = sorted(key for key in gold[text] if _sentence(cited_pages, key))
        if evidence and len(drawn) < CLAIMS:
            drawn.append(
                _pairs(text, chance.choice(evidence), gold[text], cited_pages, others, chance)
            )
    first, second = len(drawn) * 8 // 10, len(drawn) * 9 // 10
    parts = drawn[:first], drawn[first:second], drawn[second:]
    train, validation, test = ([pair for pairs in part for pair in pairs] for part in parts)
    return Parts(train, validation, test, (len(parts[0]), len(parts[1]), len(parts[2])))


def _read(
    pages: Iterable[Page], cited: set[str], chance: random.Random
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """Return the sentences of the cited pages, and of random pages the id and one sentence.

    The release has 5.4 million pages, so no others are kept (reservoir sampling).
    """
    cited_pages: dict[str, tuple[str, ...]] = {}
    others: list[tuple[str, str]] = []
    seen = 0
    for page in pages:
        sentences, name = page.sentences or (), page_key(page.id)
        if name in cited:
            cited_pages[name] = sentences
        if any(sentences):
            seen += 1
            place = len(others) if len(others) < _OTHERS else chance.randrange(seen)
            if place < _OTHERS:
                entry = name, chance.choice([sentence for sentence in sentences if sentence])
                others[place : place + 1] = [entry]
    return cited_pages, others


def _sentence(cited_pages: dict[str, tuple[str, ...]], key: SentenceKey) -> str:
    """Return the text of a sentence, "" if the pages lack it."""
    page, number = key
    sentences = cited_pages.get(page, ())
    return sentences[number] if number < len(sentences) else ""


def _pairs(
    claim: str,
    relevant: SentenceKey,
    gold: set[SentenceKey],
    cited_pages: dict[str, tuple[str, ...]],
    others: list[tuple[str, str]],
    chance: random.Random,
) -> list[Example]:
    page = relevant[0]
    same = [s for n, s in enumerate(cited_pages[page]) if s and (page, n) not in gold]
    own = {name for name, _ in gold}
    anywhere = chance.sample(others, min(len(others), OTHER_PAGES + len(own)))
    elsewhere = [sentence for name, sentence in anywhere if name not in own]
    irrelevant = chance.sample(same, min(len(same), SAME_PAGE)) + elsewhere[:OTHER_PAGES]
    return [
        Example(claim, _sentence(cited_pages, relevant), (0.0, 1.0)),
        *(Example(claim, sentence, (1.0, 0.0)) for sentence in irrelevant),
    ]
