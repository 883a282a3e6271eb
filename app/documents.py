"""The documents of a claim document with their evidence; passages of one are shown together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from app.contexts import DocumentItem, Look, PassageItem
from app.credits import credit_item
from app.highlighting import Highlight, segments
from app.links import safe_url
from app.passages import WholeDocument, passage_number, whole_document
from app.wording import STANCES, found_by
from retrieval.result import ClaimResult, Document


def document_items(result: ClaimResult, files: Mapping[str, str]) -> list[DocumentItem]:
    """Return the documents, those with the best evidence first, the others in their order.

    The passages of a long document are one item, in the order of its text. ``files``: addresses for
    documents that have none, by their ids.
    """
    highlights: dict[str, list[Highlight]] = defaultdict(list)
    for rank, item in enumerate(result.evidence, 1):
        look: Look = STANCES[item.stance].look
        highlights[item.document].append(Highlight(rank, item.start, item.end, look))
    together: dict[WholeDocument, list[Document]] = defaultdict(list)
    for document in result.documents:
        together[whole_document(document)].append(document)
    last = len(result.evidence) + 1
    ranked = sorted(
        together.values(),
        key=lambda read: min((h.rank for one in read for h in highlights[one.id]), default=last),
    )
    return [_item(read, highlights, files) for read in ranked]


def _item(
    read: Iterable[Document], highlights: dict[str, list[Highlight]], files: Mapping[str, str]
) -> DocumentItem:
    in_order = sorted(read, key=lambda document: passage_number(document) or 0)
    marked = [document for document in in_order if highlights[document.id]]
    silent = [document for document in in_order if not highlights[document.id]]
    several = len(in_order) > 1

    def passages(documents: Iterable[Document]) -> tuple[PassageItem, ...]:
        return tuple(
            PassageItem(
                title=document.title,
                heading=_heading(document, several),
                url=safe_url(document.url) or files.get(document.id),
                credit=credit_item(document.credit),
                found_by=found_by(document.found_by),
                hop=document.hop,
                segments=segments(document.text, highlights[document.id]),
            )
            for document in documents
        )

    return DocumentItem(
        title=in_order[0].title,
        passages=passages(marked or silent),
        more=passages(silent if marked else ()),
        sentences=sum(len(highlights[document.id]) for document in marked),
    )


def _heading(document: Document, several: bool) -> str:
    """Return the heading of a passage, "" for a document that was read whole."""
    if document.page is None and document.section is None:
        return f"Passage {passage_number(document)}" if several else ""
    place = [] if document.page is None else [f"Page {document.page}"]
    return ", ".join([*place, *([document.section] if document.section else [])])
