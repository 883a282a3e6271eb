"""The examples of one phase of the verifier's training: retrieved sentences, and pairs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from research.training.compositions import Composition
from research.training.data import TrainingData
from research.training.everyday import EverydayData
from research.training.figures import Classify
from research.training.loop import Example
from research.training.reading_examples import reading_examples
from research.training.verifier.assertions import AssertionData
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.composed import composed_examples
from research.training.verifier.misread import misread_examples
from research.training.verifier.pairs import QUOTAS, pair_examples
from research.training.verifier.retrieved import retrieved_examples
from retrieval.system.files import digest_of


@dataclass(frozen=True, slots=True)
class Mix:
    """The most examples of each kind in a phase.

    ``pairs``: of each source of public pairs. ``everyday``: of everyday claims, each with its
    evidence and with retrieved sentences; for a share ``wrong_together`` of the decided claims,
    several sentences that settle nothing are read together. ``fever``: of FEVER's claims with
    retrieved sentences. ``misread``: of everyday claims and of FEVER's each, with sentences that
    settle nothing and that the verifier of the previous phase misreads. ``by_rule``: of each kind
    that is made by rule. ``composed``: of claims composed of two pages. ``assertions``: how often
    each text that asserts or only mentions a claim is read.
    """

    pairs: Mapping[str, int]
    everyday: int = 0
    wrong_together: float = 0.6
    fever: int = 0
    misread: int = 0
    by_rule: int = 0
    composed: int = 0
    assertions: int = 0

    @property
    def described(self) -> str:
        """Its description in a card."""
        parts = []
        if self.assertions:
            parts.append(
                f"texts that assert or only mention a claim, {self.assertions} times each"
                " (`research/training/verifier/assertions.py`)"
            )
        if self.everyday:
            parts.append(
                f"readings of at most {self.everyday} everyday claims, beside their evidence and"
                " beside sentences near them that settle nothing, one at a time or, for"
                f" {self.wrong_together:.0%} of the decided claims, several at once"
                " (`research/training/verifier/retrieved.py`)"
            )
        if self.fever:
            parts.append(
                f"{self.fever} readings of FEVER's claims (`research/training/reading_examples.py`)"
            )
        if self.misread:
            parts.append(
                f"readings of at most {self.misread} everyday claims and as many of FEVER's, beside"
                " sentences that settle nothing and that the verifier of the previous phase"
                " misreads (`research/training/verifier/misread.py`)"
            )
        if self.by_rule:
            parts.append(
                f"at most {self.by_rule} readings of each kind that is made by rule: framed claims,"
                " exchanged units, capitals (`research/training/verifier/by_rule.py`)"
            )
        if self.composed:
            parts.append(
                f"readings of at most {self.composed} claims composed of two pages"
                " (`research/training/verifier/composed.py`)"
            )
        pairs = ", ".join(f"{source} ({quota})" for source, quota in self.pairs.items())
        parts.append(f"pairs of a claim and its evidence, at most so many of each source: {pairs}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Sources:
    """The data of all phases; ``pairs`` is the folder of public pairs."""

    pairs: Path
    everyday: EverydayData
    fever: TrainingData
    composed: list[Composition]
    assertions: AssertionData

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
            f" {self.assertions.described}"
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
        }


def mixed_examples(sources: Sources, mix: Mix, seed: int, classify: Classify) -> list[Example]:
    """Return the examples of a phase, drawn by ``seed``.

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
    examples += sources.assertions.examples * mix.assertions
    return examples + sources.pair_examples(seed, mix.pairs)


ClaimT = TypeVar("ClaimT")


def _drawn(claims: Sequence[ClaimT], most: int, chance: random.Random) -> list[ClaimT]:
    return chance.sample(list(claims), min(most, len(claims)))
