"""Relevance: which sentences bear on the claim, and what each says of it (report, 3.3.10)."""

from __future__ import annotations

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.types import Evidence, RankedDocument


@component
class CrossEncoderRelevanceClassifier:
    """Reads the claim beside each sentence with its title.

    One pass gives both: relevance is 1 - P(NOT ENOUGH INFO), the stance is the
    most probable class.
    """

    def __init__(self, model: CrossEncoder, cutoff: float = 0.01, limit: int = 80) -> None:
        """Keep sentences at least ``cutoff`` relevant; read ``limit`` sentences at most."""
        self._model = model
        self._cutoff = cutoff
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence], read=list[Evidence])
    def run(self, claim: str, documents: list[RankedDocument]) -> dict[str, list[Evidence]]:
        """Return the relevant sentences as ``evidence`` and all as ``read``, most relevant first.

        Documents come best first. Where they hold more than ``limit`` sentences, the
        first one of each is read, then those nearer the beginning of better documents.
        """
        sentences = [
            (position, rank, sentence, ranked)
            for rank, ranked in enumerate(documents)
            for position, sentence in enumerate(ranked.document.sentences)
        ]
        sentences.sort(key=lambda entry: (entry[0] > 0, entry[0] * 2 + entry[1], entry[1]))
        chosen = sentences[: self._limit]
        scores = self._model.probabilities(
            [(claim, evidence_text(ranked.document.title, s.text)) for _, _, s, ranked in chosen]
        )
        read = [
            Evidence(
                sentence=sentence,
                title=ranked.document.title,
                url=ranked.document.url,
                opinion=(float(row[0]), float(row[1]), float(row[2])),
                hop=ranked.hop,
            )
            for (_, _, sentence, ranked), row in zip(chosen, scores, strict=True)
        ]
        read.sort(
            key=lambda item: (-item.score, item.sentence.document_id, item.sentence.sentence_id)
        )
        return {"evidence": [item for item in read if item.score >= self._cutoff], "read": read}
