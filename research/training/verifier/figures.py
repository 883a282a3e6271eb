"""The verifier's figures during training, on readings that it is not trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import CorpusClaim, Pair, read_pairs
from research.evaluation.measures.scores import calibration_error
from research.training.data import EverydayData
from research.training.figures import Classify
from research.training.sentence_pool import CandidateFinder
from retrieval.system.files import digest_of
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

# One in so many pairs of a development file is measured, and the same number is fitted to.
DEV_PAIRS: Mapping[str, int] = {"vitaminc": 3, "feverous": 2, "infotabs": 7, "wiki-nli": 3}
NEAREST = 3  # sentences that an undecided claim is read with


@dataclass(frozen=True, slots=True)
class DevReadings:
    """Pairs to measure and pairs to fit scale and bias to, and everyday claims to measure."""

    measured: list[Pair]
    fitted: list[Pair]
    decided: list[CorpusClaim]
    undecided: list[tuple[str, str]]
    held_out: Mapping[str, list[Pair]]
    decided_2: list[CorpusClaim]
    digests: dict[str, str]

    @classmethod
    def of(
        cls, pairs: Path, everyday: EverydayData, held_out: Mapping[str, list[Pair]]
    ) -> DevReadings:
        """Read the development files of ``pairs``; ``held_out``: other pairs, by their names.

        Raises:
            BadSource: a file is missing or cannot be read.
        """
        measured, fitted = dev_pairs(pairs)
        pool = everyday.pool
        undecided = [claim.text for claim in everyday.dev if claim.label == NOT_ENOUGH_INFO]
        near = zip(undecided, CandidateFinder(pool).find(undecided), strict=True)
        return cls(
            measured=measured,
            fitted=fitted,
            decided=[claim for claim in everyday.dev if claim.evidence],
            undecided=[
                (claim, pool.sentences[i].written)
                for claim, indices in near
                for i in indices[:NEAREST]
            ],
            held_out=held_out,
            decided_2=[claim for claim in everyday.dev_2 if claim.evidence],
            digests={
                f"pairs/dev/{source}.jsonl": digest_of(pairs / "dev" / f"{source}.jsonl")
                for source in DEV_PAIRS
            },
        )

    def figures(self, classify: Classify) -> dict[str, float]:
        """Return label accuracies, in %, and the calibration error; ``cards.yaml`` defines them."""
        right = _right(classify, [(c.text, given_evidence(c), c.label) for c in self.decided])
        right_2 = _right(classify, [(c.text, given_evidence(c), c.label) for c in self.decided_2])
        two_hop = np.array([claim.kind == "two-hop" for claim in self.decided])
        near = classify(self.undecided)
        held_out = {
            name: _right(classify, [(pair.claim, pair.evidence, pair.label) for pair in those])
            for name, those in self.held_out.items()
        }
        opinions = classify([(pair.claim, pair.evidence) for pair in self.measured])
        truth = np.array([LABELS.index(pair.label) for pair in self.measured])
        pairs_right = opinions.argmax(1) == truth
        sources = np.array([pair.source for pair in self.measured])
        return {
            "everyday": 100 * float(right.mean()),
            "one_sentence": 100 * float(right[~two_hop].mean()),
            "two_hop": 100 * float(right[two_hop].mean()),
            "undecided": 100 * float((near.argmax(1) == LABELS.index(NOT_ENOUGH_INFO)).mean()),
            "everyday_2": 100 * float(right_2.mean()),
            **{name: 100 * float(right.mean()) for name, right in held_out.items()},
            **{
                source: 100 * float(pairs_right[sources == source].mean())
                for source in dict.fromkeys(sources.tolist())
            },
            "calibration_error": calibration_error(opinions.max(axis=1), pairs_right),
        }


def _right(classify: Classify, readings: Sequence[tuple[str, str, Label]]) -> NDArray[np.bool_]:
    """Return which (claim, evidence, label) get their label."""
    opinions = classify([(claim, evidence) for claim, evidence, _ in readings])
    right: NDArray[np.bool_] = opinions.argmax(1) == [LABELS.index(one[2]) for one in readings]
    return right


def dev_pairs(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """Return pairs to measure and pairs to fit to; the same evidence is never in both.

    Pairs whose evidence is that of a training pair of the same source are left out.
    """
    measured: list[Pair] = []
    fitted: list[Pair] = []
    for source, every in DEV_PAIRS.items():
        trained = {pair.evidence for pair in read_pairs(folder / "train" / f"{source}.jsonl")}
        for pair in read_pairs(folder / "dev" / f"{source}.jsonl"):
            share = _share(pair.evidence, every)
            if share < 2 and pair.evidence not in trained:
                (measured, fitted)[share].append(pair)
    return measured, fitted


def given_evidence(claim: CorpusClaim) -> str:
    """Return the text of a claim's first evidence set; the claim's file contains the texts."""
    titles = [document for document, _ in claim.evidence[0]]
    return evidence_set_text(list(zip(titles, claim.texts[0], strict=True)))


def _share(evidence: str, shares: int) -> int:
    """Return the number of the share that the evidence belongs to, from its digest."""
    return int.from_bytes(sha256(evidence.encode()).digest()[:4], "big") % shares
