"""The stage ``completion``: paths that may settle the claim if no single sentence does."""

from __future__ import annotations

from dataclasses import replace

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.stages.read.paths import PathReader
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.types import NOT_ENOUGH_INFO, Evidence, SentenceKey
from retrieval.words import counted


class PathCompletion(Stage):
    """Lets the verifier read the best paths among all sentences that were read.

    A sentence that completes another one often says nothing about the claim alone, so the path
    model looks for it among all sentences.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._reader = PathReader(resources, settings)
        self._verifier = EvidenceVerifier(resources.models.verifier, settings)
        self._limit = settings.verified_paths
        self._cutoff = settings.verified_path_cutoff

    def run(self, state: ClaimState) -> Step:
        """Add to ``paths`` and ``readings`` and label ``evidence`` again."""
        if any(item.decides != NOT_ENOUGH_INFO for item in state.evidence):
            return Step(state, "")
        state = replace(state, paths=(*state.paths, *self._reader.read(state)))
        best = self._best(state)
        found = self._verifier.verified(state, best)
        return Step(found, f"No sentence settles it alone; {counted(len(best), 'path')} read too")

    def _best(self, state: ClaimState) -> list[Evidence]:
        """Return the paths with the highest scores, each as its last sentence, best first.

        A path is left out if its score is below the cutoff, if it starts from a sentence that is
        not in the evidence, or if the verifier has read its sentences together, in any order. Of
        paths with the same sentences the one with the highest score is kept.
        """
        known = {item.key for item in state.evidence}
        done = {frozenset((*path, key)) for path, key in state.readings}
        best: dict[frozenset[SentenceKey], Evidence] = {}
        for item in sorted(state.paths, key=lambda item: -item.score):
            if len(best) == self._limit or item.score < self._cutoff:
                break
            together = frozenset((*item.path, item.key))
            if known.issuperset(item.path) and together not in done:
                best.setdefault(together, item)
        return list(best.values())


MAKERS: Makers = {"completion": PathCompletion}
