"""Named entities and extracted answers: the spans of the ESOTERIC report (section 3.3.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from haystack import component
from spacy.tokens import Doc

from retrieval.report.models import ANSWERS, NAMES
from retrieval.report.networks import TextGenerator, TokenLabels
from retrieval.types import Span

_SEPARATOR = "<sep>"


@component
class WikineuralSpanExtractor:
    """Joins the entities that WikiNEuRal labels and the answers that a T5 extracts.

    The report joins both because either misses names (3.3.6). As there, a span is a span whichever
    of them found it, so all have the kind "entity".
    """

    def __init__(self, models: Path) -> None:
        """``models`` is the folder of the report's models."""
        self._names = TokenLabels(models, NAMES)
        self._answers = TextGenerator(models, ANSWERS)

    def warm_up(self) -> None:
        """Load both models.

        Raises:
            ModelUnavailable: one is missing or damaged.
        """
        self._names.warm_up()
        self._answers.warm_up()

    @component.output_types(spans=list[Span])
    def run(self, doc: Doc) -> dict[str, list[Span]]:
        """Return the spans in order of their position, longer ones first, each once.

        An answer is the first stretch of the claim that reads like it, whatever its case; one that
        the claim does not hold is left out, since it has no place there.
        """
        claim = doc.text
        said = self._answers.answers([f"extract answers: <ha> {claim} <ha>"])[0]
        found = {
            *merged_entities(self._names.labelled(claim)),
            *_places(said.split(_SEPARATOR), claim),
        }
        ordered = sorted(found, key=lambda place: (place[0], -place[1]))
        return {"spans": [Span(claim[start:end], start, end, "entity") for start, end in ordered]}


def merged_entities(words: Iterable[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """Return where entities stand, from (start, end, label) of each word.

    Labels are "O", "B-TYPE" and "I-TYPE". An entity is a word labelled B or I and those after
    it that are labelled I with the same type.
    """
    entities: list[tuple[int, int]] = []
    before = ""
    for start, end, label in words:
        place, _, kind = label.partition("-")
        if kind and place == "I" and kind == before:
            entities[-1] = (entities[-1][0], end)
        elif kind:
            entities.append((start, end))
        before = kind
    return entities


def _places(answers: Iterable[str], claim: str) -> Iterator[tuple[int, int]]:
    for answer in filter(None, map(str.strip, answers)):
        if match := re.search(re.escape(answer), claim, re.IGNORECASE):
            yield match.span()
