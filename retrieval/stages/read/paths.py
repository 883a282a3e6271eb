"""The stages ``paths`` and ``fusion``: sentences read together with others (M3, 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step, opinions
from retrieval.text.context import path_text
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


class PathFusion(Stage):
    """Keeps the reading with the highest score of each sentence, alone or at the end of a path."""

    def __init__(self, threshold: float, hybrid_weight: float | None, scale: float = 1.0) -> None:
        """Keep paths whose scores have a product of at least ``threshold``.

        ``hybrid_weight``: weight of paths in hybrid ranking (Algorithm 1, gamma). None: sentences
        are ranked by the score that is kept. ``scale``: factor of the scores of readings on paths
        (section 6.3), when they are compared with others.
        """
        self._threshold = threshold
        self._weight = hybrid_weight
        self._scale = scale

    def run(self, state: ClaimState) -> Step:
        """Rank ``ranked`` and ``paths`` in one list, the first part of ``evidence``."""
        if not state.paths:
            return Step(state, "")
        ranked = self._ranked(state.ranked, state.paths)
        message = f"{counted(len(ranked), 'sentence')}, alone or on paths, in one ranking"
        return Step(state.with_ranking(ranked), message)

    def _ranked(self, found: Sequence[Evidence], paths: Sequence[Evidence]) -> list[Evidence]:
        """Return the evidence of both, each sentence once, best first.

        The score of a path is the product of the scores of its sentences (Algorithm 1, line 4):
        of the first one alone, of each later one after those before it. Hybrid ranking sorts
        sentences of the same hybrid score by the higher score of both readings.
        """
        scored = {(item.path, item.key): item.score for item in (*found, *paths)}
        strong = [
            (item, sequence)
            for item in paths
            if (sequence := _sequence(item, scored))
            and prod(score for _, score in sequence) >= self._threshold
        ]
        highest: dict[SentenceKey, Evidence] = {}
        for item in (*found, *(item for item, _ in strong)):
            if item.key not in highest or self._scaled(item) > self._scaled(highest[item.key]):
                highest[item.key] = item
        hybrid_of = dict.fromkeys(highest, 0.0)
        if self._weight is not None:
            alone = {item.key: item.score for item in found}
            hybrid_of = hybrid_scores(alone, [sequence for _, sequence in strong], self._weight)

        def order(item: Evidence) -> tuple[float, float, SentenceKey]:
            return -round(hybrid_of[item.key], 6), -round(self._scaled(item), 6), item.key

        return sorted(highest.values(), key=order)

    def _scaled(self, item: Evidence) -> float:
        return item.score * self._scale if item.path else item.score


def _sequence(
    item: Evidence, scored: Mapping[tuple[tuple[SentenceKey, ...], SentenceKey], float]
) -> list[tuple[SentenceKey, float]]:
    """Return the path's sentences with the score of each after those before it."""
    keys = (*item.path, item.key)
    steps = [(keys[:position], key) for position, key in enumerate(keys)]
    if any(step not in scored for step in steps):
        return []  # one of them was not relevant when read alone
    return [(key, scored[before, key]) for before, key in steps]


def hybrid_scores(
    single: Mapping[SentenceKey, float],
    sequences: Sequence[Sequence[tuple[SentenceKey, float]]],
    weight: float,
) -> dict[SentenceKey, float]:
    """Return a score for every sentence (M3, algorithm 1).

    ``single``: the score of each sentence that was read with the claim alone. Each of
    ``sequences`` is a path that is not empty: its sentences in order, each with its score when read
    with the claim and the sentences before it. The score of a path is the product of these; the
    path score of a sentence is that of the best path that contains it. Both kinds of scores are
    scaled to 0..1 (lowest to highest); a sentence without a score of a kind gets the lowest. The
    result is the first score plus ``weight`` (gamma) times the second: 0 to 1 + ``weight``.

    If all scores of a kind are equal, they become 0, as in the authors' program. Sentences without
    a score get 0 too, so a single path does not change the order.
    """
    multi: dict[SentenceKey, float] = {}
    for sequence in sequences:
        score = prod(step for _, step in sequence)
        for key, _ in sequence:
            multi[key] = max(score, multi.get(key, score))
    by_claim, by_path = _normalised(single), _normalised(multi)
    # 0.0 is the lowest normalised score of both kinds.
    return {
        key: by_claim.get(key, 0.0) + weight * by_path.get(key, 0.0)
        for key in by_claim.keys() | by_path.keys()
    }


def _normalised(scores: Mapping[SentenceKey, float]) -> dict[SentenceKey, float]:
    if not scores:
        return {}
    least, greatest = min(scores.values()), max(scores.values())
    if least == greatest:
        return dict.fromkeys(scores, 0.0)
    return {key: (score - least) / (greatest - least) for key, score in scores.items()}


MAKERS: Makers = {
    "paths": PathReader,
    "fusion": lambda r, c: PathFusion(c.path_threshold, None, c.path_scale),
    "fusion:hybrid": lambda r, c: PathFusion(c.path_threshold, c.path_weight),
}
