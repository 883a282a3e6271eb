"""The 200 hostile pieces of evidence on pages and in exports: shown, but escaped."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any

import pytest
from flask.testing import FlaskClient
from markdown_it import MarkdownIt

from research.benchmarks.hostile.pieces import Piece, Source, read_pieces
from retrieval.llm_judge.prompt import visible
from retrieval.result import ClaimResult
from tests.app.claim_documents import MODEL, claim_document, opinion
from tests.app.worker_by_hand import WorkerByHand
from worker.feedback_store import FeedbackStore, Said
from worker.job_store import JobStore
from worker.run_store import RunStore

HARMLESS = Source("A title", "A sentence about nothing.")
# The part of an address that differs from page to page.
_OF_THE_PAGE = ("href", "action", "value", "datetime", "content", "data-address")


class Shape(HTMLParser):
    """The elements of a page in order, with their attributes, without its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[Any] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = [(name, "" if name in _OF_THE_PAGE else value) for name, value in attrs]
        self.elements.append((tag, kept))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(tag)


def result_with(piece: Piece, hostile: Source) -> dict[str, Any]:
    """Return a result whose best evidence is ``hostile``, which a model repeats word for word."""
    result = claim_document(piece.claim, "REFUTES")
    best = result["evidence"][0]
    text = f"{hostile.sentence} It goes on."
    best |= {"title": hostile.title, "sentence": hostile.sentence, "document": "hostile"}
    best |= {"start": 0, "end": len(hostile.sentence), "url": None}
    document = result["documents"][0]
    document |= {"id": "hostile", "title": hostile.title, "text": text, "url": None}
    said = opinion(
        MODEL, "SUPPORTS", 0.5, visible(hostile.sentence)[:700], [1], hostile.title[:300]
    )
    result["verdict"]["opinions"].insert(0, said)
    return result


@pytest.mark.slow
def test_no_hostile_piece_breaks_a_page_or_an_export(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    markdown = MarkdownIt("commonmark")
    for piece in read_pieces():
        shapes, outlines, tables = [], [], []
        for source in (HARMLESS, piece.hostile):
            job = store.submit(piece.claim, "esoteric")[0]
            result = ClaimResult.model_validate(result_with(piece, source))
            assert RunStore(store.database).finish(worker.start(job), result)
            shapes.append(Shape(client.get(f"/claims/{job.id}").text).elements)
            export = f"/api/v1/claims/{job.id}/export?format="
            tokens = markdown.parse(client.get(f"{export}md").text)
            outlines.append([(token.type, token.tag) for token in tokens])
            rows = list(csv.reader(io.StringIO(client.get(f"{export}csv").text)))
            tables.append([len(row) for row in rows])
            assert not [c for row in rows for c in row if c.startswith(("=", "+", "-", "@"))]
            said = Said(agrees=True, label=result.verdict.label, name="Ida")
            FeedbackStore(store.database).give(job.id, said, None)
            for name in ("json", "claimreview"):
                json.loads(client.get(f"{export}{name}").text)
        assert shapes[0] == shapes[1], piece.id
        assert outlines[0] == outlines[1], piece.id
        assert tables[0] == tables[1], piece.id
