"""The stages ``sentences``, ``relevance`` and ``semantic``: which sentences are read, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import PathEncoder, TextEncoder
from retrieval.models.own_models import Reranker
from retrieval.models.papers.report_models import RELEVANCE, present_models
from retrieval.models.papers.report_networks import PairClassifier
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.find.next import leading_paths, queries_of
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step
from retrieval.text.context import CopiedSentences, context_of, evidence_text
from retrieval.types import UNREAD, Candidate, Evidence, Opinion, RankedDocument, Sentence
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


class _Model(Protocol):
    """Gives a (claim, text) pair the probabilities of ``LABELS``, or one, of being relevant."""

    def warm_up(self) -> None: ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]: ...


class RelevanceClassifier(Stage):
    """Reads the claim together with each sentence.

    A model that says no more than how relevant a sentence is has no stance: until the verifier
    reads the sentence, SUPPORTS and REFUTES have half of that each.
    """

    def __init__(self, model: _Model, cutoff: float, *, in_context: bool = True) -> None:
        """Keep sentences whose relevance, 1 - P(NOT ENOUGH INFO), is at least ``cutoff``.

        Otherwise than ``in_context``, a sentence is read without its title and without any other
        sentence of its document, also by later stages.
        """
        self._model = model
        self._cutoff = cutoff
        self._in_context = in_context

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop.

        Of copies only the most relevant one is kept.
        """
        unread = [unread_evidence(ranked, sentence) for ranked, sentence in state.chosen]
        if not self._in_context:
            unread = [replace(item, context_before=None, context_after=None) for item in unread]
        texts = [evidence_text(*i.as_read) if self._in_context else i.in_context for i in unread]
        said = self._model.probabilities([(state.claim, text) for text in texts]).tolist()
        read = [replace(i, opinion=_opinion(one)) for i, one in zip(unread, said, strict=True)]
        read.sort(key=lambda item: (-item.score, item.key))
        read = _without_copies(state, read)
        relevant = _once([item for item in read if item.score >= self._cutoff])
        message = f"{counted(len(relevant), 'sentence')} that may be relevant to the claim"
        return Step(replace(state, read=(*state.read, *read), relevant=relevant), message)


def _opinion(said: list[float] | float) -> Opinion:
    if isinstance(said, float):
        return said / 2, said / 2, 1 - said
    supports, refutes, neither = said
    return supports, refutes, neither


def unread_evidence(ranked: RankedDocument, sentence: Sentence) -> Evidence:
    """Return a sentence with its context, before any model has read it."""
    document = ranked.document
    context = context_of(document, sentence)
    return Evidence(
        sentence=sentence,
        title=document.title,
        url=document.url,
        opinion=UNREAD,
        hop=ranked.hop,
        section=document.section,
        page=document.page,
        date=document.date,
        context_before=context.before,
        context_after=context.after,
    )


def _once(items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the sentences without those that are read as the same text as a later one.

    A question and its answer are each other's context; the answer says what is so.
    """
    last = {
        (item.key.document_id, item.in_context): item.key
        for item in sorted(items, key=lambda item: item.key)
    }
    return tuple(i for i in items if last[i.key.document_id, i.in_context] == i.key)


def _without_copies(state: ClaimState, read: Sequence[Evidence]) -> list[Evidence]:
    """Return the sentences without those that stand, with the same context, in another document."""
    opened = (*state.documents, *(ranked for ranked, _ in state.chosen))
    copied = CopiedSentences(ranked.document for ranked in opened)

    def as_read(item: Evidence) -> tuple[str, str | None, str | None]:
        return copied.text(item.key), item.context_before, item.context_after

    seen = {as_read(item) for item in state.read}
    first: dict[tuple[str, str | None, str | None], Evidence] = {}
    for item in read:
        first.setdefault(as_read(item), item)
    return [item for text, item in first.items() if text not in seen]


def _relevance(resources: Resources, settings: RetrievalConfig) -> Stage:
    """Return the stage with the shipped model, or with the one that the user has named."""
    reranker = resources.models.folders.reranker
    model: _Model = resources.models.relevance_model if reranker is None else Reranker(reranker)
    return RelevanceClassifier(model, settings.relevance_cutoff)


def _distilbert(resources: Resources, settings: RetrievalConfig) -> Stage:
    """Return the stage with the report's classifier (3.3.10)."""
    model = PairClassifier(present_models(resources.models.folders.report), RELEVANCE)
    return RelevanceClassifier(model, settings.relevance_cutoff, in_context=False)


class SemanticSentenceRanker(Stage):
    """Drops sentences that are about something else and puts the best first.

    The report sorts by similarity alone because its classifier's scores were all near 1. Here the
    scores are calibrated and order the sentences better than similarity does. Similarity is only a
    cutoff and breaks ties. Only the ``semantic_limit`` most relevant sentences of each hop are
    ranked: later ones are never selected and never lead to others. Those of earlier hops are not
    encoded again; they come before new ones of the same relevance.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._encoder = resources.models.encoder
        self._settings = settings

    def run(self, state: ClaimState) -> Step:
        """Rank ``relevant`` and the earlier ``ranked``, and put them first in ``evidence``."""
        ranked = self._ranked(state)
        found = replace(state, ranked=tuple(ranked)).with_ranking(ranked)
        return Step(found, f"{counted(len(found.evidence), 'sentence')} to choose from")

    def _ranked(self, state: ClaimState) -> list[Evidence]:
        """Return the evidence of this hop and of those before, best first."""
        if not state.relevant:
            return list(state.ranked)
        similar = self._similar(state.claim, state.relevant[: self._settings.semantic_limit])
        similar.sort(key=lambda pair: (-round(pair[0].score, 3), -pair[1], pair[0].key))
        both = [*state.ranked, *(item for item, _ in similar)]
        return sorted(both, key=lambda item: -round(item.score, 3))

    def _similar(self, claim: str, evidence: Sequence[Evidence]) -> list[tuple[Evidence, float]]:
        """Return the sentences that are similar to the claim, with their cosines."""
        vectors = self._encoder.encode([claim, *(item.in_context for item in evidence)])
        compared = zip(evidence, (vectors[1:] @ vectors[0]).tolist(), strict=True)
        return [pair for pair in compared if pair[1] >= self._settings.semantic_cutoff]


class SimilaritySentenceRanker(SemanticSentenceRanker):
    """Keeps the sentences that are similar to the claim and puts the most similar first.

    The report does not order them by its classifier, whose scores are nearly all alike.
    """

    def _ranked(self, state: ClaimState) -> list[Evidence]:
        similar = self._similar(state.claim, (*state.ranked, *state.relevant))
        return [item for item, _ in sorted(similar, key=lambda pair: (-pair[1], pair[0].key))]


MAKERS: Makers = {
    "sentences": lambda r, c: SentencePreranker(r.store, r.models.encoder, c),
    "sentences:dpr": lambda r, c: SentencePreranker(r.store, r.models.dpr, c),
    "sentences:dense": lambda r, c: DenseSentenceReader(
        r.store, r.models.encoder, r.models.queries, c
    ),
    "relevance": _relevance,
    "relevance:distilbert": _distilbert,
    "semantic": SemanticSentenceRanker,
    "semantic:mpnet": SimilaritySentenceRanker,
}
