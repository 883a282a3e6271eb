"""Relevance by a classifier with two labels (ESOTERIC report, section 3.3.10)."""

from __future__ import annotations

from pathlib import Path

from haystack import component

from retrieval.report.models import RELEVANCE
from retrieval.report.networks import PairClassifier
from retrieval.types import Evidence, RankedDocument, Sentence


@component
class DistilBertRelevanceClassifier:
    """Reads the claim beside each sentence and says whether the sentence is relevant.

    It names no stance, so supporting and refuting share the probability of relevance equally
    until the verifier reads the sentence.
    """

    def __init__(self, models: Path, cutoff: float) -> None:
        """Keep sentences at least ``cutoff`` relevant; ``models`` is the report's models' folder.

        The report keeps those labelled relevant: 0.5.
        """
        self._model = PairClassifier(models, RELEVANCE)
        self._cutoff = cutoff

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence], read=list[Evidence])
    def run(
        self, claim: str, sentences: list[tuple[RankedDocument, Sentence]]
    ) -> dict[str, list[Evidence]]:
        """Return the relevant ones as ``evidence`` and all as ``read``, most relevant first."""
        relevance = self._model.probabilities([(claim, s.text) for _, s in sentences]).tolist()
        read = [
            Evidence(
                sentence=sentence,
                title=ranked.document.title,
                url=ranked.document.url,
                opinion=(relevant / 2, relevant / 2, 1 - relevant),
                hop=ranked.hop,
            )
            for (ranked, sentence), relevant in zip(sentences, relevance, strict=True)
        ]
        read.sort(
            key=lambda item: (-item.score, item.sentence.document_id, item.sentence.sentence_id)
        )
        return {"evidence": [item for item in read if item.score >= self._cutoff], "read": read}
