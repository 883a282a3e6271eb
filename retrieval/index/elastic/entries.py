"""How a document is stored in Elasticsearch: the mapping, and the entries sent and read.

A document and its sentences are one entry:

  record          the record of ``records``; stored, not searched
  id              to be read without the record; ``whole``: that of the long document of a passage
  titles          JSON list of the titles that find it, none for all passages but the first
  title_key       the keys that titles are compared by; ``plain_key``: without words in parentheses
  words           the text as the embedded index analyses it, so that both find the same documents
  numbers         those of its sentences, ascending
  vector          of the document, int8, in a graph (HNSW)
  code            the same bytes as a readable field, for similarities of known documents
  sentence_codes  the sentences' vectors as rows in the format of ``codes``
  digest          SHA-256 of record and vectors
  plan            the change of the index that wrote it (``Meta.plan``)

Of these only ``record`` is part of ``_source``; the others are rebuilt from it, or from vectors.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.index.formats.records import Record, line_of, names_of, whole_of
from retrieval.index.formats.title_key import split_disambiguation, title_key
from retrieval.index.formats.words import words_analyzer

Hit: TypeAlias = Mapping[str, Any]

FORMAT = 2

LONGEST_ID = 5000  # characters; as a field Elasticsearch takes 32,766 bytes
LONGEST_TEXT = 10_000_000  # characters; a request may have 100 MB, and the text is in it twice
_LONGEST_KEY = 512  # bytes of an ``_id``; longer keys are kept as their digests
_DIGESTED = "sha256:"
# A fixed number of shards: scores of one shard are those of the whole index, and a second copy,
# if there is a second node, answers when the first does not.
SETTINGS = {
    "number_of_shards": 1,
    "auto_expand_replicas": "0-1",
    "refresh_interval": "-1",
    "max_result_window": 10_000,
}


def mapping(dimension: int) -> dict[str, Any]:
    """Return the mapping of an index; ``dimension`` 0 for one without vectors."""
    key = {"type": "keyword", "doc_values": False}
    properties: dict[str, Any] = {
        "record": {"type": "object", "enabled": False},
        "id": {"type": "keyword", "index": False},
        "whole": {"type": "keyword"},
        "titles": {"type": "binary", "doc_values": True},
        "title_key": key,
        "plain_key": key,
        "words": {"type": "text", "analyzer": "whitespace"},
        "numbers": {"type": "integer", "index": False},
        "digest": {"type": "keyword", "index": False},
        "plan": {"type": "keyword", "doc_values": False},
    }
    if dimension:
        properties |= {
            "vector": {
                "type": "dense_vector",
                "dims": dimension,
                "element_type": "byte",
                "similarity": "cosine",
                "index": True,
                "index_options": {"type": "hnsw"},
            },
            "code": {"type": "binary", "doc_values": True},
            "sentence_codes": {"type": "binary", "doc_values": True},
        }
    return {"dynamic": "strict", "_source": {"includes": ["record"]}, "properties": properties}


def key_of(text: str) -> str:
    """Return the stored form of an id or a title's key: itself, or its digest if it is long."""
    encoded = text.encode("utf-8")
    if 0 < len(encoded) <= _LONGEST_KEY and not text.startswith(_DIGESTED):
        return text
    return f"{_DIGESTED}{hashlib.sha256(encoded).hexdigest()}"


def analysed(text: str) -> str:
    """Return the words of a text as the embedded index finds them, with spaces between."""
    return " ".join(_analyzer().analyze(text))


def entry_of(record: Record, *vectors: NDArray[Any]) -> dict[str, Any]:
    """Return the entry of a document.

    ``vectors``: that of the document, int8, and the codes of its sentences, uint8; or none.
    """
    titles = names_of(record)
    plain = [short for short, words in map(split_disambiguation, titles) if words is not None]
    entry = {
        "record": record,
        "id": record["id"],
        "whole": key_of(whole_of(record)),
        "titles": base64.b64encode(json.dumps(titles).encode("utf-8")).decode("ascii"),
        "title_key": [key_of(title_key(title)) for title in titles],
        "plain_key": [key_of(title_key(short)) for short in plain],
        "words": analysed(record["text"]),
        "numbers": [number for number, _, _ in record["sentences"]],
        "digest": digest_of(record, *vectors),
    }
    if vectors:
        code, sentence_codes = vectors
        entry |= {"code": packed(code), "sentence_codes": packed(sentence_codes)}
        if code.any():  # nothing is near a vector of zeros
            entry["vector"] = code.tolist()
    return entry


def digest_of(record: Mapping[str, Any], *arrays: NDArray[Any]) -> str:
    """Return the digest of a document and its vectors."""
    digest = hashlib.sha256(line_of(dict(record)))
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def packed(array: NDArray[Any]) -> str:
    """Return the bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


@dataclass(frozen=True, slots=True)
class SentenceCodes:
    """A document's sentences: their numbers, ascending, and a code of each, ``(n, columns)``."""

    numbers: tuple[int, ...]
    codes: NDArray[np.uint8]


def id_in(hit: Hit) -> str:
    """Return the id of the document of a hit."""
    return str(value_in(hit, "id"))


def titles_in(hit: Hit) -> list[str]:
    """Return the titles that find the document of a hit."""
    titles: list[str] = json.loads(base64.b64decode(value_in(hit, "titles")))
    return titles


def code_in(hit: Hit) -> NDArray[np.int8]:
    """Return the bytes of the document's vector in a hit, shape ``(dimension,)``."""
    return np.frombuffer(base64.b64decode(value_in(hit, "code")), np.int8)


def sentence_codes_in(hit: Hit, dimension: int) -> SentenceCodes:
    """Return the codes of the sentences in a hit; see ``codes``."""
    columns = -(-dimension // 8) + 2
    packed_codes = base64.b64decode(value_in(hit, "sentence_codes") or "")
    rows = np.frombuffer(packed_codes, np.uint8).reshape(-1, columns)
    return SentenceCodes(tuple(hit.get("fields", {}).get("numbers", ())), rows)


def value_in(hit: Hit, field: str) -> Any:
    """Return the value of a field that was read without the record; None if it has none."""
    return hit.get("fields", {}).get(field, [None])[0]


@cache
def _analyzer() -> Any:
    return words_analyzer()
