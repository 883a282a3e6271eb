"""Everyday claims about the default corpus, and its sentences, as training data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from research.evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from research.training.sentence_pool import SentencePool
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import BadSource
from retrieval.models.encoders import MiniLMEncoder
from retrieval.system.files import digest_of

# The project's own data sets, written by hand about pages of the default corpus.
_DATASETS = Path(__file__).resolve().parents[1] / "datasets"
OWN = tuple(_DATASETS / name / "claims.jsonl" for name in ("everyday", "misreadings"))


@dataclass(frozen=True, slots=True)
class EverydayData:
    """Claims to train on, claims to measure on, and the sentences of the default corpus.

    ``dev``: claims of ``vital/dev.jsonl``; ``dev_2``: those of ``vital/dev-2.jsonl``, which nobody
    has read. No page with evidence of one of them has evidence of a training claim.
    """

    claims: list[CorpusClaim]
    dev: list[CorpusClaim]
    dev_2: list[CorpusClaim]
    pool: SentencePool
    digests: dict[str, str]

    @property
    def measured_pages(self) -> frozenset[str]:
        """The pages with evidence of a claim that is measured on."""
        return frozenset(page for claim in (*self.dev, *self.dev_2) for page in claim.pages)

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        return (
            f"{len(self.claims)} everyday claims over the default corpus"
            " (`research/datasets/everyday` and `misreadings`, `vital/train*.jsonl`), without those"
            " whose evidence is on a page with evidence of a claim of `vital/dev.jsonl` or"
            " `dev-2.jsonl`; sentences of such pages are among those that settle nothing"
        )


def load_everyday(data: Path, cache: Path) -> EverydayData:
    """Read the project's own claims and the folder ``vital`` of the data.

    ``cache`` stores sentence vectors between runs. Training claims whose evidence is on a page with
    evidence of a dev claim are left out.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    shared = sorted((data / "vital").glob("train*.jsonl"))
    if not shared:
        raise BadSource(
            "bad_data",
            f"{data} contains no vital/train*.jsonl.",
            "Point --data at a folder with vital in it.",
        )
    measured = [data / "vital" / name for name in ("dev.jsonl", "dev-2.jsonl")]
    dev, dev_2 = map(read_corpus_claims, measured)
    held_out = frozenset(page for claim in (*dev, *dev_2) for page in claim.pages)
    claims = [
        claim
        for path in (*OWN, *shared)
        for claim in read_corpus_claims(path)
        if held_out.isdisjoint(claim.pages)
    ]
    files = {
        **{f"research/datasets/{path.parent.name}/claims.jsonl": path for path in OWN},
        **{f"vital/{path.name}": path for path in (*shared, *measured)},
    }
    return EverydayData(
        claims=claims,
        dev=dev,
        dev_2=dev_2,
        pool=SentencePool(VitalCorpus(), MiniLMEncoder(), cache),
        digests={name: digest_of(path) for name, path in files.items()},
    )
