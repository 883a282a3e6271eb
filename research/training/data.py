"""The data that ``esoteric train`` reads, checked and split: FEVER, Fool Me Twice, everyday."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from research.evaluation.claims import (
    AnnotatedClaim,
    CorpusClaim,
    FeverClaim,
    Pair,
    bad_line,
    labelled_records,
    read_corpus_claims,
    read_fever_claims,
    read_json_lines,
    sentence_keys,
)
from research.training.contrast import Contrast, contrast_claims
from research.training.loop import Example
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import BadSource
from retrieval.models.encoders import MiniLMEncoder
from retrieval.system.files import digest_of
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label


@dataclass(frozen=True, slots=True)
class PageClaim:
    """A Fool Me Twice claim: its page's title, its gold sentences and others of the page."""

    text: str
    label: Label
    title: str
    gold: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairData:
    """Pairs to train on, and others to measure on; ``described``: what a card says of them."""

    examples: list[Example]
    held_out: list[Pair]
    digests: dict[str, str]
    described: str


def read_union_claims(path: Path) -> list[AnnotatedClaim]:
    """Read FEVER claims for which only the union of all evidence sets is known.

    The union is used as the only set.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    claims = []
    for where, record, label in labelled_records(path):
        try:
            union = sentence_keys(record["evidence_union"], where)
        except (KeyError, TypeError, ValueError) as error:
            raise bad_line(where, "no pairs under 'evidence_union'") from error
        claims.append(
            AnnotatedClaim(record["claim"], label, () if label == NOT_ENOUGH_INFO else (union,))
        )
    return claims


def read_page_claims(path: Path) -> list[PageClaim]:
    """Read Fool Me Twice claims.

    Raises:
        BadSource: a line is not such a claim; the message names file and line.
    """
    claims = []
    for number, record in read_json_lines(path, ("text", "label", "wikipedia_page")):
        where = f"{path}, line {number}"
        if record["label"] not in LABELS:
            raise bad_line(where, f"the label is none of {', '.join(LABELS)}")
        label: Label = record["label"]
        try:
            gold = tuple(entry["text"] for entry in record["gold_evidence"])
            retrieved = tuple(entry["text"] for entry in record["retrieved_evidence"])
        except (KeyError, TypeError) as error:
            raise bad_line(where, "no gold_evidence and retrieved_evidence") from error
        others = tuple(text for text in retrieved if text not in gold)
        claims.append(PageClaim(record["text"], label, record["wikipedia_page"], gold, others))
    return claims


# For training, to measure on, and more for training. The pages, ``wiki-pages``, are beside them.
FILES = (
    "fever-dev/train.jsonl",
    "fever-dev/dev.jsonl",
    "fever-dev/train-union.jsonl",
    "fm2/train.jsonl",
)
RELEASE = ("train.jsonl", "shared_task_dev.jsonl")  # of FEVER's release


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
    released: bool = False

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        if self.released:
            return (
                f"{len(self.train)} claims of FEVER's training set and {len(self.contrasts)}"
                " contrast claims made from them by exchanging one fact"
                f" (`research/training/contrast.py`); {self.left_out} were left out because the"
                " pages lack their evidence, or they read the same as a dev claim; sentences of"
                f" {len(self.pool.by_page)} pages"
            )
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
    claim, or are undecided and name such a page. Pages of dev claims are left out too. A folder
    with the files of ``RELEASE`` has FEVER's own division instead, which published systems are
    trained and measured on: only claims with the text of a dev claim are left out. Evidence sets
    that are not whole on the pages are left out, and claims without another.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    released = (data / RELEASE[1]).is_file()
    files = RELEASE if released else FILES
    for name in files:
        if not (data / name).is_file():
            raise BadSource(
                "bad_data",
                f"{data} contains no {name}.",
                "Point --data at a folder with fever-dev and fm2 in it, or at FEVER's release"
                f" ({', '.join(RELEASE)}, wiki-pages).",
            )
    train_file, dev_file, *more = (data / name for name in files)
    annotated: list[AnnotatedClaim] = [*read_fever_claims(train_file)]
    one_page = list[PageClaim]()
    if more:
        annotated += read_union_claims(more[0])
        one_page = read_page_claims(more[1])
    dev = read_fever_claims(dev_file)
    cited = {page for claim in (*annotated, *dev) for page in claim.pages}
    pages = FeverCorpus(dev_file.parent / "wiki-pages")
    dev_pool = SentencePool(pages, MiniLMEncoder(), cache, cited)
    dev = _on_pages(dev, dev_pool)
    held_out = set() if released else {page for claim in dev for page in claim.pages}
    texts = {claim.text for claim in dev}
    named = CandidateFinder(dev_pool).named
    train = [
        claim
        for claim in _on_pages(annotated, dev_pool)
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
        digests={name: digest_of(data / name) for name in files},
        released=released,
    )


_ClaimT = TypeVar("_ClaimT", bound=AnnotatedClaim)


def _on_pages(claims: Sequence[_ClaimT], pool: SentencePool) -> list[_ClaimT]:
    """Return the claims with their evidence sets that are whole in the pool."""
    found = []
    for claim in claims:
        sets = tuple(one for one in claim.evidence if len(pool.rows(one)) == len(one))
        if sets or not claim.evidence:
            found.append(replace(claim, evidence=sets))
    return found


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


def training_files(data: Path, folder: str) -> list[Path]:
    """Return the files ``train*.jsonl`` of a folder of the training data, by name.

    Raises:
        BadSource: there are none.
    """
    found = sorted((data / folder).glob("train*.jsonl"))
    if not found:
        raise BadSource(
            "bad_data",
            f"{data} contains no {folder}/train*.jsonl.",
            f"Point --data at a folder with {folder} in it.",
        )
    return found


def load_everyday(data: Path, cache: Path) -> EverydayData:
    """Read the project's own claims and the folder ``vital`` of the data.

    ``cache`` stores sentence vectors between runs. Training claims whose evidence is on a page with
    evidence of a dev claim are left out.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    shared = training_files(data, "vital")
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
