"""Which files an embedded index consists of, and how the current one is found.

index/
  current -> versions/<name>       swapped in one rename when a build is complete
  versions/<time>-<checksum>/      read-only, memory-mapped
    meta.json                      written last: what is here, each file's size and digest
    documents.jsonl                a document a line
    documents.npy                  where each line begins, uint64, and where the last ends
    ids.npy, titles.npy            sorted hashes and the documents they stand for
    vectors.npy                    float16, shape (documents, dimension)
    sentence_vectors.npy           float16, shape (sentences, dimension), in the documents' order
    sentence_starts.npy            which of them is each document's first, and how many there are
    title_tokens.npy               the titles as tokens, sorted: a prefix tree (titles.title_trie)
    title_starts.npy               where in it each title begins, and where the last ends
    title_documents.npy            which document each title is of
    lexical/                       tantivy
  building/                        what an unfinished build has done so far
  lock                             held while a build runs
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from retrieval.errors import IndexUnavailable
from retrieval.index.versions import FORMAT, META
from retrieval.mends import esoteric_command

DOCUMENTS = "documents.jsonl"
OFFSETS = "documents.npy"
IDS = "ids.npy"
TITLES = "titles.npy"
VECTORS = "vectors.npy"
SENTENCE_VECTORS = "sentence_vectors.npy"
SENTENCE_STARTS = "sentence_starts.npy"
TITLE_TOKENS = "title_tokens.npy"
TITLE_STARTS = "title_starts.npy"
TITLE_DOCUMENTS = "title_documents.npy"
LEXICAL = "lexical"
LOCK = "lock"
_META_KEYS = frozenset(
    [
        "format",
        "name",
        "source",
        "encoder",
        "documents",
        "sentences",
        "built_at",
        "checksum",
        "files",
    ]
)
_TOKENIZER = "words"


def rebuild(source: str = "vital") -> str:
    """Return the hint that names the command which builds the index anew."""
    return f"Run: {esoteric_command(f'index build --source {shlex.quote(source)}')}"


def key_hash(key: str) -> int:
    """Return 64 bits of a key; what is found by them is compared with the key itself."""
    digest = hashlib.blake2b(key.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def table(entries: Sequence[tuple[int, int]]) -> NDArray[np.uint64]:
    """Return (hash, value) pairs as two rows, sorted by hash and then by value."""
    rows = np.array(sorted(entries), dtype=np.uint64).reshape(-1, 2)
    return np.ascontiguousarray(rows.T)


def find(rows: NDArray[np.uint64], key: str) -> list[int]:
    """Return the values under the key's hash, by bisection of the first row."""
    wanted = np.uint64(key_hash(key))
    low = np.searchsorted(rows[0], wanted, side="left")
    high = np.searchsorted(rows[0], wanted, side="right")
    return [int(value) for value in rows[1, low:high]]


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def lexical_schema() -> tantivy.Schema:
    """Text with positions, and the document's number as a column."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name=_TOKENIZER, index_option="position")
    builder.add_unsigned_field("document", stored=False, indexed=False, fast=True)
    return builder.build()


def words_analyzer() -> tantivy.TextAnalyzer:
    """Words in lower case without accents, for index and query alike."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .build()
    )


def open_lexical(folder: Path) -> tantivy.Index:
    """Open or create the tantivy index in ``folder``."""
    index = tantivy.Index(lexical_schema(), path=str(folder))
    index.register_tokenizer(_TOKENIZER, words_analyzer())
    return index


def read_meta(version: Path) -> dict[str, Any]:
    """Return ``meta.json`` of a version whose files are all there and whole.

    Raises:
        IndexUnavailable: it is missing, damaged, or of another format.
    """
    try:
        meta: dict[str, Any] = json.loads((version / META).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise IndexUnavailable("index_missing", "There is no index yet.", rebuild()) from error
    except (OSError, ValueError) as error:
        raise IndexUnavailable("index_damaged", "The index is damaged.", rebuild()) from error
    source = str(meta.get("source", "vital")) if isinstance(meta, dict) else "vital"
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise IndexUnavailable(
            "index_format", "The index was built by another version of ESOTERIC.", rebuild(source)
        )
    if not meta.keys() >= _META_KEYS:
        raise IndexUnavailable("index_damaged", "The index is damaged.", rebuild(source))
    for name, kept in meta["files"].items():
        path = version / name
        if not path.is_file() or path.stat().st_size != kept["bytes"]:
            raise IndexUnavailable(
                "index_damaged",
                f"The index is damaged: {name} is not whole.",
                rebuild(source),
            )
    return meta
