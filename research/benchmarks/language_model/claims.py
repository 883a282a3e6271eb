"""The claims that both models read, each with one text of evidence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from research.evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from research.training.candidates import CandidateFinder
from research.training.everyday import load_everyday
from research.training.sentence_pool import SentencePool
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import Label

SEED = 0


@dataclass(frozen=True, slots=True)
class Given:
    """A claim with its label, and the (title, sentence) pairs that it is read with."""

    claim: str
    label: Label
    kind: str
    sentences: tuple[tuple[str, str], ...]

    @property
    def evidence(self) -> str:
        """The sentences as the verifier reads them."""
        return evidence_set_text(self.sentences)


def given_claims(data: Path, cache: Path, trained: int) -> tuple[list[Given], list[Given]]:
    """Return a sample of ``trained`` claims to fit to, and all claims to measure.

    A decided claim has its first set of evidence; an undecided one the sentence of the default
    corpus nearest to it, which does not settle it. ``cache`` keeps sentence vectors between runs.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    everyday = load_everyday(data, cache)
    dev_pages = {page for claim in everyday.dev for page in claim.pages}
    claims = [
        claim
        for path in sorted((data / "vital").glob("train*.jsonl"))
        for claim in read_corpus_claims(path)
        if dev_pages.isdisjoint(claim.pages)
    ]
    sample = random.Random(SEED).sample(claims, min(trained, len(claims)))
    return _given(sample, everyday.pool), _given(everyday.dev, everyday.pool)


def _given(claims: Sequence[CorpusClaim], pool: SentencePool) -> list[Given]:
    undecided = [claim.text for claim in claims if not claim.evidence]
    found = zip(undecided, CandidateFinder(pool).find(undecided), strict=True)
    near = {text: pool.sentences[indices[0]] for text, indices in found}
    return [
        Given(
            claim=claim.text,
            label=claim.label,
            kind=claim.kind,
            sentences=tuple(
                (document, text)
                for (document, _), text in zip(claim.evidence[0], claim.texts[0], strict=True)
            )
            if claim.evidence
            else ((near[claim.text].title, near[claim.text].text),),
        )
        for claim in claims
    ]
