"""Stages by the names that recipes use, with indexes and models that a test makes."""

from types import SimpleNamespace
from typing import Any, cast

from retrieval.index.interface import DocumentStore
from retrieval.pipeline.check import EXPANDERS, MAKERS
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.stage import ClaimState, Models, Resources, Stage, Step
from retrieval.types import Candidate
from tests.support.encoders import WordEncoder


def resources(store: object = None, **models: Any) -> Resources:
    """An index, and models by their names in ``Models``; the encoder counts words."""
    judge = models.get("verifier")
    made = SimpleNamespace(**{"encoder": WordEncoder(), **models, "verifier": lambda *_: judge})
    return Resources(cast(DocumentStore, store), cast(Models, made))


def stage(name: str, store: object = None, models: Any = None, **settings: Any) -> Stage:
    """A stage with these settings, and others at their defaults."""
    return MAKERS[name](resources(store, **(models or {})), RetrievalConfig(**settings))


def after(
    name: str, state: ClaimState, store: object = None, models: Any = None, **settings: Any
) -> Step:
    """What a stage makes of a state."""
    return stage(name, store, models, **settings).run(state)


def expanded(
    name: str, state: ClaimState, store: object = None, models: Any = None, **settings: Any
) -> list[Candidate]:
    """What an expander finds for the next hop."""
    made = EXPANDERS[name](resources(store, **(models or {})), RetrievalConfig(**settings))
    return made.expand(state)
