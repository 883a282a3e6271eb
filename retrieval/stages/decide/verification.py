"""The stages ``verification`` and ``completion``: the verifier reads sentences and paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.read.paths import PathReader
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step, opinions
from retrieval.text.context import CopiedSentences, path_text
from retrieval.text.subject import ANYTHING, Subject
from retrieval.types import NOT_ENOUGH_INFO, Evidence, Opinion, Reading, SentenceKey
from retrieval.words import counted


class EvidenceVerifier(Stage):
    """Reads the claim with each of the best sentences, alone and after those that led to it.

    The relevance model, which is five times as fast, chooses the sentences. After this stage its
    probabilities are not used.
    """

    def __init__(self, model: EvidenceModel, settings: RetrievalConfig) -> None:
        """Read the ``verified_sentences`` best sentences, and those on their paths."""
        self._model = model
        self._limit = settings.verified_sentences
        self._gain = settings.path_gain
        self._other_share = settings.other_subject_share

    def run(self, state: ClaimState) -> Step:
        """Label ``evidence``, drop sentences that are not read, and add to ``readings``."""
        found = self.verified(state)
        return Step(found, f"{counted(len(found.evidence), 'sentence')} labelled")

    def verified(self, state: ClaimState, paths: Sequence[Evidence] = ()) -> ClaimState:
        """Return the state with its ``evidence`` labelled and more ``readings``; see ``verify``."""
        evidence, readings = self.verify(
            state.claim, state.evidence, state.readings, paths, state.subject
        )
        copied = CopiedSentences(ranked.document for ranked in state.documents)
        counted_copies = (
            replace(item, copies=copied.documents_with(item.key)) for item in evidence
        )
        return replace(state, evidence=tuple(counted_copies), readings=readings)

    def verify(
        self,
        claim: str,
        evidence: Sequence[Evidence],
        before: Mapping[Reading, Opinion],
        paths: Sequence[Evidence] = (),
        subject: Subject = ANYTHING,
    ) -> tuple[list[Evidence], dict[Reading, Opinion]]:
        """Return the sentences of the evidence that were read, best first, and all readings so far.

        ``evidence`` comes best first. ``before``: earlier readings, which are not repeated; their
        sentences stay in the evidence, whatever their rank is now. ``paths`` are read too. Each is
        given as its last sentence; its other sentences must be in ``evidence``.
        Of the readings that end with a sentence, the one with the highest score is kept; a path
        only if its score is higher than that of each of its sentences alone (``path_gain``).
        A reading that is not about the ``subject`` keeps a share of its stance
        (``other_subject_share``).
        The score of a sentence is that of the best reading that contains it (M3, algorithm 1), so
        the first sentence of a path is ranked next to the last one.
        """
        known = {item.key: item for item in (*paths, *evidence)}
        earlier = (  # without paths that would have to be read first
            item if (item.path, item.key) in before else replace(item, path=())
            for item in evidence[self._limit :]
            if ((), item.key) in before
        )
        found = [*evidence[: self._limit], *earlier]
        asked = list(_with_leads([*found, *paths], known))
        readings = self._readings(claim, asked, known, before)
        about = self._about(subject, readings, known)
        read = _labelled(list({item.key: item for item in asked}.values()), about, self._gain)
        worth = {item.key: item.score for item in read}
        for item in read:
            for key in item.path:
                worth[key] = max(worth[key], item.score)
        order = {item.key: position for position, item in enumerate(read)}
        read.sort(key=lambda item: (-round(worth[item.key], 3), order[item.key]))
        return read, readings

    def _readings(
        self,
        claim: str,
        asked: Sequence[Evidence],
        known: Mapping[SentenceKey, Evidence],
        before: Mapping[Reading, Opinion],
    ) -> dict[Reading, Opinion]:
        wanted = dict.fromkeys((path, item.key) for item in asked for path in ((), item.path))
        new = [reading for reading in wanted if reading not in before]
        texts = ([known[key].as_read for key in (*path, last)] for path, last in new)
        read = opinions(self._model, claim, (path_text(text[-1], text[:-1]) for text in texts))
        return {**before, **dict(zip(new, read, strict=True))}

    def _about(
        self,
        subject: Subject,
        readings: Mapping[Reading, Opinion],
        known: Mapping[SentenceKey, Evidence],
    ) -> dict[Reading, Opinion]:
        """Return the readings of known sentences; those about another thing say less."""
        about = {}
        for reading, opinion in readings.items():
            path, last = reading
            if not known.keys() >= {*path, last}:
                continue
            share = self._other_share
            if share == 1 or subject.is_of([known[key] for key in (*path, last)]):
                share = 1.0
            supports, refutes = share * opinion[0], share * opinion[1]
            about[reading] = (supports, refutes, 1 - supports - refutes)
        return about


def _with_leads(
    items: Sequence[Evidence], known: Mapping[SentenceKey, Evidence]
) -> Iterator[Evidence]:
    """Yield the sentences, then those on their paths; a path over an unknown sentence is cut."""
    whole = [item if known.keys() >= set(item.path) else replace(item, path=()) for item in items]
    yield from whole
    for item in whole:
        yield from (replace(known[key], path=()) for key in item.path)


def _labelled(
    best: Sequence[Evidence], readings: Mapping[Reading, Opinion], gain: float
) -> list[Evidence]:
    """Return the sentences with the labels of their readings with the highest scores.

    A path whose score is not clearly higher than those of its sentences alone is not used.
    """
    alone = {
        item.key: replace(item, opinion=readings[(), item.key], path=(), alone=None)
        for item in best
    }
    decisive = dict(alone)
    for (path, key), opinion in readings.items():
        if not path or not alone.keys() >= {*path, key}:
            continue
        together = replace(alone[key], opinion=opinion, path=path, alone=alone[key].opinion)
        least = gain + max(alone[part].score for part in (*path, key))
        if together.score >= max(least, decisive[key].score):
            decisive[key] = together
    return list(decisive.values())


class PathCompletion(Stage):
    """Lets the verifier read the best paths among all sentences that were read.

    A sentence that completes another one often says nothing about the claim alone, so the path
    model looks for it among all sentences.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._reader = PathReader(resources, settings)
        self._verifier = EvidenceVerifier(resources.verifier, settings)
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


MAKERS: Makers = {
    "verification": lambda r, c: EvidenceVerifier(r.verifier, c),
    "completion": PathCompletion,
}
