"""The stage ``sentences``: opens documents and chooses which of their sentences are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import PathEncoder, TextEncoder
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.dense import leading_paths, queries_of
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate, RankedDocument, Sentence
from retrieval.words import counted

_Chosen = list[tuple[RankedDocument, Sentence]]


class SentencePreranker(Stage):
    """Chooses the sentences nearest to the claim, by the vectors that the index has.

    First sentences, and those of documents that were found by their titles, get a bonus.

    Reading sentences takes most of the time of a check; comparing vectors takes almost none.
    """

    def __init__(
        self, store: DocumentStore, encoder: TextEncoder, settings: RetrievalConfig
    ) -> None:
        """``encoder`` is the one that the store's vectors are compared with."""
        self._store = store
        self._encoder = encoder
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Open ``candidates`` as ``opened``, add them to ``documents`` and find ``chosen``."""
        documents = opened(self._store, state.candidates)
        first, later = self._settings.sentence_limit, self._settings.expansion_sentence_limit
        chosen = self._chosen(state, documents, later if state.documents else first)
        found = replace(
            state,
            candidates=(),
            opened=tuple(documents),
            documents=(*state.documents, *documents),
            chosen=tuple(chosen),
        )
        of = counted(len(documents), "document")
        return Step(found, f"{counted(len(chosen), 'sentence')} to read, of {of}")

    def _chosen(
        self, state: ClaimState, documents: Sequence[RankedDocument], limit: int
    ) -> _Chosen:
        """Return the sentences to read."""
        return self.choose(state.claim, documents, limit)

    def choose(self, claim: str, documents: Sequence[RankedDocument], limit: int) -> _Chosen:
        """Return up to ``limit`` sentences with their documents, in no particular order.

        They are the nearest ones, bonus included. ``documents`` come best first. If the index has
        no vectors, the first sentence of each is returned, then those nearer the beginning of
        better documents.
        """
        placed = [
            (position, rank, sentence)
            for rank, ranked in enumerate(documents)
            for position, sentence in enumerate(ranked.document.sentences)
        ]
        placed.sort(key=lambda entry: (entry[0] > 0, entry[0] * 2 + entry[1], entry[1]))
        if len(placed) > limit:
            ids = [ranked.document.id for ranked in documents]
            vectors = self._encoder.encode([claim])
            (matches,) = self._store.nearest_sentences(vectors, len(placed), among=ids)
            near = {match.key: match.similarity for match in matches}

            def nearness(entry: tuple[int, int, Sentence]) -> float:
                position, rank, sentence = entry
                first = self._settings.first_sentence_bonus if position == 0 else 0.0
                by_title = {"title", "disambiguation"} & set(documents[rank].found_by)
                named = self._settings.title_bonus if by_title else 0.0
                return near.get(sentence.key, 0.0) + first + named

            placed.sort(key=nearness, reverse=True)
        return [(documents[rank], sentence) for _, rank, sentence in placed[:limit]]


def opened(store: DocumentStore, candidates: Sequence[Candidate]) -> list[RankedDocument]:
    """Return the documents of these candidates."""
    documents = store.documents([candidate.document_id for candidate in candidates])
    return [
        RankedDocument(document, one.score, one.found_by, one.hop, one.led_by)
        for document, one in zip(documents, candidates, strict=True)
    ]


class DenseSentenceReader(SentencePreranker):
    """Chooses the sentences that dense search finds, and no others of their documents (M3, 3.2)."""

    def __init__(
        self,
        store: DocumentStore,
        encoder: TextEncoder,
        queries: PathEncoder,
        settings: RetrievalConfig,
    ) -> None:
        """``queries`` encodes the claim with each path, as the stage ``dense`` does."""
        super().__init__(store, encoder, settings)
        self._queries = queries

    def _chosen(
        self, state: ClaimState, documents: Sequence[RankedDocument], limit: int
    ) -> _Chosen:
        """Return ``limit`` unread sentences, nearest first, also of documents opened before.

        Of the ``dense_limit`` sentences nearest to each path; in the first hop to the claim.
        """
        of = {r.document.id: r for r in (*state.documents, *documents)}
        if not of:
            return []
        paths = leading_paths(state, self._settings.path_leads)
        vectors = self._queries.encode(queries_of(state.claim, paths))
        found = self._store.nearest_sentences(vectors, self._settings.dense_limit, among=of.keys())
        read = {item.key for item in state.read}
        matches = sorted((m for near in found for m in near), key=lambda m: -m.similarity)
        nearest = [key for key in dict.fromkeys(m.key for m in matches) if key not in read]
        placed = {
            sentence.key: (ranked, sentence)
            for ranked in of.values()
            for sentence in ranked.document.sentences
        }
        return [placed[key] for key in nearest[:limit]]


MAKERS: Makers = {
    "sentences": lambda r, c: SentencePreranker(r.store, r.models.encoder, c),
    "sentences:dpr": lambda r, c: SentencePreranker(r.store, r.models.dpr, c),
    "sentences:dense": lambda r, c: DenseSentenceReader(
        r.store, r.models.encoder, r.models.queries, c
    ),
}
