"""How a document is stored: as a JSON object. Many of them are compressed together as a block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

import zstandard

from retrieval.corpora.corpus import EMPTY_BOX, Page
from retrieval.models.encoders import EncodableDocument
from retrieval.text.sentence_splitter import SentenceSplitter
from retrieval.types import Document, Sentence, headed

Record: TypeAlias = dict[str, Any]


def records_of(pages: Sequence[Page], splitter: SentenceSplitter) -> list[Record]:
    """Return the records of pages; those that the source has not split are split."""
    split = splitter.split(page.text for page in pages if page.sentences is None)
    return [
        record_of(page, () if page.sentences is not None else _numbered(next(split)))
        for page in pages
    ]


def record_of(page: Page, sentences: Sequence[Sequence[int]]) -> Record:
    """Return the record of a page with its sentences as a record has them.

    They are not used if the source has split the page.
    """
    if page.sentences is not None:
        return _given(page, page.sentences)
    return _record(page, page.text, sentences)


def document_of(record: Record) -> Document:
    """Return the document of a record."""
    text, links = record["text"], record.get("links", {})
    return Document(
        id=record["id"],
        title=record["title"],
        url=record["url"],
        text=text,
        sentences=tuple(
            Sentence(
                record["id"], number, text[start:end], start, end, tuple(links.get(str(number), ()))
            )
            for number, start, end in record["sentences"]
        ),
        section=_section(record),
        page=record.get("passage", {}).get("page"),
        source=record.get("source"),
        date=record.get("date"),
    )


def names_of(record: Record) -> list[str]:
    """Return the titles that find a document; of a long document they find its first passage."""
    if record.get("passage", {}).get("number", 1) > 1:
        return []
    return list(dict.fromkeys([record["title"], *record.get("other_titles", ())]))


def whole_of(record: Record) -> str:
    """Return the id of the document; of a passage, that of the whole document."""
    return str(record.get("passage", {}).get("document", record["id"]))


def encodable(record: Record) -> EncodableDocument:
    """Return the parts of a record that an encoder reads."""
    bounds = tuple((start, end) for _, start, end in record["sentences"])
    return EncodableDocument(headed(record["title"], _section(record)), record["text"], bounds)


def line_of(record: Record) -> bytes:
    """Return a record as JSON on one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def block_of(records: Sequence[Record]) -> bytes:
    """Return records as lines that are compressed together."""
    return zstandard.ZstdCompressor().compress(b"\n".join(map(line_of, records)))


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of a block, in their order.

    Raises:
        ValueError: the block is damaged.
    """
    try:
        return zstandard.ZstdDecompressor().decompress(block).split(b"\n")
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _section(record: Record) -> str | None:
    return " > ".join(record.get("passage", {}).get("section", ())) or None


def _given(page: Page, sentences: tuple[str, ...]) -> Record:
    """Join sentences that the source has split; their ids are their positions there.

    What stands after an empty box is part of the text, but no statement, so it is no evidence.
    """
    bounds, end = [], -1
    for number, sentence in enumerate(sentences):
        if sentence:
            start, end = end + 1, end + 1 + len(sentence)
            if not sentence.startswith(EMPTY_BOX):
                bounds.append((number, start, end))
    text = " ".join(sentence for sentence in sentences if sentence)
    # A record has links only where there are some, which is almost nowhere.
    links = {str(number): titles for number, titles in enumerate(page.links) if titles}
    return _record(page, text, bounds) | ({"links": links} if links else {})


def _numbered(bounds: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    return [(number, start, end) for number, (start, end) in enumerate(bounds)]


def _record(page: Page, text: str, sentences: Sequence[Sequence[int]]) -> Record:
    record: Record = {
        "id": page.id,
        "title": page.title,
        "url": page.url,
        "text": text,
        "sentences": sentences,
    }
    # Few documents have these, so the others are stored without the keys.
    if page.other_titles:
        record["other_titles"] = page.other_titles
    if page.passage:
        record["passage"] = asdict(page.passage)
    if page.source:
        record["source"] = page.source
    if page.date:
        record["date"] = page.date
    return record
