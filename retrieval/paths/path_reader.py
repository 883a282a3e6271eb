"""Reads a sentence beside the sentences that led to it (M3, section 3.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import path_text
from retrieval.paths.nearness import Nearness
from retrieval.types import Evidence, RankedDocument, SentenceKey


@component
class PathReader:
    """One model sees claim, evidence and candidate together.

    What tells where the painter was born says nothing about "the painter of
    Guernica" before the sentence that names him stands beside it.
    """

    def __init__(
        self, model: CrossEncoder, nearness: Nearness, leads: int, neighbours: int
    ) -> None:
        """Go on from the ``leads`` best sentences.

        ``neighbours``: how many sentences are read after each lead, at most so many of the
        documents that it led to and so many of the others.
        """
        self._model = model
        self._nearness = nearness
        self._leads = leads
        self._neighbours = neighbours

    def warm_up(self) -> None:
        """Load the models."""
        self._model.warm_up()
        self._nearness.warm_up()

    @component.output_types(paths=list[Evidence])
    def run(
        self,
        claim: str,
        found: list[Evidence],
        read: list[Evidence],
        documents: list[RankedDocument],
        paths: list[Evidence],
    ) -> dict[str, list[Evidence]]:
        """Return every candidate as the end of a path, with the opinion of the path read as one.

        ``found`` comes best first and holds the leads. ``read`` holds all sentences
        read so far, each alone; ``documents`` tell which lead they were opened for.
        ``paths`` were read in hops before and are not read again. A lead whose path is none of
        them, since the verifier found it, is a lead without its path.
        """
        known = {item.key: item for item in read}
        led_by = {ranked.document.id: ranked.led_by for ranked in documents}
        done = {(item.path, item.key) for item in paths}
        leads = [
            item if (item.path, item.key) in done else replace(item, path=())
            for item in found[: self._leads]
        ]
        orders = self._nearness.orders(
            [(claim, _texts(lead, known)) for lead in leads],
            [ranked.document for ranked in documents],
            known.keys(),
        )
        pairs = self._pairs(leads, orders, read, led_by, done)
        opinions = self._model.probabilities(
            [
                (
                    claim,
                    path_text((item.title, item.sentence.text), _texts(lead, known)),
                )
                for lead, item in pairs
            ]
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
        leads: Sequence[Evidence],
        orders: Sequence[Mapping[SentenceKey, int]],
        read: Sequence[Evidence],
        led_by: Mapping[str, SentenceKey | None],
        done: Collection[tuple[tuple[SentenceKey, ...], SentenceKey]],
    ) -> list[tuple[Evidence, Evidence]]:
        """Return leads with candidates, the best of what each led to and the best of the rest.

        The best are those that say the most of the claim alone and those that are the nearest to
        claim and lead together, by turns.
        """
        by_score = {
            item.key: place for place, item in enumerate(sorted(read, key=lambda item: -item.score))
        }
        pairs = []
        for lead, by_nearness in zip(leads, orders, strict=True):
            path = (*lead.path, lead.key)
            near = sorted(
                read,
                key=lambda item: min(by_score[item.key], by_nearness.get(item.key, len(by_score))),
            )
            left = [i for i in near if i.key not in path and (path, i.key) not in done]
            opened = [i for i in left if led_by.get(i.sentence.document_id) == lead.key]
            beside = [i for i in left if led_by.get(i.sentence.document_id) != lead.key]
            best = (*opened[: self._neighbours], *beside[: self._neighbours])
            pairs += [(lead, item) for item in best]
        return pairs


def _texts(lead: Evidence, known: Mapping[SentenceKey, Evidence]) -> list[tuple[str, str]]:
    """Return the (title, sentence) pairs of a path that ends with the lead."""
    path = [*(known[key] for key in lead.path), lead]
    return [(item.title, item.sentence.text) for item in path]
