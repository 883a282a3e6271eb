"""The stage ``dense``: documents of the sentences nearest to claim and path (M3, 3.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import PathEncoder, Query
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.next import ExpanderMakers, interleaved
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate, Evidence, SentenceKey
from retrieval.words import counted


class DenseSentenceRetriever(Stage):
    """Searches the stored sentence vectors with the claim, or with the claim and each path.

    Sentences are found without a common word or name with the claim, and without links between
    pages.
    """

    def __init__(self, store: DocumentStore, encoder: PathEncoder, limit: int, leads: int) -> None:
        """Find ``limit`` sentences of unread documents for each path.

        After the first hop the paths are those to the ``leads`` best sentences.
        """
        self._store = store
        self._encoder = encoder
        self._limit = limit
        self._leads = leads

    def run(self, state: ClaimState) -> Step:
        """Add documents to ``candidates``: the first of both, the second of both, and so on."""
        near = self.retrieve(state.claim, [], (), state.hop)
        found = replace(state, candidates=tuple(interleaved([state.candidates, near])))
        return Step(found, f"{counted(len(near), 'document')} with a sentence close to the claim")

    def expand(self, state: ClaimState) -> list[Candidate]:
        """See ``Expander.expand``."""
        paths = leading_paths(state, self._leads)
        return self.retrieve(state.claim, paths, state.seen, state.hop + 1)

    def retrieve(
        self, claim: str, paths: Sequence[Sequence[Evidence]], seen: Collection[str], hop: int
    ) -> list[Candidate]:
        """Return the documents of the sentences nearest to each path that are not ``seen`` yet.

        The score of a document is that of its best sentence; highest first. The lead of each is
        the last sentence of the path that found it. Without paths the query is the claim alone.
        """
        steps = paths or [[]]
        vectors = self._encoder.encode(queries_of(claim, steps))
        nearest = self._store.nearest_sentences(vectors, self._limit, seen)
        best: dict[str, tuple[float, SentenceKey | None]] = {}
        for path, matches in zip(steps, nearest, strict=True):
            led_by = path[-1].key if path else None
            for match in matches:
                page = match.key.document_id
                if page not in best or match.similarity > best[page][0]:
                    best[page] = (match.similarity, led_by)
        ranked = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return [
            Candidate(page, ("dense",), similarity, hop, led_by)
            for page, (similarity, led_by) in ranked
        ]


def leading_paths(state: ClaimState, leads: int) -> list[list[Evidence]]:
    """Return the paths that end with the ``leads`` best sentences of the evidence."""
    known = {item.key: item for item in state.read}
    return [[*(known[key] for key in lead.path), lead] for lead in state.evidence[:leads]]


def queries_of(claim: str, paths: Sequence[Sequence[Evidence]]) -> list[Query]:
    """Return the claim with each of the paths."""
    return [(claim, [(item.heading, item.sentence.text) for item in path]) for path in paths]


def _made(resources: Resources, c: RetrievalConfig) -> DenseSentenceRetriever:
    models = resources.models
    return DenseSentenceRetriever(resources.store, models.queries, c.dense_limit, c.path_leads)


MAKERS: Makers = {"dense": _made}
EXPANDERS: ExpanderMakers = {"dense": _made}
