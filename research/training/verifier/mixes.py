"""The examples of one phase of the verifier's training: retrieved sentences, and pairs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from research.training.compositions import Composition
from research.training.data import EverydayData, TrainingData
from research.training.figures import Classify
from research.training.loop import Example
from research.training.reading_examples import reading_examples
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.pairs import (
    QUOTAS,
    AssertionData,
    MeaningData,
    pair_examples,
    resurfaced,
)
from research.training.verifier.retrieved import (
    composed_examples,
    misread_examples,
    retrieved_examples,
)
from retrieval.system.files import digest_of


@dataclass(frozen=True, slots=True)
class Mix:
    """The most examples of each kind in a phase.

    ``pairs``: of each source of public pairs. ``everyday``: of everyday claims, each with its
    evidence and with retrieved sentences; for a share ``wrong_together`` of the decided claims,
    several sentences that settle nothing are read together. ``fever``: of FEVER's claims with
    retrieved sentences. ``misread``: of everyday claims and of FEVER's each, with sentences that
    settle nothing and that the verifier of the previous phase misreads. ``by_rule``: of each kind
    that is made by rule. ``composed``: of claims composed of two pages. ``assertions``: the most
    texts that assert or only mention a claim. ``meaning``: how often each pair about meaning is
    read, each time in another form (``resurfaced``).
    """

    pairs: Mapping[str, int]
    everyday: int = 0
    wrong_together: float = 0.6
    fever: int = 0
    misread: int = 0
    by_rule: int = 0
    composed: int = 0
    assertions: int = 0
    meaning: int = 0

    @property
    def described(self) -> str:
        """Its description in a card, with the files of this folder that make each kind."""
        kinds = (
            (self.meaning, f"pairs about meaning, {self.meaning} times each", "pairs"),
            (
                self.assertions,
                f"{self.assertions} texts that assert or mention a claim",
                "pairs",
            ),
            (self.everyday, f"readings of {self.everyday} everyday claims", "retrieved"),
            (self.fever, f"{self.fever} readings of FEVER's claims", "../reading_examples"),
            (self.misread, f"misread sentences for {self.misread} claims of each", "retrieved"),
            (self.by_rule, f"{self.by_rule} readings of each kind made by rule", "by_rule"),
            (
                self.composed,
                f"readings of {self.composed} claims composed of two pages",
                "retrieved",
            ),
        )
        parts = [f"{text} (`{file}.py`)" for count, text, file in kinds if count]
        pairs = ", ".join(f"{source} ({quota})" for source, quota in self.pairs.items())
        parts.append(f"public pairs (`pairs.py`): {pairs}")
        return f"at most {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Sources:
    """The data of all phases; ``pairs`` is the folder of public pairs."""

    pairs: Path
    everyday: EverydayData
    fever: TrainingData
    composed: list[Composition]
    assertions: AssertionData
    meaning: MeaningData

    def pair_examples(self, seed: int, quotas: Mapping[str, int]) -> list[Example]:
        """Return public pairs, drawn by ``seed``, at most so many of each source."""
        return pair_examples(self.pairs, seed, quotas)

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        return (
            f"Everyday: {self.everyday.described}. FEVER: {self.fever.described};"
            f" {len(self.composed)} claims composed of two of its pages"
            " (`research/training/compositions`). Texts that assert or mention a claim:"
            f" {self.assertions.described}. {self.meaning.described}"
        )

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of all files that were read."""
        pairs = {
            f"pairs/train/{source}.jsonl": digest_of(self.pairs / f"{source}.jsonl")
            for source in QUOTAS
        }
        return {
            **pairs,
            **self.everyday.digests,
            **self.fever.digests,
            **self.assertions.digests,
            **self.meaning.digests,
        }


def mixed_examples(sources: Sources, mix: Mix, seed: int, classify: Classify) -> list[Example]:
    """Return the examples of a phase, drawn by ``seed``, each claim in one of its forms.

    ``classify`` is the verifier after the previous phase. It finds the sentences that settle a
    claim without being annotated as its evidence, and the sentences that it misreads.
    """
    everyday, fever, examples = sources.everyday, sources.fever, list[Example]()
    chance = random.Random(seed)
    if mix.everyday:
        claims = _drawn(everyday.claims, mix.everyday, chance)
        examples += retrieved_examples(claims, everyday.pool, classify, seed, mix.wrong_together)
    if mix.fever:
        examples += reading_examples(fever, seed, mix.fever)
    if mix.misread:
        claims = _drawn(everyday.claims, mix.misread, chance)
        examples += misread_examples(claims, everyday.pool, classify, seed)
        cited = _drawn(fever.train, mix.misread, chance)
        examples += misread_examples(cited, fever.pool, classify, seed)
    if mix.by_rule:
        frames = sources.assertions.frames
        examples += made_by_rule(everyday, frames, sources.pairs, seed, mix.by_rule)
    if mix.composed:
        composed = _drawn(sources.composed, mix.composed, chance)
        examples += composed_examples(composed, fever.pool, seed)
    examples += _drawn(sources.assertions.examples, mix.assertions, chance)
    examples += sources.meaning.examples * mix.meaning
    return resurfaced([*examples, *sources.pair_examples(seed, mix.pairs)], chance)


ClaimT = TypeVar("ClaimT")


def _drawn(claims: Sequence[ClaimT], most: int, chance: random.Random) -> list[ClaimT]:
    return chance.sample(list(claims), min(most, len(claims)))
