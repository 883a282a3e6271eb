"""The report's T5 that extracts pieces of a claim (sections 3.3.6 and 3.3.8)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from retrieval.models.report.models import ANSWERS
from retrieval.models.report.networks import TextGenerator

_SEPARATOR = "<sep>"


class AnswerExtractor:
    """Extracts entities to search for, or answers to ask for, each with a prompt of its own.

    The report gives the prompts in figures 21 and 24.
    """

    def __init__(self, models: Path) -> None:
        """``models`` is the folder of the report's models."""
        self._model = TextGenerator(models, ANSWERS)

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._model.warm_up()

    def places(self, what: Literal["entities", "answers"], claim: str) -> list[tuple[int, int]]:
        """Return start and end of each piece, in the model's order, each once.

        It is the first place in the claim with the same text, ignoring case. A piece that does not
        occur in the claim is left out.
        """
        said = self._model.answers([f"extract {what}: <ha> {claim} <ha>"])[0]
        pieces = filter(None, map(str.strip, said.split(_SEPARATOR)))
        found = (re.search(re.escape(piece), claim, re.IGNORECASE) for piece in pieces)
        return list(dict.fromkeys(match.span() for match in found if match))
