"""The stage ``relevance``: which sentences are relevant to the claim (report, 3.3.10)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models.cross_encoders import EvidenceModel
from retrieval.models.own_models import Reranker
from retrieval.models.papers.report_models import RELEVANCE, present_models
from retrieval.models.papers.report_networks import PairClassifier
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.stage import Makers, Resources, Stage, Step, opinions
from retrieval.state import ClaimState
from retrieval.text.context import CopiedSentences, context_of
from retrieval.text.model_texts import evidence_text
from retrieval.types import UNREAD, Evidence, Opinion, RankedDocument, Sentence
from retrieval.words import counted


class RelevanceClassifier(Stage):
    """Reads the claim together with each sentence."""

    def __init__(self, cutoff: float) -> None:
        """Keep sentences whose relevance, 1 - P(NOT ENOUGH INFO), is at least ``cutoff``."""
        self._cutoff = cutoff

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop.

        Of copies only the most relevant one is kept.
        """
        unread = [self._unread(ranked, sentence) for ranked, sentence in state.chosen]
        said = self._opinions(state.claim, [self._text(item) for item in unread])
        read = [replace(item, opinion=one) for item, one in zip(unread, said, strict=True)]
        read.sort(key=lambda item: (-item.score, item.key))
        read = _without_copies(state, read)
        relevant = _once([item for item in read if item.score >= self._cutoff])
        message = f"{counted(len(relevant), 'sentence')} that may be relevant to the claim"
        return Step(replace(state, read=(*state.read, *read), relevant=relevant), message)

    @abstractmethod
    def _opinions(self, claim: str, texts: Sequence[str]) -> list[Opinion]:
        """Return what the model says of the claim and each text."""

    def _unread(self, ranked: RankedDocument, sentence: Sentence) -> Evidence:
        return unread_evidence(ranked, sentence)

    def _text(self, item: Evidence) -> str:
        """Return what the model reads: the title and the sentence in its context."""
        return evidence_text(*item.as_read)


class CrossEncoderRelevanceClassifier(RelevanceClassifier):
    """Gives relevance and stance in one pass."""

    def __init__(self, model: EvidenceModel, cutoff: float) -> None:
        super().__init__(cutoff)
        self._model = model

    def _opinions(self, claim: str, texts: Sequence[str]) -> list[Opinion]:
        return opinions(self._model, claim, texts)


class _Scores(Protocol):
    """A model that gives (claim, text) pairs one probability, of being relevant."""

    def warm_up(self) -> None: ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]: ...


class ScoredRelevance(RelevanceClassifier):
    """Gives the probability that a sentence is relevant, and no stance.

    Until the verifier reads the sentence, SUPPORTS and REFUTES have half of that each.
    """

    def __init__(self, model: _Scores, cutoff: float) -> None:
        super().__init__(cutoff)
        self._model = model

    def _opinions(self, claim: str, texts: Sequence[str]) -> list[Opinion]:
        scores = self._model.probabilities([(claim, text) for text in texts]).tolist()
        return [(score / 2, score / 2, 1 - score) for score in scores]


class DistilBertRelevanceClassifier(ScoredRelevance):
    """The report's classifier (3.3.10).

    As in the report, the sentence is read without its title and without any other sentence of its
    document, also by later stages.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        models = present_models(resources.models.folders.report)
        super().__init__(PairClassifier(models, RELEVANCE), settings.relevance_cutoff)

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


def _made(resources: Resources, settings: RetrievalConfig) -> Stage:
    """Return the stage with the shipped model, or with the one that the user has named."""
    reranker = resources.models.folders.reranker
    if reranker is not None:
        return ScoredRelevance(Reranker(reranker), settings.relevance_cutoff)
    model = resources.models.relevance_model
    return CrossEncoderRelevanceClassifier(model, settings.relevance_cutoff)


MAKERS: Makers = {"relevance": _made, "relevance:distilbert": DistilBertRelevanceClassifier}
