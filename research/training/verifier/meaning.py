"""Pairs about meaning: a claim that follows in other words, or does not follow in the same words.

Terms of office, numbers in other forms, names, roles, order in time, exceptions, tables, one step
of common sense. Public pairs have few of these, so a verifier trained on them compares words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from research.evaluation.claims import labelled_records, page_key, sentence_keys
from research.evaluation.pairs import Pair, read_pairs
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.errors import BadSource
from retrieval.system.files import digest_of
from retrieval.text.model_texts import evidence_set_text

# The project's own data set. ``documents.jsonl`` names sentences of the default corpus.
OWN = Path(__file__).resolve().parents[2] / "datasets" / "meaning"
_NAME = "research/datasets/meaning/"


@dataclass(frozen=True, slots=True)
class MeaningData:
    """Pairs to train on, and pairs about other texts to measure on."""

    examples: list[Example]
    held_out: list[Pair]
    digests: dict[str, str]

    @property
    def described(self) -> str:
        """The description of the pairs in a card."""
        return (
            f"{len(self.examples)} pairs about meaning, of `{_NAME}` and `meaning/train-*.jsonl`;"
            f" the {len(self.held_out)} of `held-out.jsonl` have other texts"
        )


def load_meaning(data: Path, pool: SentencePool) -> MeaningData:
    """Read ``research/datasets/meaning`` and the folder ``meaning`` of the data.

    ``pool``: the sentences of the default corpus.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    shared = sorted((data / "meaning").glob("train*.jsonl"))
    if not shared:
        raise BadSource(
            "bad_data",
            f"{data} contains no meaning/train*.jsonl.",
            "Point --data at a folder with meaning in it.",
        )
    documents = OWN / "documents.jsonl"
    texts = [OWN / "train.jsonl", *shared]
    return MeaningData(
        examples=[
            *(labelled(p.claim, p.evidence, p.label) for file in texts for p in read_pairs(file)),
            *_of_documents(documents, pool),
        ],
        held_out=list(read_pairs(OWN / "held-out.jsonl")),
        digests={
            **{_NAME + path.name: digest_of(path) for path in (texts[0], documents)},
            **{f"meaning/{path.name}": digest_of(path) for path in shared},
        },
    )


def _of_documents(path: Path, pool: SentencePool) -> Iterator[Example]:
    """Yield the pairs of claims and ``sentences`` of the default corpus, [document id, number]."""
    for where, record, label in labelled_records(path):
        keys = sentence_keys(record["sentences"], where)
        found = [pool.sentences[pool.position[page_key(page), n]] for page, n in keys]
        text = evidence_set_text([(one.title, one.text) for one in found])
        yield labelled(record["claim"], text, label)
