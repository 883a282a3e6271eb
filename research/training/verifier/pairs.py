"""Claims of public data sets with their evidence: the verifier's first training data.

In a contrastive pair only one fact differs, and the evidence is the right one. Retrieved sentences
are learnt later (``research/training/verifier/retrieved.py``).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path

from research.evaluation.pairs import Pair, read_pairs
from research.training.loop import Example, labelled

# Pairs of each source, mostly all of it. VitaminC has the most: its evidence differs in one fact.
# InfoTabs has numbers and dates; the general sources teach paraphrase and inference. Pairs made by
# rule, captions of pictures and a source with one label are limited. Sources with noisy labels
# (CREAK's explanations, COVID-Fact, FactCheck-GPT) are left out.
QUOTAS: Mapping[str, int] = {
    "vitaminc": 28_000,
    "vitaminc-synthetic": 20_300,
    "fever": 4_000,
    "fever-adversarial": 800,
    "fever-triggers": 200,
    "feverous": 2_600,
    "ex-fever": 4_100,
    "fm2": 1_200,
    "wiki-nli": 15_200,
    "infotabs": 16_600,
    "lingnli": 45_000,
    "mnli": 18_000,
    "snli-counterfactual": 8_300,
    "snli": 6_000,
    "conjnli": 4_000,
    "negation": 3_000,
    "wikifactcheck": 3_000,
    "healthver": 3_500,
}
LONGEST = 480  # characters of claim and evidence; longer pairs are not worth their time


def pair_examples(folder: Path, seed: int, quotas: Mapping[str, int] = QUOTAS) -> list[Example]:
    """Return pairs of every source, drawn by ``seed``, at most its quota of each.

    Pairs of one page (or, without a title, of one evidence text) are drawn together, so that both
    sides of most contrasts are included; a pair that is too long is left out, and the last group of
    a source is cut at its quota.

    Raises:
        BadSource: a file of ``folder`` is missing or cannot be read.
    """
    examples: list[Example] = []
    for source, quota in quotas.items():
        groups: dict[str, list[Example]] = {}
        for pair in read_pairs(folder / f"{source}.jsonl"):
            example = labelled(pair.claim, pair.evidence, pair.label)
            if example.length <= LONGEST:
                groups.setdefault(_group(pair), []).append(example)
        examples += _drawn(groups.values(), quota, random.Random(f"{seed}/{source}"))
    return examples


def _group(pair: Pair) -> str:
    return pair.title or pair.evidence


def _drawn(groups: Iterable[list[Example]], quota: int, chance: random.Random) -> list[Example]:
    order = list(groups)
    chance.shuffle(order)
    return [example for group in order for example in group][:quota]
