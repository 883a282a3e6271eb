"""The stage ``tables``: rows are read with what follows from the figures of their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from retrieval.errors import IndexAway, IndexUnavailable
from retrieval.index.interface import DocumentStore
from retrieval.quantities.rows import Row, row_of, tables
from retrieval.quantities.tables import results
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.read.sentences import unread_evidence
from retrieval.stages.stage import ClaimState, Makers, Stage, Step
from retrieval.text.context import without_number
from retrieval.types import Document, Evidence, RankedDocument, Sentence, SentenceKey
from retrieval.words import counted

_MOST_PASSAGES = 20  # that a table may go on in, on each side; of a longer one only a part is known


class TableReader(Stage):
    """Computes what the rows that a claim names say together, and with all rows of their table."""

    def __init__(self, store: DocumentStore, settings: RetrievalConfig) -> None:
        """Look at the tables of the sentences that the verifier is to read."""
        self._store = store
        self._limit = settings.verified_sentences

    def run(self, state: ClaimState) -> Step:
        """Give the rows that the claim names their ``computed``.

        Of the other rows of a table only the best one stays in ``evidence``.
        """
        evidence, found = state.evidence, 0
        for item in state.evidence[: self._limit]:
            if item not in evidence:  # of a table that was computed before
                continue
            table, whole = self._table_of(state.documents, item)
            computed = results(state.claim, table, item.key, whole=whole)
            if computed is None:
                continue
            found += 1
            named = [replace(row, computed=computed.text) for row in _read(state, computed.rows)]
            rows = named if any(row.key == item.key for row in named) else [*named, item]
            at, of_table = evidence.index(item), {row.key for row in table}
            before, after = (
                [one for one in part if one.key not in of_table]
                for part in (evidence[:at], evidence[at:])
            )
            evidence = (*before, *rows, *after)
        message = f"Figures of {counted(found, 'table')} compared" if found else ""
        return Step(replace(state, evidence=evidence), message)

    def _table_of(
        self, opened: Sequence[RankedDocument], item: Evidence
    ) -> tuple[Sequence[Row], bool]:
        """Return the rows of the table that a sentence is a row of, and whether they are all.

        A table may go on in other passages of its document, which the store is asked for.
        """
        if row_of(item.sentence) is None:
            return (), True
        document = next(one.document for one in opened if one.document.id == item.key.document_id)
        sentences, whole = list(document.sentences), True
        for step in (-1, 1):
            more, ended = self._beside(document, step)
            sentences = [*more, *sentences] if step < 0 else [*sentences, *more]
            whole = whole and ended
        found = (table for table in tables(sentences) if item.key in [row.key for row in table])
        return next(found, ()), whole

    def _beside(self, document: Document, step: int) -> tuple[list[Sentence], bool]:
        """Return the sentences of the passages before or after one that its table may go on in.

        Whether these are all: of a very long table only a part is read.
        """
        name, _, number = document.id.rpartition("#")
        sentences: list[Sentence] = []
        if not number or name != without_number(document.id):
            return sentences, True
        edge = document.sentences[0 if step < 0 else -1]
        for other in range(int(number) + step, int(number) + step * (_MOST_PASSAGES + 1), step):
            following = self._passage(f"{name}#{other}")
            if following is None or following.section != document.section:
                return sentences, True
            near, far = (following.sentences[n] for n in ((-1, 0) if step < 0 else (0, -1)))
            row, next_row = row_of(edge), row_of(near)
            if row is None or next_row is None or not row.goes_on_with(next_row):
                return sentences, True
            sentences = (
                [*following.sentences, *sentences]
                if step < 0
                else [*sentences, *following.sentences]
            )
            edge = far
        return sentences, False

    def _passage(self, document_id: str) -> Document | None:
        try:
            return self._store.documents([document_id])[0]
        except IndexAway:
            raise
        except IndexUnavailable:  # the document has no such passage
            return None


def _read(state: ClaimState, keys: Iterable[SentenceKey]) -> Iterator[Evidence]:
    """Yield these sentences of opened documents, as they were read before, or unread."""
    known = {item.key: item for item in (*state.read, *state.evidence)}
    opened = {one.document.id: one for one in state.documents}
    for key in keys:
        if key in known:
            yield known[key]
        elif key.document_id in opened:
            ranked = opened[key.document_id]
            yield unread_evidence(
                ranked, next(s for s in ranked.document.sentences if s.key == key)
            )


MAKERS: Makers = {"tables": lambda r, c: TableReader(r.store, c)}
