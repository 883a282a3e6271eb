"""People's own papers with claims, read as the product reads the files of a folder.

A line of ``research/datasets/papers`` is ``{"name", "text", "claims"}``: a file, and
its claims, each ``{"claim", "label", "kind", "where"}`` with pieces of the lines that settle it.
The verifier reads each claim with these lines under their headings, as a search reads them
(``verification``), with the sentences around them, as its verdict does, and with other lines of the
paper that resemble the claim. The relevance model reads it with each of these lines alone, and with
other lines of the paper.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from research.evaluation.claims import Pair, bad_line, read_json_lines
from research.training.data import PairData
from research.training.loop import Example, labelled
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.folder.folder_corpus import FolderCorpus
from retrieval.index.formats.records import document_of, records_of
from retrieval.system.files import digest_of
from retrieval.text.context import context_of, evidence_set_text, evidence_text, passage_of
from retrieval.text.sentence_splitter import SentenceSplitter
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Document, Label, Sentence

_WORD = re.compile(r"\w+")
_OF_ALL = re.compile(
    r"\b(?:all|every|each|only|no|none|nobody|never|nowhere|most|least|\w+est)\b", re.IGNORECASE
)

PAPERS = Path(__file__).resolve().parents[1] / "datasets" / "papers"
TRAIN, HELD_OUT = PAPERS / "train.jsonl", PAPERS / "held-out.jsonl"
_NAME = "research/datasets/papers/"
LONGEST = 800  # characters of claim and evidence; models read 160 tokens or 192
_MOST_ALIKE = 4


def load_papers() -> PairData:
    """Read ``research/datasets/papers``: a reading of each claim, always the same one, in order.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    read = (labelled(pair.claim, pair.evidence, pair.label) for pair in paper_pairs(TRAIN))
    short = (example for example in read if example.length <= LONGEST)
    chance = random.Random(0)
    examples = [chance.choice(list(same)) for _, same in groupby(short, attrgetter("claim"))]
    held_out = list(paper_pairs(HELD_OUT))
    return PairData(
        examples,
        held_out,
        digests=paper_digests(),
        described=f"{len(examples)} readings of people's own papers, of `{_NAME}train.jsonl`;"
        f" the {len(held_out)} of `held-out.jsonl` are of other papers",
    )


def paper_digests() -> dict[str, str]:
    """Return the SHA-256 of the files that are read."""
    return {_NAME + path.name: digest_of(path) for path in (TRAIN, HELD_OUT)}


def paper_pairs(path: Path) -> Iterator[Pair]:
    """Yield each claim with its lines, and again with their passages where these say more.

    Raises:
        BadSource: the file cannot be read, a line is not such a document, or a piece stands in no
            sentence that is read of its file; the message names file and line.
    """
    for _, claim, _, found in _claims_of(path):
        alone = evidence_set_text([_as_read(d, s) for d, s in found])
        around = evidence_set_text([(d.heading, passage_of(d, s.key)) for d, s in found])
        pair = Pair(claim["claim"], alone, claim["label"], None, "papers", claim["kind"])
        yield pair
        if around != alone:
            yield replace(pair, evidence=around)


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim with the sentences of its paper, as they are read.

    ``paper``: the number of the paper's line. ``gold``: the sentences of the claim's lines.
    """

    text: str
    label: Label
    paper: int
    gold: tuple[str, ...]
    others: tuple[str, ...]


def paper_claims(path: Path) -> Iterator[PaperClaim]:
    """Yield each claim with the sentences of its paper; raises as ``paper_pairs``."""
    for paper, claim, documents, found in _claims_of(path):
        gold = tuple(evidence_text(*_as_read(d, s)) for d, s in found)
        settling = [sentence.text for _, sentence in found]
        everything = (evidence_text(*_as_read(d, s)) for d in documents for s in d.sentences)
        # A sentence may be read with the one before it.
        others = tuple(one for one in everything if not any(text in one for text in settling))
        yield PaperClaim(claim["claim"], claim["label"], paper, gold, others)


def paper_sentences(path: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield the sentences of each paper with their headings, as they are read."""
    papers = {one.paper: one.documents for one in _claims_of(path)}
    for documents in papers.values():
        yield [_as_read(d, s) for d in documents for s in d.sentences]


def beside_examples(claims: Iterable[PaperClaim], seed: int) -> list[Example]:
    """Return each decided claim with another sentence of its paper, which does not settle it.

    It is drawn from the ``_MOST_ALIKE`` with the most words of the claim: other rows of a table,
    for example, which a search reads too. What refutes a claim about all or none may be in any
    sentence, so such claims are left out.
    """
    chance, examples = random.Random(seed), list[Example]()
    for claim in claims:
        said = set(_WORD.findall(claim.text.casefold()))
        near = sorted(claim.others, key=lambda text: -len(said & {*_WORD.findall(text.casefold())}))
        if near and claim.label != NOT_ENOUGH_INFO and not _OF_ALL.search(claim.text):
            other = chance.choice(near[:_MOST_ALIKE])
            examples.append(labelled(claim.text, other, NOT_ENOUGH_INFO))
    return [example for example in examples if example.length <= LONGEST]


class _Settled(NamedTuple):
    """A claim, the number and the documents of its paper, and the sentences of its lines."""

    paper: int
    claim: Mapping[str, Any]
    documents: list[Document]
    found: list[tuple[Document, Sentence]]


@lru_cache(maxsize=2)  # training reads each file for several kinds of examples
def _claims_of(path: Path) -> tuple[_Settled, ...]:
    return tuple(_read_claims(path))


def _read_claims(path: Path) -> Iterator[_Settled]:
    records = list(read_json_lines(path, ("name", "text")))
    with TemporaryDirectory() as folder:
        for number, record in records:
            file = Path(folder, f"{number}", record["name"])
            file.parent.mkdir()
            file.write_text(record["text"], encoding="utf-8")
        papers = _read(Path(folder))
    for number, record in records:
        documents, where = papers[f"{number}"], f"{path}, line {number}"
        for claim in record["claims"]:
            if claim["label"] not in LABELS:
                raise bad_line(where, f"the label {claim['label']!r}")
            pieces = claim["where"]
            if not pieces:
                raise bad_line(where, "a claim without pieces of its lines")
            try:
                found = list(dict.fromkeys(_sentence_with(piece, documents) for piece in pieces))
            except LookupError as error:
                what = f"{error.args[0]!r} stands in no sentence that is read of the file"
                raise bad_line(where, what) from error
            yield _Settled(number, claim, documents, found)


def _read(folder: Path) -> Mapping[str, list[Document]]:
    """Return the documents of each folder's file: one, or the passages of a long one."""
    found: dict[str, list[Document]] = {}
    for record in records_of(list(readable_pages(FolderCorpus(folder))), SentenceSplitter()):
        document = document_of(record)
        found.setdefault(document.id.partition("/")[0], []).append(document)
    return found


def _as_read(document: Document, sentence: Sentence) -> tuple[str, str]:
    before, after = context_of(document, sentence)
    return document.heading, " ".join(filter(None, (before, sentence.text, after)))


def _sentence_with(piece: str, documents: list[Document]) -> tuple[Document, Sentence]:
    """Return the first sentence with the words of the piece: side by side, else in their order.

    The cells of a row have the names of their columns between them.
    """
    everything = [(d, s) for d in documents for s in d.sentences]
    words = _WORD.findall(piece.casefold())
    for said in (_side_by_side, _in_order):
        for document, sentence in everything:
            if said(words, _WORD.findall(sentence.text.casefold())):
                return document, sentence
    for document, sentence in everything:
        if _side_by_side(words, _WORD.findall(document.heading.casefold())):
            return document, sentence
    raise LookupError(piece)


def _side_by_side(words: list[str], text: list[str]) -> bool:
    return " ".join(words) in " ".join(text)


def _in_order(words: list[str], text: list[str]) -> bool:
    rest = iter(text)
    return all(word in rest for word in words)
