"""The stage ``relevance``: which sentences are relevant to the claim (report, 3.3.10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.own_models import Reranker
from retrieval.models.papers.report_models import RELEVANCE, present_models
from retrieval.models.papers.report_networks import PairClassifier
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step
from retrieval.state import ClaimState
from retrieval.text.context import CopiedSentences, context_of
from retrieval.text.model_texts import evidence_text
from retrieval.types import Evidence, RankedDocument, Sentence
from retrieval.words import counted


class CrossEncoderRelevanceClassifier(Stage):
    """Reads the claim together with each sentence and its title.

    One pass gives relevance, which is 1 - P(NOT ENOUGH INFO), and stance.
    """

    def __init__(self, model: CrossEncoder, cutoff: float) -> None:
        """Keep sentences whose relevance is at least ``cutoff``."""
        self._model = model
        self._cutoff = cutoff

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop."""
        return _step(state, self.read(state.claim, state.chosen), self._cutoff)

    def read(
        self, claim: str, sentences: Sequence[tuple[RankedDocument, Sentence]]
    ) -> list[Evidence]:
        """Return the sentences as evidence, most relevant first."""
        unread = [unread_evidence(ranked, sentence) for ranked, sentence in sentences]
        opinions = self._model.probabilities(
            [(claim, evidence_text(*item.as_read)) for item in unread]
        )
        read = [
            replace(item, opinion=(float(row[0]), float(row[1]), float(row[2])))
            for item, row in zip(unread, opinions, strict=True)
        ]
        return _most_relevant_first(read)


class _Scores(Protocol):
    """A model that gives (claim, text) pairs one probability, of being relevant."""

    def warm_up(self) -> None: ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]: ...


class ScoredRelevance(Stage):
    """Reads the claim together with each sentence and gives the probability that it is relevant.

    It gives no stance. Until the verifier reads the sentence, SUPPORTS and REFUTES have half of the
    probability of relevance each.
    """

    def __init__(self, model: _Scores, cutoff: float) -> None:
        """Keep sentences whose relevance is at least ``cutoff``."""
        self._model = model
        self._cutoff = cutoff

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop."""
        return _step(state, self.read(state.claim, state.chosen), self._cutoff)

    def read(
        self, claim: str, sentences: Sequence[tuple[RankedDocument, Sentence]]
    ) -> list[Evidence]:
        """Return the sentences as evidence, most relevant first."""
        unread = [self._unread(ranked, sentence) for ranked, sentence in sentences]
        relevance = self._model.probabilities([(claim, self._text(item)) for item in unread])
        read = [
            replace(item, opinion=(relevant / 2, relevant / 2, 1 - relevant))
            for item, relevant in zip(unread, relevance.tolist(), strict=True)
        ]
        return _most_relevant_first(read)

    def _unread(self, ranked: RankedDocument, sentence: Sentence) -> Evidence:
        return unread_evidence(ranked, sentence)

    def _text(self, item: Evidence) -> str:
        """Return what the model reads: the title and the sentence in its context."""
        return evidence_text(*item.as_read)


class DistilBertRelevanceClassifier(ScoredRelevance):
    """The report's classifier (3.3.10).

    As in the report, the sentence is read without its title and without any other sentence of its
    document, also by later stages.
    """

    def __init__(self, models: Path, cutoff: float) -> None:
        """Keep sentences whose relevance is at least ``cutoff`` (report: 0.5).

        ``models`` is the folder of the report's models.
        """
        super().__init__(PairClassifier(models, RELEVANCE), cutoff)

    def _unread(self, ranked: RankedDocument, sentence: Sentence) -> Evidence:
        return replace(unread_evidence(ranked, sentence), context_before=None, context_after=None)

    def _text(self, item: Evidence) -> str:
        return item.sentence.text


def unread_evidence(ranked: RankedDocument, sentence: Sentence) -> Evidence:
    """Return a sentence with its context, before any model has read it."""
    document = ranked.document
    context = context_of(document, sentence)
    return Evidence(
        sentence=sentence,
        title=document.title,
        url=document.url,
        opinion=(0.0, 0.0, 1.0),
        hop=ranked.hop,
        section=document.section,
        page=document.page,
        context_before=context.before,
        context_after=context.after,
    )


def _most_relevant_first(read: Iterable[Evidence]) -> list[Evidence]:
    return sorted(
        read, key=lambda item: (-item.score, item.sentence.document_id, item.sentence.sentence_id)
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


def _step(state: ClaimState, read: Sequence[Evidence], cutoff: float) -> Step:
    """Return the sentences read, each once: of copies only the most relevant one is kept."""
    read = _without_copies(state, read)
    relevant = _once([item for item in read if item.score >= cutoff])
    message = f"{counted(len(relevant), 'sentence')} that may be relevant to the claim"
    return Step(replace(state, read=(*state.read, *read), relevant=relevant), message)


def _without_copies(state: ClaimState, read: Sequence[Evidence]) -> list[Evidence]:
    """Return the sentences without those that stand, with the same context, in another document."""
    opened = (*state.documents, *(ranked for ranked, _ in state.chosen))
    copied = CopiedSentences(ranked.document for ranked in opened)

    def as_read(item: Evidence) -> tuple[str, str | None, str | None]:
        return copied.text(item.key), item.context_before, item.context_after

    seen = {as_read(item) for item in state.read}
    kept = []
    for item in read:
        if as_read(item) not in seen:
            seen.add(as_read(item))
            kept.append(item)
    return kept


def _made(resources: Resources, c: RetrievalConfig) -> Stage:
    """Return the stage with the shipped model, or with the one that the user has named."""
    reranker = resources.models.folders.reranker
    if reranker is not None:
        return ScoredRelevance(Reranker(reranker), c.relevance_cutoff)
    return CrossEncoderRelevanceClassifier(resources.models.relevance_model, c.relevance_cutoff)


MAKERS: Makers = {
    "relevance": _made,
    "relevance:distilbert": lambda r, c: DistilBertRelevanceClassifier(
        present_models(r.models.folders.report), c.relevance_cutoff
    ),
}
