"""The stage ``relevance``: which sentences are relevant to the claim (report, 3.3.10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.language.copies import CopiedSentences
from retrieval.language.model_texts import evidence_text
from retrieval.report.models import RELEVANCE
from retrieval.report.networks import PairClassifier
from retrieval.stages.stage import Stage, Step, count
from retrieval.state import ClaimState
from retrieval.types import Evidence, RankedDocument, Sentence


class CrossEncoderRelevanceClassifier(Stage):
    """Reads the claim together with each sentence and its title.

    One pass gives relevance, which is 1 - P(NOT ENOUGH INFO), and stance, which is the most
    probable class.
    """

    def __init__(self, model: CrossEncoder, cutoff: float) -> None:
        """Keep sentences whose relevance is at least ``cutoff``."""
        self._model = model
        self._cutoff = cutoff

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop."""
        return _step(state, self.read(state.claim, state.chosen), self._cutoff)

    def read(
        self, claim: str, sentences: Sequence[tuple[RankedDocument, Sentence]]
    ) -> list[Evidence]:
        """Return the sentences as evidence, most relevant first."""
        opinions = self._model.probabilities(
            [(claim, evidence_text(ranked.document.heading, s.text)) for ranked, s in sentences]
        )
        read = [
            Evidence(
                sentence=sentence,
                title=ranked.document.title,
                url=ranked.document.url,
                opinion=(float(row[0]), float(row[1]), float(row[2])),
                hop=ranked.hop,
                section=ranked.document.section,
                page=ranked.document.page,
            )
            for (ranked, sentence), row in zip(sentences, opinions, strict=True)
        ]
        return _most_relevant_first(read)


class DistilBertRelevanceClassifier(Stage):
    """Reads the claim together with each sentence and gives the probability that it is relevant.

    It gives no stance. Until the verifier reads the sentence, SUPPORTS and REFUTES have half of the
    probability of relevance each.
    """

    def __init__(self, models: Path, cutoff: float) -> None:
        """Keep sentences whose relevance is at least ``cutoff`` (report: 0.5).

        ``models`` is the folder of the report's models.
        """
        self._model = PairClassifier(models, RELEVANCE)
        self._cutoff = cutoff

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._model.warm_up()

    def run(self, state: ClaimState) -> Step:
        """Read ``chosen``: all are added to ``read``, ``relevant`` are those of this hop."""
        return _step(state, self.read(state.claim, state.chosen), self._cutoff)

    def read(
        self, claim: str, sentences: Sequence[tuple[RankedDocument, Sentence]]
    ) -> list[Evidence]:
        """Return the sentences as evidence, most relevant first."""
        relevance = self._model.probabilities([(claim, s.text) for _, s in sentences]).tolist()
        read = [
            Evidence(
                sentence=sentence,
                title=ranked.document.title,
                url=ranked.document.url,
                opinion=(relevant / 2, relevant / 2, 1 - relevant),
                hop=ranked.hop,
                section=ranked.document.section,
                page=ranked.document.page,
            )
            for (ranked, sentence), relevant in zip(sentences, relevance, strict=True)
        ]
        return _most_relevant_first(read)


def _most_relevant_first(read: Iterable[Evidence]) -> list[Evidence]:
    return sorted(
        read, key=lambda item: (-item.score, item.sentence.document_id, item.sentence.sentence_id)
    )


def _step(state: ClaimState, read: Sequence[Evidence], cutoff: float) -> Step:
    """Return the sentences read, each once: of copies only the most relevant one is kept."""
    read = _without_copies(state, read)
    relevant = tuple(item for item in read if item.score >= cutoff)
    message = f"{count(len(relevant), 'sentence')} that may be relevant to the claim"
    return Step(replace(state, read=(*state.read, *read), relevant=relevant), message)


def _without_copies(state: ClaimState, read: Sequence[Evidence]) -> list[Evidence]:
    opened = (*state.documents, *(ranked for ranked, _ in state.chosen))
    copied = CopiedSentences(ranked.document for ranked in opened)
    seen = {copied.text(item.key) for item in state.read}
    kept = []
    for item in read:
        if (text := copied.text(item.key)) not in seen:
            seen.add(text)
            kept.append(item)
    return kept
