"""The stage ``paths``: reads sentences together with those that led to them (M3, 3.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step, opinions
from retrieval.state import ClaimState
from retrieval.text.model_texts import path_text
from retrieval.types import Evidence, Reading, SentenceKey
from retrieval.words import counted


class PathReader(Stage):
    """Reads claim, evidence and candidate together with the path model.

    The sentence that says where the painter was born is relevant to "the painter of Guernica" only
    if it is read together with the sentence that names him.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.queries
        self._model = resources.models.path_model
        self._leads = settings.path_leads
        self._neighbours = settings.path_neighbours

    def run(self, state: ClaimState) -> Step:
        """Add to ``paths``. In the first hop there are none."""
        if not state.evidence:
            return Step(state, "")
        found = self.read(state)
        message = f"{counted(len(found), 'sentence')} read together with those that led to them"
        return Step(replace(state, paths=(*state.paths, *found)), message)

    def read(self, state: ClaimState) -> list[Evidence]:
        """Return every candidate as the end of a path, with the path model's probabilities.

        The leads are the best sentences of the evidence. Paths that were read in earlier hops are
        not read again. A lead whose path is not among them, because the verifier found it, is used
        without its path.
        """
        done = {(item.path, item.key) for item in state.paths}
        leads = [
            item if (item.path, item.key) in done else replace(item, path=())
            for item in state.evidence[: self._leads]
        ]
        known = {item.key: item for item in state.read}
        paths = [[item.as_read for item in (*(known[k] for k in i.path), i)] for i in leads]
        ends = [
            (replace(item, path=(*lead.path, lead.key)), path_text(item.as_read, path))
            for lead, path, nearest in zip(leads, paths, self._nearest(state, paths), strict=True)
            for item in self._after(state, lead, nearest, done)
        ]
        read = opinions(self._model, state.claim, [text for _, text in ends])
        return [replace(end, opinion=one) for (end, _), one in zip(ends, read, strict=True)]

    def _nearest(
        self, state: ClaimState, paths: Sequence[Sequence[tuple[str, str]]]
    ) -> list[dict[SentenceKey, int]]:
        """Return the ranks of the sentences that were read by nearness to each path, from 0.

        They are empty if the index has no vectors.
        """
        if not paths:
            return []
        documents = [ranked.document for ranked in state.documents]
        found = self._store.nearest_sentences(
            self._encoder.encode([(state.claim, path) for path in paths]),
            limit=sum(len(document.sentences) for document in documents),
            among=[document.id for document in documents],
        )
        read = {item.key for item in state.read}
        nearest = ([match.key for match in matches if match.key in read] for matches in found)
        return [{key: place for place, key in enumerate(keys)} for keys in nearest]

    def _after(
        self,
        state: ClaimState,
        lead: Evidence,
        nearest: Mapping[SentenceKey, int],
        done: Collection[Reading],
    ) -> list[Evidence]:
        """Return what is read after a lead: the best of the documents it led to, and of others.

        The best are taken in turn from two orders: by the score of the sentence alone, and by its
        nearness to claim and lead together.
        """
        by_score = sorted(state.read, key=lambda item: -item.score)
        places = {item.key: place for place, item in enumerate(by_score)}
        led_by = {ranked.document.id: ranked.led_by for ranked in state.documents}
        path = (*lead.path, lead.key)

        def order(item: Evidence) -> int:
            return min(places[item.key], nearest.get(item.key, len(places)))

        left = [
            item
            for item in sorted(state.read, key=order)
            if item.key not in path and (path, item.key) not in done
        ]
        opened = [i for i in left if led_by.get(i.sentence.document_id) == lead.key]
        beside = [i for i in left if led_by.get(i.sentence.document_id) != lead.key]
        return [*opened[: self._neighbours], *beside[: self._neighbours]]


MAKERS: Makers = {"paths": PathReader}
