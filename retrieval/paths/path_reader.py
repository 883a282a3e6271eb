"""Reads a sentence beside the sentences that led to it (M3, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import path_text
from retrieval.types import Evidence, RankedDocument, SentenceKey


@component
class PathReader:
    """One model sees claim, evidence and candidate together.

    What tells where the painter was born says nothing about "the painter of
    Guernica" before the sentence that names him stands beside it.
    """

    def __init__(self, model: CrossEncoder, leads: int, neighbours: int, limit: int) -> None:
        """Go on from the ``leads`` best sentences, ``limit`` candidates in all at most.

        ``neighbours``: how many sentences that are known already are read behind each lead
        beside those of the documents that it led to.
        """
        self._model = model
        self._leads = leads
        self._neighbours = neighbours
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(paths=list[Evidence])
    def run(
        self,
        claim: str,
        found: list[Evidence],
        read: list[Evidence],
        documents: list[RankedDocument],
    ) -> dict[str, list[Evidence]]:
        """Return every candidate as the end of a path, with the opinion of the path read as one.

        ``found`` comes best first and holds the leads. ``read`` holds all sentences
        read so far, each alone; ``documents`` tell which lead they were opened for.
        """
        known = {item.key: item for item in read}
        led_by = {ranked.document.id: ranked.led_by for ranked in documents}
        pairs = self._pairs(found, read, led_by)
        opinions = self._model.probabilities(
            [(claim, _text(candidate, lead, known)) for lead, candidate in pairs]
        )
        return {
            "paths": [
                replace(
                    candidate,
                    opinion=(float(row[0]), float(row[1]), float(row[2])),
                    path=(*lead.path, lead.key),
                )
                for (lead, candidate), row in zip(pairs, opinions, strict=True)
            ]
        }

    def _pairs(
        self,
        found: Sequence[Evidence],
        read: Sequence[Evidence],
        led_by: Mapping[str, SentenceKey | None],
    ) -> list[tuple[Evidence, Evidence]]:
        """Leads with their candidates; where there are too many, each lead gets its share."""
        leads = found[: self._leads]
        near = sorted(read, key=lambda item: -item.score)
        chosen = []
        for lead in leads:
            taken = {lead.key, *lead.path}
            opened = [item for item in read if led_by.get(item.sentence.document_id) == lead.key]
            beside = [item for item in near if item not in opened and item.key not in taken]
            candidates = [item for item in opened if item.key not in taken]
            candidates += beside[: self._neighbours]
            chosen += [(lead, item) for item in candidates[: self._limit // len(leads)]]
        return chosen


def _text(candidate: Evidence, lead: Evidence, known: Mapping[SentenceKey, Evidence]) -> str:
    path = [*(known[key] for key in lead.path), lead]
    return path_text(
        (candidate.title, candidate.sentence.text),
        [(item.title, item.sentence.text) for item in path],
    )
