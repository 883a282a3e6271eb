"""The data folder that ``esoteric train`` reads, checked and split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluation.claims import AnnotatedClaim, FeverClaim, read_fever_claims
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.errors import BadSource
from retrieval.index.layout import digest_of
from training.claims import PageClaim, read_page_claims, read_union_claims
from training.contrast import contrast_claims
from training.sentence_pool import SentencePool

FILES = (
    "fever-dev/train.jsonl",
    "fever-dev/train-union.jsonl",
    "fever-dev/dev.jsonl",
    "fm2/train.jsonl",
)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Claims to train on, claims to measure on, and the sentences of both.

    ``contrasts`` are made from ``train`` (``training/contrast.py``).
    """

    train: list[AnnotatedClaim]
    contrasts: list[AnnotatedClaim]
    page_claims: list[PageClaim]
    dev: list[FeverClaim]
    pool: SentencePool
    left_out: int
    digests: dict[str, str]

    @property
    def described(self) -> str:
        """What a card says of the claims."""
        return (
            f"{len(self.train)} claims of FEVER's development set ({self.left_out} were left out"
            f" because they cite a page of a dev claim), {len(self.contrasts)} contrast claims made"
            " from them by exchanging one fact (`training/contrast.py`) and"
            f" {len(self.page_claims)} of Fool Me Twice"
        )


def load_data(data: Path, cache: Path, seed: int) -> TrainingData:
    """Read the data; ``cache`` keeps sentence vectors between runs, ``seed`` makes contrasts.

    Training claims that cite a page of a dev claim, or read the same, are left
    out. The pages of dev claims stay in the pool: their sentences are read as
    what does not settle a training claim, never as its evidence.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    for name in FILES:
        if not (data / name).is_file():
            raise BadSource(
                "bad_data",
                f"{data} holds no {name}.",
                "Point --data at a folder with fever-dev and fm2 in it.",
            )
    dev = read_fever_claims(data / "fever-dev/dev.jsonl")
    held_out = {page for claim in dev for page in claim.pages}
    texts = {claim.text for claim in dev}
    annotated = [
        *read_fever_claims(data / "fever-dev/train.jsonl"),
        *read_union_claims(data / "fever-dev/train-union.jsonl"),
    ]
    train = [c for c in annotated if not c.pages & held_out and c.text not in texts]
    pool = SentencePool(data / "fever-dev/wiki-pages", MiniLMEncoder(), cache)
    return TrainingData(
        train=train,
        contrasts=contrast_claims(train, pool, seed),
        page_claims=read_page_claims(data / "fm2/train.jsonl"),
        dev=dev,
        pool=pool,
        left_out=len(annotated) - len(train),
        digests={name: digest_of(data / name) for name in FILES},
    )
