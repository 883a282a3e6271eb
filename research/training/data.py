"""The data folder that ``esoteric train`` reads, checked and split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from research.evaluation.claims import AnnotatedClaim, FeverClaim, read_fever_claims
from research.training.candidates import CandidateFinder
from research.training.claims import PageClaim, read_page_claims, read_union_claims
from research.training.contrast import Contrast, contrast_claims
from research.training.sentence_pool import SentencePool
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource
from retrieval.models.encoders import MiniLMEncoder
from retrieval.system.files import digest_of

FILES = (
    "fever-dev/train.jsonl",
    "fever-dev/train-union.jsonl",
    "fever-dev/dev.jsonl",
    "fm2/train.jsonl",
)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Claims to train on, claims to measure on, and the sentences of both.

    ``contrasts`` are made from ``train`` (``research/training/contrast.py``). ``pool``: the
    sentences that training reads; ``dev_pool``: these and the pages of dev claims.
    """

    train: list[AnnotatedClaim]
    contrasts: list[Contrast]
    page_claims: list[PageClaim]
    dev: list[FeverClaim]
    pool: SentencePool
    dev_pool: SentencePool
    left_out: int
    digests: dict[str, str]

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        return (
            f"{len(self.train)} claims of FEVER's development set, {len(self.contrasts)} contrast"
            " claims made from them by exchanging one fact (`research/training/contrast.py`) and"
            f" {len(self.page_claims)} of Fool Me Twice; {self.left_out} were left out because they"
            " cite a page of a dev claim, or name one and are undecided, or read the same as a dev"
            " claim, and no sentence of such a page was read"
        )


def load_data(data: Path, cache: Path, seed: int) -> TrainingData:
    """Read the data; ``cache`` stores sentence vectors between runs, ``seed`` draws contrasts.

    Training claims are left out if they cite a page of a dev claim, have the same text as a dev
    claim, or are undecided and name such a page. Pages of dev claims are left out too.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    for name in FILES:
        if not (data / name).is_file():
            raise BadSource(
                "bad_data",
                f"{data} contains no {name}.",
                "Point --data at a folder with fever-dev and fm2 in it.",
            )
    dev = read_fever_claims(data / "fever-dev/dev.jsonl")
    held_out = {page for claim in dev for page in claim.pages}
    texts = {claim.text for claim in dev}
    annotated = [
        *read_fever_claims(data / "fever-dev/train.jsonl"),
        *read_union_claims(data / "fever-dev/train-union.jsonl"),
    ]
    one_page = read_page_claims(data / "fm2/train.jsonl")
    dev_pool = SentencePool(FeverCorpus(data / "fever-dev/wiki-pages"), MiniLMEncoder(), cache)
    named = CandidateFinder(dev_pool).named
    train = [
        claim
        for claim in annotated
        if claim.text not in texts
        and held_out.isdisjoint(claim.pages if claim.evidence else named(claim.text))
    ]
    titles = {s.title for s in dev_pool.sentences if s.page in held_out}
    page_claims = [claim for claim in one_page if claim.title not in titles]
    pool = dev_pool.without(held_out)
    return TrainingData(
        train=train,
        contrasts=contrast_claims(train, pool, seed),
        page_claims=page_claims,
        dev=dev,
        pool=pool,
        dev_pool=dev_pool,
        left_out=len(annotated) + len(one_page) - len(train) - len(page_claims),
        digests={name: digest_of(data / name) for name in FILES},
    )
