"""What one chunk of a corpus becomes: a part of a segment, kept in a file until all are there."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.index.hash_table import key_hash
from retrieval.index.records import (
    DOCUMENTS_A_BLOCK,
    compressed,
    line_of,
    lines_of,
    records_of,
)
from retrieval.index.sentence_splitter import SentenceSplitter
from retrieval.index.title_key import split_disambiguation, title_key
from retrieval.titles.title_tokenizer import TitleTokenizer


@dataclass(frozen=True, slots=True)
class Part:
    """Documents that lie together, as arrays; ``n`` documents.

    Attributes:
        digest: SHA-256 of the records, 32 bytes.
        blocks: compressed records, joined, uint8.
        block_sizes: bytes of each block.
        block_documents: documents of each block.
        ids: the ids in UTF-8, joined, uint8.
        id_sizes: bytes of each id, shape ``(n,)``.
        id_hashes: shape ``(n,)``.
        title_hashes: of titles, and of titles without their words in parentheses.
        title_values: for each twice the number of its document here, plus one if without.
        title_tokens: all titles' tokens, joined.
        title_sizes: tokens of each title, shape ``(n,)``.
        sentences: sentences of each document, shape ``(n,)``.
        bad_pages: those that could not be read, as JSON, uint8.
    """

    digest: NDArray[np.uint8]
    blocks: NDArray[np.uint8]
    block_sizes: NDArray[np.uint32]
    block_documents: NDArray[np.uint32]
    ids: NDArray[np.uint8]
    id_sizes: NDArray[np.uint32]
    id_hashes: NDArray[np.uint64]
    title_hashes: NDArray[np.uint64]
    title_values: NDArray[np.uint64]
    title_tokens: NDArray[np.uint16]
    title_sizes: NDArray[np.uint32]
    sentences: NDArray[np.uint32]
    bad_pages: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self.sentences)

    def to_bytes(self) -> bytes:
        """Return what ``read_part`` reads."""
        stream = io.BytesIO()
        np.savez(stream, **{field.name: getattr(self, field.name) for field in fields(self)})
        return stream.getvalue()

    def unreadable(self) -> list[BadPage]:
        """Return the pages that could not be read."""
        return [BadPage(**bad) for bad in json.loads(self.bad_pages.tobytes())]


def read_part(path: Path) -> Part:
    """Read what ``Part.to_bytes`` wrote."""
    with np.load(path) as arrays:
        return Part(**{field.name: arrays[field.name] for field in fields(Part)})


def texts_of(part: Part) -> list[str]:
    """Return the documents' texts."""
    ends = np.cumsum(part.block_sizes)
    blocks = np.split(part.blocks, ends[:-1]) if len(ends) else []
    return [json.loads(line)["text"] for block in blocks for line in lines_of(block.tobytes())]


def part_of(chunk: Chunk) -> tuple[Part, list[str]]:
    """Return a chunk's part, and the texts of its documents for the lexical index.

    Raises:
        ModelUnavailable: the splitter cannot be loaded.
    """
    pages, bad = [], []
    for page in chunk:
        if isinstance(page, Page):
            pages.append(page)
        else:
            bad.append(page)
    records = records_of(pages, _splitter())
    lines = [line_of(record) for record in records]
    blocks = list(compressed(lines))
    ids = [record["id"].encode("utf-8") for record in records]
    titles = [entry for n, record in enumerate(records) for entry in _titles(record["title"], n)]
    tokens = _tokenizer().tokens([record["title"] for record in records])
    digest = hashlib.sha256(b"".join(lines)).digest()
    starts = range(0, len(records), DOCUMENTS_A_BLOCK)
    part = Part(
        digest=_bytes(digest),
        blocks=_bytes(b"".join(blocks)),
        block_sizes=_sizes(blocks),
        block_documents=np.array(
            [min(DOCUMENTS_A_BLOCK, len(records) - start) for start in starts], dtype=np.uint32
        ),
        ids=_bytes(b"".join(ids)),
        id_sizes=_sizes(ids),
        id_hashes=np.array([key_hash(record["id"]) for record in records], dtype=np.uint64),
        title_hashes=np.array([hashed for hashed, _ in titles], dtype=np.uint64),
        title_values=np.array([value for _, value in titles], dtype=np.uint64),
        title_tokens=np.array([token for title in tokens for token in title], dtype=np.uint16),
        title_sizes=_sizes(tokens),
        sentences=_sizes([record["sentences"] for record in records]),
        bad_pages=_bytes(json.dumps([asdict(page) for page in bad]).encode("utf-8")),
    )
    return part, [record["text"] for record in records]


def _titles(title: str, number: int) -> list[tuple[int, int]]:
    """A title is found by all of it, and without its words in parentheses (the odd values)."""
    plain, words = split_disambiguation(title)
    entries = [(key_hash(title_key(title)), 2 * number)]
    if words is not None:
        entries.append((key_hash(title_key(plain)), 2 * number + 1))
    return entries


def _bytes(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)


def _sizes(values: Sequence[Any]) -> NDArray[np.uint32]:
    return np.array([len(value) for value in values], dtype=np.uint32)


@cache
def _splitter() -> SentenceSplitter:
    return SentenceSplitter()


@cache
def _tokenizer() -> TitleTokenizer:
    return TitleTokenizer()
