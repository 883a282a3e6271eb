"""Small pools of sentences for tests of what models are trained on."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from research.evaluation.claims import AnnotatedClaim, FeverClaim
from research.training.contrast import Contrast
from research.training.data import PageClaim, TrainingData
from research.training.loop import Example
from research.training.sentence_pool import SentencePool
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.models.encoders import TextEncoder
from retrieval.types import LABELS
from tests.support.json_lines import write_json_lines

# A few words in the files of WordNet's database (wndb(5WN)); a line begins with its place in bytes.
WORDNET = Path(__file__).with_name("wordnet")


def fever_page(page: str, *sentences: str) -> dict[str, str]:
    """Return a page as FEVER's files have it."""
    lines = "\n".join(f"{number}\t{text}" for number, text in enumerate(sentences))
    return {"id": page, "text": " ".join(sentences), "lines": lines}


def data_of(
    pool: SentencePool,
    *train: AnnotatedClaim,
    contrasts: Sequence[Contrast] = (),
    page_claims: Sequence[PageClaim] = (),
    dev: Sequence[FeverClaim] = (),
) -> TrainingData:
    """Return data to train on whose sentences are those of one pool."""
    return TrainingData(
        list(train), list(contrasts), list(page_claims), list(dev), pool, pool, 0, {}
    )


def label_of(example: Example) -> str:
    """Return the label of an example that has just one."""
    return LABELS[example.target.index(1.0)]


def pool_of(pages: Mapping[str, Sequence[str]], encoder: TextEncoder, folder: Path) -> SentencePool:
    """Write the pages as FEVER does and read them back."""
    records = [fever_page(page, *sentences) for page, sentences in pages.items()]
    write_json_lines(folder / "wiki-001.jsonl", *records)
    return SentencePool(FeverCorpus(folder), encoder, folder / "vectors")
