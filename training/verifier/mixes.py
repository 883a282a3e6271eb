"""The examples of one phase of the verifier's training: retrieved sentences, and pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.files import digest_of
from training.data import TrainingData
from training.everyday import EverydayData
from training.figures import Classify
from training.loop import Example
from training.reading_examples import reading_examples
from training.verifier.misread import misread_examples
from training.verifier.pairs import QUOTAS, pair_examples
from training.verifier.retrieved import retrieved_examples


@dataclass(frozen=True, slots=True)
class Mix:
    """The most examples of each kind in a phase.

    ``pairs``: of each source of public pairs. ``everyday``: of everyday claims with retrieved
    sentences; for a share ``wrong_together`` of the decided claims, several sentences that settle
    nothing are read together. ``fever``: of FEVER's claims with retrieved sentences. ``misread``:
    of everyday claims and of FEVER's each, with sentences that settle nothing and that the
    verifier of the previous phase misreads.
    """

    pairs: Mapping[str, int]
    everyday: int = 0
    wrong_together: float = 0.0
    fever: int = 0
    misread: int = 0

    @property
    def described(self) -> str:
        """Its description in a card."""
        parts = []
        if self.everyday:
            parts.append(
                f"at most {self.everyday} readings of everyday claims, beside their evidence and"
                " beside sentences near them that settle nothing, one at a time or, for"
                f" {self.wrong_together:.0%} of the decided claims, several at once"
                " (`training/verifier/retrieved.py`)"
            )
        if self.fever:
            parts.append(
                f"{self.fever} readings of FEVER's claims (`training/reading_examples.py`)"
            )
        if self.misread:
            parts.append(
                f"at most {self.misread} readings each of everyday and of FEVER's claims, beside"
                " sentences that settle nothing and that the verifier of the previous phase"
                " misreads (`training/verifier/misread.py`)"
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

    def pair_examples(self, seed: int, quotas: Mapping[str, int]) -> list[Example]:
        """Return public pairs, drawn by ``seed``, at most so many of each source."""
        return pair_examples(self.pairs, seed, quotas)

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        return f"Everyday: {self.everyday.described}. FEVER: {self.fever.described}"

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of all files that were read."""
        pairs = {
            f"pairs/train/{source}.jsonl": digest_of(self.pairs / f"{source}.jsonl")
            for source in QUOTAS
        }
        return {**pairs, **self.everyday.digests, **self.fever.digests}


def mixed_examples(sources: Sources, mix: Mix, seed: int, classify: Classify) -> list[Example]:
    """Return the examples of a phase, drawn by ``seed``.

    ``classify`` is the verifier after the previous phase. It finds the sentences that settle a
    claim without being annotated as its evidence, and the sentences that it misreads.
    """
    everyday, examples = sources.everyday, list[Example]()
    if mix.everyday:
        examples += retrieved_examples(
            everyday.claims, everyday.pool, classify, seed, mix.everyday, mix.wrong_together
        )
    if mix.fever:
        examples += reading_examples(sources.fever, seed, mix.fever)
    if mix.misread:
        for claims, pool in (
            (everyday.claims, everyday.pool),
            (sources.fever.train, sources.fever.pool),
        ):
            examples += misread_examples(claims, pool, classify, seed, mix.misread)
    return examples + sources.pair_examples(seed, mix.pairs)
