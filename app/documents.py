"""The documents of a result with their evidence; passages of one are shown together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from app.filters import LOOKS
from app.highlighting import Highlight, Segment, segments
from retrieval.result import ClaimResult, Document, WholeDocument


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document that was read, or the whole document.

    ``heading``: page and section, or "Passage 3", empty for a whole document. ``segments``: its
    text, cut where evidence begins and ends.
    """

    document: Document
    heading: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A document that was read; ``sentences``: how many of its sentences are evidence.

    ``passages``: those with evidence, or all if none has any; one if the document is not cut.
    ``more``: the others.
    """

    title: str
    passages: tuple[Passage, ...]
    more: tuple[Passage, ...]
    sentences: int


def document_items(result: ClaimResult) -> list[DocumentItem]:
    """Return the documents, those with the best evidence first, the others in their order.

    The passages of a long document are one item, in the order of its text.
    """
    highlights: dict[str, list[Highlight]] = defaultdict(list)
    for rank, item in enumerate(result.evidence, 1):
        mark = Highlight(rank, item.start, item.end, LOOKS[item.stance])
        highlights[item.document].append(mark)
    together: dict[WholeDocument, list[Document]] = defaultdict(list)
    for document in result.documents:
        together[document.whole].append(document)
    last = len(result.evidence) + 1
    ranked = sorted(
        together.values(),
        key=lambda read: min((h.rank for one in read for h in highlights[one.id]), default=last),
    )
    return [_item(read, highlights) for read in ranked]


def _item(read: Sequence[Document], highlights: dict[str, list[Highlight]]) -> DocumentItem:
    passages = [
        Passage(
            document,
            _heading(document) or (f"Passage {document.passage_number}" if len(read) > 1 else ""),
            segments(document.text, highlights[document.id]),
        )
        for document in sorted(read, key=lambda document: document.passage_number or 0)
    ]
    marked = tuple(one for one in passages if highlights[one.document.id])
    silent = tuple(one for one in passages if not highlights[one.document.id])
    return DocumentItem(
        title=passages[0].document.title,
        passages=marked or silent,
        more=silent if marked else (),
        sentences=sum(len(highlights[one.document.id]) for one in marked),
    )


def _heading(document: Document) -> str:
    """Return the place of a passage, "" where none is known."""
    page = None if document.page is None else f"Page {document.page}"
    return ", ".join(filter(None, (page, document.section)))
