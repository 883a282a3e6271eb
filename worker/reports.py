"""What a worker says about itself with each heartbeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.errors import Problem
from retrieval.pipeline.runnable import Runnable

WorkerState: TypeAlias = Literal["loading", "ready", "broken"]


@dataclass(frozen=True)
class SearchedCorpus:
    """The corpus of a worker; ``built_at`` is ISO 8601 in UTC.

    ``text_date``: the day of its newest text, ISO 8601, "" if unknown. ``recipes``: which recipes
    can run over it; ``None`` if the worker runs an older version.
    """

    name: str
    source: str
    documents: int
    built_at: str
    text_date: str = ""
    recipes: Runnable | None = None


@dataclass(frozen=True)
class AskedModel:
    """The language model that a worker asks, at ``host``; ``problem``: why it gives no answer.

    ``decides``: whether the model gives the verdicts.
    """

    model: str
    host: str
    decides: bool
    problem: Problem | None
