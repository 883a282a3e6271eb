"""What the API takes and answers, as models. Its description is made from them."""

from __future__ import annotations

from typing import Annotated, Literal

from flask import Response, jsonify
from pydantic import BaseModel, ConfigDict, Field

from app.export import EXPORTS
from retrieval.errors import Problem
from retrieval.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.result import Whole
from worker.jobs import Event, Links, State


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


class Submission(_Model):
    """A claim to be checked."""

    model_config = ConfigDict(extra="forbid")

    claim: str
    """What is claimed, of at most 500 characters."""
    recipe: Annotated[str, Field(json_schema_extra={"enum": list(RECIPES)})] = DEFAULT_RECIPE
    """Name of a recipe."""


class Accepted(_Model):
    """A claim that was submitted."""

    id: str
    """Id of the claim."""
    state: State
    """How far it is."""
    links: Links
    """Addresses of the claim."""


class Follow(_Model):
    """How a claim's page is wanted."""

    follow: Literal["0", "1"] = "0"
    """1: the page renews itself without scripts too."""


class HistorySearch(_Model):
    """Which claims are wanted."""

    q: str = ""
    """Words of a claim."""
    page: Whole = 1
    """Number of the page, from 1."""


class Since(_Model):
    """Which events are wanted."""

    # Larger than any number of an event, and small enough for every database.
    since: Annotated[int, Field(ge=0, lt=10**9)] = 0
    """The `next` of the answer before."""


class Progress(_Model):
    """What happened to a claim since."""

    state: State
    """How far the claim is."""
    events: tuple[Event, ...]
    """The events, in order."""
    next: Whole
    """What to give as `since` in the next request."""


class ExportFormat(_Model):
    """Which file is wanted."""

    format: Annotated[str, Field(json_schema_extra={"enum": list(EXPORTS)})] = "json"
    """Format of the file."""


class Error(_Model):
    """An error."""

    error: Problem


class Status(_Model):
    """The process answers."""

    status: Literal["ok"]


class LanguageModel(_Model):
    """A language model that is asked for a verdict."""

    model: str
    """Its name."""
    host: str | None
    """Where it is, null where it runs in the worker."""


class Ready(_Model):
    """Claims are checked."""

    status: Literal["ready"]
    home: str
    """Which of several services this is: a digest of the path of its ESOTERIC_HOME."""
    language_model: LanguageModel | None = None
    """What is shown claims and evidence; left out where there is none."""
    degraded: tuple[Problem, ...] = ()
    """What claims are checked without; left out where nothing is missing."""


class NotReady(Error):
    """Claims are not checked."""

    problems: tuple[Problem, ...]
    """All that is missing; `error` is what stands in the way of the rest."""


def answer(model: BaseModel) -> Response:
    """Return the model as JSON; what is unset is left out."""
    return jsonify(model.model_dump(mode="json", exclude_unset=True))
