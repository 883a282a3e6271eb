"""Relevance: which sentences bear on the claim, and what each says of it (report, 3.3.10)."""

from __future__ import annotations

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.types import Evidence, RankedDocument, Sentence


@component
class CrossEncoderRelevanceClassifier:
    """Reads the claim beside each sentence with its title.

    One pass gives both: relevance is 1 - P(NOT ENOUGH INFO), the stance is the
    most probable class.
    """

    def __init__(self, model: CrossEncoder, cutoff: float = 0.01) -> None:
        """Keep sentences at least ``cutoff`` relevant."""
        self._model = model
        self._cutoff = cutoff

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence], read=list[Evidence])
    def run(
        self, claim: str, sentences: list[tuple[RankedDocument, Sentence]]
    ) -> dict[str, list[Evidence]]:
        """Return the relevant ones as ``evidence`` and all as ``read``, most relevant first."""
        opinions = self._model.probabilities(
            [(claim, evidence_text(ranked.document.title, s.text)) for ranked, s in sentences]
        )
        read = [
            Evidence(
                sentence=sentence,
                title=ranked.document.title,
                url=ranked.document.url,
                opinion=(float(row[0]), float(row[1]), float(row[2])),
                hop=ranked.hop,
            )
            for (ranked, sentence), row in zip(sentences, opinions, strict=True)
        ]
        read.sort(
            key=lambda item: (-item.score, item.sentence.document_id, item.sentence.sentence_id)
        )
        return {"evidence": [item for item in read if item.score >= self._cutoff], "read": read}
