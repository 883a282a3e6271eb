"""The stage ``completion``: paths that may settle the claim if no single sentence does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval.stages.decide.verification import EvidenceVerifier, evidence_verifier
from retrieval.stages.read.paths import PathReader, path_reader
from retrieval.stages.stage import Makers, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import NOT_ENOUGH_INFO, Evidence, Reading, SentenceKey
from retrieval.words import counted


class PathCompletion(Stage):
    """Lets the verifier read the best paths among all sentences that were read.

    A sentence that completes another one often says nothing about the claim alone, so the path
    model looks for it among all sentences.
    """

    def __init__(
        self, reader: PathReader, verifier: EvidenceVerifier, limit: int, cutoff: float
    ) -> None:
        """Verify ``limit`` paths at most, whose scores by ``reader`` are at least ``cutoff``."""
        self._reader = reader
        self._verifier = verifier
        self._limit = limit
        self._cutoff = cutoff

    def run(self, state: ClaimState) -> Step:
        """Add to ``paths`` and ``readings`` and label ``evidence`` again."""
        if any(item.decides != NOT_ENOUGH_INFO for item in state.evidence):
            return Step(state, "")
        more = self._reader.read(
            state.claim, state.evidence, state.read, state.documents, state.paths
        )
        paths = (*state.paths, *more)
        best = best_paths(state.evidence, paths, state.readings, self._limit, self._cutoff)
        found = self._verifier.verified(replace(state, paths=paths), best)
        return Step(found, f"No sentence settles it alone; {counted(len(best), 'path')} read too")


def best_paths(
    evidence: Sequence[Evidence],
    paths: Sequence[Evidence],
    read: Iterable[Reading],
    count: int,
    cutoff: float,
) -> list[Evidence]:
    """Return the ``count`` paths with the highest scores, each as its last sentence, best first.

    ``paths``: those that the path model read. A path is left out if its score is below ``cutoff``,
    if it starts from a sentence that is not in ``evidence``, or if the verifier has ``read`` its
    sentences together, in any order. Of paths with the same sentences the one with the highest
    score is kept.
    """
    known = {item.key for item in evidence}
    done = {frozenset((*path, key)) for path, key in read}
    best: dict[frozenset[SentenceKey], Evidence] = {}
    for item in sorted(paths, key=lambda item: -item.score):
        if len(best) == count or item.score < cutoff:
            break
        together = frozenset((*item.path, item.key))
        if known.issuperset(item.path) and together not in done:
            best.setdefault(together, item)
    return list(best.values())


MAKERS: Makers = {
    "completion": lambda r, c: PathCompletion(
        path_reader(r, c), evidence_verifier(r, c), c.verified_paths, c.verified_path_cutoff
    )
}
