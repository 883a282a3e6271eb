"""The stage ``paths``: reads sentences together with those that led to them (M3, 3.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from retrieval.index.interface import DocumentStore
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.encoders import PathEncoder, Query
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.model_texts import path_text
from retrieval.types import Document, Evidence, RankedDocument, SentenceKey
from retrieval.words import counted


class Nearness:
    """Compares claims and paths with the stored vectors of sentences of opened documents."""

    def __init__(self, store: DocumentStore, encoder: PathEncoder) -> None:
        """Compare with the sentence vectors of ``store``."""
        self._store = store
        self._encoder = encoder

    def warm_up(self) -> None:
        """Load the encoder."""
        self._encoder.warm_up()

    def orders(
        self,
        queries: Sequence[Query],
        documents: Sequence[Document],
        sentences: Collection[SentenceKey],
    ) -> list[dict[SentenceKey, int]]:
        """Return for each query the rank of these sentences of the documents, 0 for the nearest.

        The ranks are empty if the index has no vectors.
        """
        if not queries:
            return []
        found = self._store.nearest_sentences(
            self._encoder.encode(queries),
            limit=sum(len(document.sentences) for document in documents),
            among=[document.id for document in documents],
        )
        nearest = ([m.key for m in matches if m.key in sentences] for matches in found)
        return [{key: place for place, key in enumerate(keys)} for keys in nearest]


class PathReader(Stage):
    """Reads claim, evidence and candidate together with the path model.

    The sentence that says where the painter was born is relevant to "the painter of Guernica" only
    if it is read together with the sentence that names him.
    """

    def __init__(
        self, model: CrossEncoder, nearness: Nearness, leads: int, neighbours: int
    ) -> None:
        """Start from the ``leads`` best sentences.

        ``neighbours``: most sentences that are read after each lead: this many from the documents
        that it led to, and this many from the others.
        """
        self._model = model
        self._nearness = nearness
        self._leads = leads
        self._neighbours = neighbours

    def run(self, state: ClaimState) -> Step:
        """Add to ``paths``. In the first hop there are none."""
        if not state.evidence:
            return Step(state, "")
        found = self.read(state.claim, state.evidence, state.read, state.documents, state.paths)
        message = f"{counted(len(found), 'sentence')} read together with those that led to them"
        return Step(replace(state, paths=(*state.paths, *found)), message)

    def read(
        self,
        claim: str,
        found: Sequence[Evidence],
        read: Sequence[Evidence],
        documents: Sequence[RankedDocument],
        paths: Sequence[Evidence],
    ) -> list[Evidence]:
        """Return every candidate as the end of a path, with the path model's probabilities.

        ``found`` comes best first and contains the leads. ``read`` contains all sentences
        read so far, each alone; ``documents`` contain the lead that each was opened for.
        ``paths`` were read in earlier hops and are not read again. A lead whose path is not among
        them, because the verifier found it, is used without its path.
        """
        known = {item.key: item for item in read}
        led_by = {ranked.document.id: ranked.led_by for ranked in documents}
        done = {(item.path, item.key) for item in paths}
        leads = [
            item if (item.path, item.key) in done else replace(item, path=())
            for item in found[: self._leads]
        ]
        orders = self._nearness.orders(
            [(claim, _texts(lead, known)) for lead in leads],
            [ranked.document for ranked in documents],
            known.keys(),
        )
        pairs = self._pairs(leads, orders, read, led_by, done)
        opinions = self._model.probabilities(
            [(claim, path_text(item.as_read, _texts(lead, known))) for lead, item in pairs]
        )
        return [
            replace(
                candidate,
                opinion=(float(row[0]), float(row[1]), float(row[2])),
                path=(*lead.path, lead.key),
            )
            for (lead, candidate), row in zip(pairs, opinions, strict=True)
        ]

    def _pairs(
        self,
        leads: Sequence[Evidence],
        orders: Sequence[Mapping[SentenceKey, int]],
        read: Sequence[Evidence],
        led_by: Mapping[str, SentenceKey | None],
        done: Collection[tuple[tuple[SentenceKey, ...], SentenceKey]],
    ) -> list[tuple[Evidence, Evidence]]:
        """Return each lead with its candidates: the best of the documents it led to, and of others.

        The best are taken in turn from two orders: by the score of the sentence alone, and by its
        nearness to claim and lead together.
        """
        by_score = {
            item.key: place for place, item in enumerate(sorted(read, key=lambda item: -item.score))
        }
        pairs = []
        for lead, by_nearness in zip(leads, orders, strict=True):
            path = (*lead.path, lead.key)
            near = sorted(
                read,
                key=lambda item: min(by_score[item.key], by_nearness.get(item.key, len(by_score))),
            )
            left = [i for i in near if i.key not in path and (path, i.key) not in done]
            opened = [i for i in left if led_by.get(i.sentence.document_id) == lead.key]
            beside = [i for i in left if led_by.get(i.sentence.document_id) != lead.key]
            best = (*opened[: self._neighbours], *beside[: self._neighbours])
            pairs += [(lead, item) for item in best]
        return pairs


def _texts(lead: Evidence, known: Mapping[SentenceKey, Evidence]) -> list[tuple[str, str]]:
    """Return the (title, sentence) pairs of a path that ends with the lead."""
    return [item.as_read for item in (*(known[key] for key in lead.path), lead)]


def path_reader(resources: Resources, c: RetrievalConfig) -> PathReader:
    """Return the stage as recipes use it."""
    nearness = Nearness(resources.store, resources.models.queries)
    return PathReader(resources.models.path_model, nearness, c.path_leads, c.path_neighbours)


MAKERS: Makers = {"paths": path_reader}
