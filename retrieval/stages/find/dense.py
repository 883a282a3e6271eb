"""The stage ``dense``: documents of the sentences nearest to claim and path (M3, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.models.encoders import Query
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.next import ExpanderMakers, interleaved
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import Candidate, Evidence, SentenceKey
from retrieval.words import counted

Path = Sequence[Evidence]


class DenseSentenceRetriever(Stage):
    """Searches the stored sentence vectors with the claim, or with the claim and each path.

    Sentences are found without a common word or name with the claim, and without links between
    pages.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.queries
        self._limit = settings.dense_limit
        self._leads = settings.path_leads

    def run(self, state: ClaimState) -> Step:
        """Add documents to ``candidates``: the first of both, the second of both, and so on."""
        near = self._near(state, [[]], state.hop)
        found = replace(state, candidates=tuple(interleaved([state.candidates, near])))
        return Step(found, f"{counted(len(near), 'document')} with a sentence close to the claim")

    def expand(self, state: ClaimState) -> list[Candidate]:
        """See ``Expander.expand``."""
        return self._near(state, leading_paths(state, self._leads), state.hop + 1)

    def _near(self, state: ClaimState, paths: Sequence[Path], hop: int) -> list[Candidate]:
        """Return the documents of the sentences nearest to each path that are not seen yet.

        The score of a document is that of its best sentence; highest first. The lead of each is
        the last sentence of the path that found it.
        """
        vectors = self._encoder.encode(queries_of(state.claim, paths))
        nearest = self._store.nearest_sentences(vectors, self._limit, state.seen)
        best: dict[str, tuple[float, SentenceKey | None]] = {}
        for path, matches in zip(paths, nearest, strict=True):
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


def leading_paths(state: ClaimState, leads: int) -> list[Path]:
    """Return the paths that end with the ``leads`` best sentences; the empty one without any."""
    known = {item.key: item for item in state.read}
    best = state.evidence[:leads]
    return [[*(known[key] for key in lead.path), lead] for lead in best] or [[]]


def queries_of(claim: str, paths: Sequence[Path]) -> list[Query]:
    """Return the claim with each of the paths."""
    return [(claim, [(item.heading, item.sentence.text) for item in path]) for path in paths]


MAKERS: Makers = {"dense": DenseSentenceRetriever}
EXPANDERS: ExpanderMakers = {"dense": DenseSentenceRetriever}
