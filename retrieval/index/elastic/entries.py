"""How documents are stored in Elasticsearch: the mapping, its description, and the entries.

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

A build takes the entries of unchanged documents from the version that it updates. The record of a
page is made again from the page and the stored sentences. If it and the stored vectors have the
stored digest, the page is unchanged and its entry is whole, so the page is neither split nor
encoded again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import Chunk, Page
from retrieval.errors import IndexUnavailable
from retrieval.index.batches import batched
from retrieval.index.building import Plan, name_of, pages_in, prepare_networks
from retrieval.index.elastic.cluster import Cluster, Hit
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.formats.codes import as_bytes, codes, rotation
from retrieval.index.formats.records import (
    Record,
    encodable,
    line_of,
    names_of,
    record_of,
    records_of,
    whole_of,
)
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.index.formats.words import words_analyzer
from retrieval.index.interface import Description
from retrieval.models.encoders import DocumentEncoder
from retrieval.text.sentence_splitter import shared_splitter

FORMAT = 2
_KEY = "esoteric"  # in ``_meta`` of a mapping
_ROTATION_NUMBERS = 8

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
_PAGES_AT_ONCE = 1000  # pages whose entries are read in one request
VECTORS = {"code": np.int8, "sentence_codes": np.uint8}

logger = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticMeta(Description):
    """The description of a version and of the work on it.

    Attributes:
        version: the name of the Elasticsearch index that this was written for. A copy of the index
            has another name, and is not valid until its own name is written here.
        plan: a digest of the ``Plan``; ``work``: the plan in words.
        dimension: the length of the vectors, or 0.
        rotation: some numbers of the matrix that rotates the vectors.
        items: the number of finished items of the work; ``pages``: how many of their pages could
            be read; ``first_bad``: the first that could not.
    """

    format: int
    version: str
    plan: str
    work: str
    dimension: int
    rotation: tuple[float, ...]
    items: int = 0
    pages: int = 0
    first_bad: str = ""

    @classmethod
    def begun(cls, plan: Plan, about: Description, of: str = "", **changes: Any) -> ElasticMeta:
        """Return the description of the work on a plan before anything is written.

        ``about``: the version or the corpus that it begins with. ``of``: the name of the version
        that is changed. ``changes``: other values than those of ``about``.
        """
        own = {"version": "", "dimension": 0, "rotation": ()} | asdict(about) | changes
        digest = plan.digest(format=FORMAT, **({"of": of} if of else {}))
        begun = {"format": FORMAT, "plan": digest, "work": plan.work, "items": 0, "pages": 0}
        return cls.read(own | begun)

    @classmethod
    def of_mapping(cls, found: Mapping[str, Any], version: str) -> ElasticMeta | None:
        """Return the description in the mapping of an index of this name, if it has a valid one."""
        values = found.get("_meta", {}).get(_KEY)
        if not isinstance(values, dict) or values.get("version") != version:
            return None
        try:
            return cls.read(values | {"rotation": tuple(values["rotation"])})
        except (KeyError, TypeError):
            return None

    def to_mapping(self) -> dict[str, Any]:
        """Return the content of ``_meta``."""
        return {_KEY: asdict(self)}

    def turns_alike(self) -> bool:
        """Return whether this machine rotates vectors as the one did that made those stored."""
        ours = _rotation_numbers(self.dimension)
        return all(abs(a - b) < 1e-2 for a, b in zip(self.rotation, ours, strict=True))


def vectors_of(encoder: DocumentEncoder | None) -> dict[str, Any]:
    """Return what a description says of the vectors of an encoder, if there is one."""
    dimension = encoder.dimension if encoder is not None else 0
    return {
        "encoder": name_of(encoder),
        "meets": encoder.query_encoder if encoder is not None else "",
        "dimension": dimension,
        "rotation": _rotation_numbers(dimension),
    }


def _rotation_numbers(dimension: int) -> tuple[float, ...]:
    """Return some numbers of ``codes.rotation``, by which machines can compare theirs."""
    if not dimension:
        return ()
    return tuple(float(number) for number in rotation(dimension).sum(axis=0)[:_ROTATION_NUMBERS])


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
        "digest": digest_of(record),
    }
    return with_vectors(entry, *vectors) if vectors else entry


def with_vectors(
    entry: dict[str, Any], code: NDArray[Any], sentence_codes: NDArray[Any]
) -> dict[str, Any]:
    """Return an entry that has none with the vectors of its document and sentences."""
    own: dict[str, Any] = {
        "digest": digest_of(entry["record"], code, sentence_codes),
        "code": packed(code),
        "sentence_codes": packed(sentence_codes),
    }
    if code.any():  # nothing is near a vector of zeros
        own["vector"] = code.tolist()
    return entry | own


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


def vectors_in(hit: Hit) -> list[NDArray[Any]]:
    """Return the vectors in a hit, flat, as ``digest_of`` takes them."""
    stored = ((value_in(hit, field) or "", kind) for field, kind in VECTORS.items())
    return [np.frombuffer(base64.b64decode(text), kind) for text, kind in stored]


def value_in(hit: Hit, field: str) -> Any:
    """Return the value of a field that was read without the record; None if it has none."""
    return hit.get("fields", {}).get(field, [None])[0]


@cache
def _analyzer() -> Any:
    return words_analyzer()


class UnchangedEntries:
    """Reads the entries of the version that a build updates; each process has connections."""

    def __init__(self, location: ElasticLocation, version: str, dimension: int) -> None:
        """Store the version, and the length of its vectors, 0 without; it is not read yet."""
        self._location = location
        self._version = version
        self._vectors = VECTORS if dimension else {}
        self._readable = True

    @cached_property
    def _cluster(self) -> Cluster:
        return Cluster(self._location)

    def of(self, pages: Sequence[Page]) -> list[dict[str, Any] | None]:
        """Return the entry of each page without its plan; None if the page must be made again.

        That is so if the page is new, has changed, or its entry is damaged or cannot be read.
        """
        entries: list[dict[str, Any] | None] = []
        for some in batched(pages, _PAGES_AT_ONCE):
            hits = self._hits(some)
            entries += [self._unchanged(page, hits.get(page.id)) for page in some]
        return entries

    def _hits(self, pages: Sequence[Page]) -> dict[str, Hit]:
        """Return the stored entries with the ids of the pages; none if they cannot be read.

        Of the record only the sentences are read: the texts may be longer than those of the pages.
        """
        body = {
            "query": {"ids": {"values": list({key_of(page.id) for page in pages})}},
            "size": len(pages),
            "docvalue_fields": ["id", "digest", *self._vectors],
            "_source": ["record.sentences"],
            "track_total_hits": False,
        }
        try:
            (hits,) = self._cluster.searches(self._version, [body], patient=True)
        except IndexUnavailable as error:
            if self._readable:
                logger.warning("Unchanged documents may be made again: %s", error)
            self._readable = False
            return {}
        return {id_in(hit): hit for hit in hits}

    def _unchanged(self, page: Page, hit: Hit | None) -> dict[str, Any] | None:
        if hit is None:
            return None
        sentences = hit.get("_source", {}).get("record", {}).get("sentences", ())
        vectors = vectors_in(hit) if self._vectors else []
        record = record_of(page, sentences)
        if digest_of(record, *vectors) != value_in(hit, "digest"):
            return None
        return entry_of(record, *vectors)


@dataclass(frozen=True, slots=True)
class MadeEntries:
    """The entries of an item: a chunk of pages, or some records.

    Attributes:
        entries: the documents to send to Elasticsearch.
        pages: how many pages could be read.
        bad: the errors of the others.
    """

    entries: list[dict[str, Any]]
    pages: int
    bad: list[str]


def with_packaged(
    items: Sequence[MadeEntries], vectors: Mapping[str, NDArray[Any]]
) -> list[MadeEntries] | None:
    """Return the entries of a whole corpus with its packaged vectors; None if they do not fit.

    ``items`` have no vectors. Rotated on another machine, the vectors fit as those of an index do
    (``ElasticMeta.turns_alike``).
    """
    counts = [len(entry["numbers"]) for made in items for entry in made.entries]
    documents, turn = vectors["documents"], vectors["turn"]
    fits = (len(counts), sum(counts)) == (len(documents), len(vectors["codes"]))
    if not fits or not np.allclose(turn, rotation(len(turn)), atol=1e-3):
        return None
    own = zip(documents, np.split(vectors["codes"], np.cumsum(counts)[:-1]), strict=True)
    return [
        replace(made, entries=[with_vectors(entry, *next(own)) for entry in made.entries])
        for made in items
    ]


class EntryMaker:
    """Makes the entries of items; each process has its own."""

    def __init__(
        self,
        encoder: DocumentEncoder | None,
        plan: str,
        threads: int,
        networks: Path | None,
        before: UnchangedEntries | None = None,
    ) -> None:
        """Make entries with vectors of ``encoder``, if there is one, that belong to ``plan``.

        ``threads``: how many the encoder may use if there is only one process. ``networks``: the
        folder of converted networks. ``before``: has the entries of unchanged documents.
        """
        prepare_networks(threads, networks)
        self._encoder = encoder
        self._plan = plan
        self._splitter = shared_splitter()
        self._turn = rotation(encoder.dimension) if encoder is not None else None
        self._unchanged = before

    def __call__(self, chunk: Chunk) -> MadeEntries:
        """Return the entries of the pages of a chunk."""
        read, unread = pages_in(chunk)
        pages = [page for page in read if not _too_long(page)]
        bad = [f"{page.message} {page.hint}" for page in unread]
        bad += [reason for page in read if (reason := _too_long(page))]
        unchanged = self._unchanged.of(pages) if self._unchanged else [None] * len(pages)
        changed = [page for page, entry in zip(pages, unchanged, strict=True) if entry is None]
        new = iter(self._entries(records_of(changed, self._splitter)))
        # In the order of the pages: of two with one id, the later one is used.
        entries = [next(new) if entry is None else self._planned(entry) for entry in unchanged]
        return MadeEntries(entries, len(pages), bad)

    def of_records(self, records: Sequence[Record]) -> MadeEntries:
        """Return the entries of documents that are split already."""
        return MadeEntries(self._entries(records), len(records), [])

    def _entries(self, records: Sequence[Record]) -> list[dict[str, Any]]:
        if self._encoder is None or self._turn is None:
            return [self._planned(entry_of(record)) for record in records]
        if not records:
            return []
        whole, sentences = self._encoder.encode_documents([encodable(r) for r in records])
        return [
            self._planned(entry_of(record, code, codes(own @ self._turn)))
            for record, code, own in zip(records, as_bytes(whole), sentences, strict=True)
        ]

    def _planned(self, entry: dict[str, Any]) -> dict[str, Any]:
        return entry | {"plan": self._plan}


def _too_long(page: Page) -> str:
    """Return why Elasticsearch would refuse a page, "" if it would not."""
    if len(page.id) > LONGEST_ID:
        return f"A page has an id of {len(page.id)} characters. Give it one of {LONGEST_ID}."
    if len(page.text) + sum(map(len, page.sentences or ())) > LONGEST_TEXT:
        return f"The page {page.id!r} is longer than {LONGEST_TEXT} characters. Split it."
    return ""
