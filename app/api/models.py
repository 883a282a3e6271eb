"""The models of requests and answers that several files share; others stand beside their routes.

The OpenAPI document is made from all of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from flask import Response, jsonify
from pydantic import BaseModel, ConfigDict, Field

from retrieval.errors import Problem
from retrieval.recipes.recipes import Ending, Vectors
from retrieval.result import Verdict
from retrieval.types import CorpusInfo, CorpusKind, Label, Whole
from retrieval.words import Level, level_of
from worker.corpora.corpus_store import State as CorpusState
from worker.jobs import MOST_SAID, Links, ListedJob, Moment, Shared, State
from worker.lists import Entry


class Model(BaseModel):
    """What is sent or answered: a frozen value whose fields are described below them."""

    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


class Submission(Model):
    """A claim to be checked."""

    model_config = ConfigDict(extra="forbid")

    claim: str
    """The claim, at most 500 characters."""
    recipe: str | None = None
    """Name of a recipe that can run here (`/api/v1/recipes`); left out: the default one."""
    corpora: tuple[str, ...] | None = None
    """Names of the corpora to search as one (`/api/v1/corpora`); left out: the default one, whose
    name may be among them."""
    anyway: bool = False
    """Whether to check also a link, a text in another language, or a question that yes or no does
    not answer."""
    speaker: str = Field("", max_length=MOST_SAID)
    """Who said it; optional, as are the next two, and kept for exports."""
    appearance: str = Field("", max_length=MOST_SAID)
    """Where it was said: the name of a speech or a paper, or an address."""
    said_on: str = Field("", max_length=MOST_SAID)
    """When it was said, best as 2026-11-28."""


class RecipeItem(Model):
    """A recipe, and whether it can run here."""

    name: str
    """Its name."""
    summary: str
    """What it does."""
    default: bool
    """Whether it checks the claims that name no recipe. It follows the index."""
    can_run: bool
    """Whether it can run over this index, with the models that are here."""
    problem: Problem | None
    """Why it cannot run, null if it can."""
    first: tuple[str, ...]
    """The stages that run once, in order."""
    hop: tuple[str, ...]
    """The stages of every hop, in order."""
    next: tuple[str, ...]
    """What finds the documents of the next hop."""
    ending: Ending
    """What ends the search before `max_hops`."""
    max_hops: Whole
    """Most hops."""
    settings: dict[str, int | float | None]
    """Thresholds and limits of the stages."""
    verifier: str | None
    """Name of the verifier of its own, null where it is that of the settings."""
    language_model: str | None
    """The model that it asks at the server of the settings, `none` where it asks no model, null
    where it asks that of the settings."""
    vectors: Vectors
    """Which vectors the index must have."""
    digest: str
    """Digest of its stages and settings, as results and exports name it."""


class Recipes(Model):
    """All recipes."""

    recipes: tuple[RecipeItem, ...]
    """The recipes, in the order in which pages list them."""


class CorpusItem(CorpusInfo):
    """A corpus that claims can be checked against."""

    title: str
    """What people call it."""
    default: bool
    """Whether claims are checked against it that name no corpus."""
    state: CorpusState
    """Whether its files are indexed as they are now. One that was ready before can be searched as
    it was then."""
    searchable: bool
    """Whether claims can be checked against it now."""
    kind: CorpusKind = "index"
    """How it is searched: in an index, or where it is: `mediawiki`, a wiki that is asked over the
    network, or `zim-search`, a file of Kiwix. The name of a wiki may have a day:
    `wikipedia@2024-05-01` reads it as it was before that day."""
    sent: str = ""
    """What is sent to whom when it is searched; empty if nothing leaves the service."""
    shared: Shared | None = None
    """Who may see and search it: `owner` is who made it, and operators; null or `everyone` is
    everybody who may use the service."""


class Corpora(Model):
    """The corpora that can be searched here."""

    corpora: tuple[CorpusItem, ...]
    """The corpora; none while there is no index."""
    problem: Problem | None
    """Why there is none, null if there is one."""


class Forget(Model):
    """How to end a claim."""

    forget: Literal["0", "1"] = "0"
    """1: the claim is also deleted, in any state, with its events, its result and a language
    model's answers to it."""


class Paged(Model):
    """Which page to return."""

    page: Annotated[int, Field(ge=1, lt=10**6)] = 1
    """Number of the page, from 1."""


class OnePage(Model):
    """One page of a listing; after the last one there is nothing on it."""

    total: Whole
    """How much is listed in all."""
    page: Whole
    """Number of this page, from 1."""
    pages: Whole
    """How many pages there are."""


class FeedbackGiven(Model):
    """What somebody says about a verdict."""

    model_config = ConfigDict(extra="forbid")

    agrees: bool
    """Whether the verdict is right."""
    label: Label | None = None
    """What the verdict should be; needed where `agrees` is false, and not read where it is true."""
    wrong: Annotated[tuple[Whole, ...], Field(max_length=100)] = ()
    """The evidence whose stance is wrong, as numbers of `evidence`, from 1."""
    note: str = ""
    """A note, at most 2,000 characters."""
    name: str = ""
    """Name of the person, at most 100 characters; of a user who has logged in it becomes the
    account. It is shown with the feedback. An agreement with a name confirms the verdict, which
    then can be exported as a ClaimReview of that person."""


class FeedbackItem(Model):
    """What somebody said about a verdict."""

    id: str
    """Its id."""
    claim_id: str
    """Id of the claim."""
    claim: str
    """The claim."""
    verdict: Label
    """The verdict that it is about."""
    agrees: bool
    """Whether the person agrees with it."""
    label: Label
    """What the verdict should be."""
    wrong: tuple[Whole, ...]
    """The evidence whose stance is wrong, as numbers of `evidence`, from 1."""
    note: str
    """A note, empty if there is none."""
    name: str
    """Name of the person, empty if none was given."""
    created_at: Moment
    """When it was given."""


class FeedbackSearch(Paged):
    """Which feedback to list."""

    whose: Literal["", "yours", "all"] = ""
    """`yours`: only what was given with the cookie of the request."""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """How many a page has."""


class ListedVerdict(Model):
    """A verdict in a list; the claim's own document has all of it."""

    label: Label
    """The verdict."""
    level: Level
    """How sure it is."""
    confidence: float | None
    """Its probability, null in results of older versions."""
    leans: Label | None
    """The likelier label where the level is `leans`, else null."""

    @classmethod
    def of(cls, checked: Verdict | ListedJob | Entry) -> ListedVerdict | None:
        """Return the verdict; ``None`` without a label, which a check has once it is done."""
        label, confidence, leans = checked.label, checked.confidence, checked.leans
        if label is None:
            return None
        level = level_of(label, confidence, leans)
        return cls(label=label, level=level, confidence=confidence, leans=leans)


class ClaimItem(Model):
    """A claim in a list."""

    id: str
    """Id of the claim."""
    claim: str
    """The claim."""
    recipe: str
    """Name of the recipe that checks it."""
    state: State
    """Its state."""
    created_at: Moment
    """When it was submitted."""
    verdict: ListedVerdict | None
    """The verdict, null unless the state is done."""
    links: Links
    """Addresses of the claim."""


class Claims(OnePage):
    """One page of the claims, newest first."""

    claims: tuple[ClaimItem, ...]
    """The claims of the page."""


class Since(Model):
    """Which events to return."""

    # The limit is larger than any event number, and fits every database.
    since: Annotated[int, Field(ge=0, lt=10**9)] = 0
    """The `next` of the previous answer."""


class Error(Model):
    """An error."""

    error: Problem


def download(content: Any, media_type: str, name: str) -> Response:
    """Return a file that a browser stores under this name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, mimetype=media_type, headers=headers)


def answer(model: BaseModel) -> Response:
    """Return the model as JSON, without unset fields."""
    return jsonify(model.model_dump(mode="json", exclude_unset=True))
