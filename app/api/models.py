"""The models of the API's requests and answers; the OpenAPI document is made from them."""

from __future__ import annotations

from typing import Annotated, Literal

from flask import Response, jsonify
from pydantic import BaseModel, ConfigDict, Field

from retrieval.errors import Problem
from retrieval.recipes.recipes import Ending, Vectors
from retrieval.types import CorpusInfo, Label, Whole
from retrieval.verdict_level import Level, level_of
from worker.corpora.corpus_store import State as CorpusState
from worker.corpora.records import Step
from worker.jobs import Event, Links, Moment, State


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


class Submission(_Model):
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


class SubmissionForm(_Model):
    """A claim to be checked."""

    claim: str
    """The claim, at most 500 characters."""
    recipe: str | None = None
    """Name of a recipe that can run here; left out: the default one."""
    anyway: Literal["0", "1"] = "0"
    """1: also a link, a text in another language, or a question that yes or no does not answer."""
    edited_from: str = ""
    """Id of the claim that this one is made from."""


class Accepted(_Model):
    """A claim that was submitted."""

    id: str
    """Id of the claim."""
    state: State
    """Its state."""
    links: Links
    """Addresses of the claim."""


class RecipeItem(_Model):
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
    vectors: Vectors
    """Which vectors the index must have."""
    digest: str
    """Digest of its stages and settings, as results and exports name it."""


class Recipes(_Model):
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


class FileItem(_Model):
    """A file of a corpus."""

    name: str
    """Its name, with folders."""
    bytes: Whole | None
    """Its size, null for a file of a folder."""
    passages: Whole | None
    """How many passages of it are searched, null until it is indexed."""
    problems: tuple[str, ...]
    """What could not be read."""


class CorpusDetail(CorpusItem):
    """A corpus beside the default one, with its files."""

    made_at: Moment
    """When it was made."""
    folder: str | None
    """The folder of ESOTERIC_FOLDERS that its files are in, null for uploaded files."""
    step: Step | None
    """What its indexing does, null before it begins."""
    done: Whole
    """How many files are read, or passages have vectors."""
    total: Whole
    """Of how many."""
    problem: Problem | None
    """Why its indexing failed, else null."""
    left_out: tuple[str, ...]
    """What of the last upload was not taken."""
    files: tuple[FileItem, ...]
    """Its files, in order of their names."""


class NewCorpus(_Model):
    """A new corpus."""

    model_config = ConfigDict(extra="forbid")

    title: str
    """What people call it."""
    folder: str | None = None
    """Name of a folder of ESOTERIC_FOLDERS; left out: files are uploaded to it."""


class CorpusTitle(_Model):
    """Another title for a corpus."""

    model_config = ConfigDict(extra="forbid")

    title: str
    """What people call it."""


class FilesUpload(_Model):
    """Files for a corpus."""

    files: Annotated[str, Field(json_schema_extra={"format": "binary"})]
    """The files; more than one may be sent under this name."""


class Corpora(_Model):
    """The corpora that can be searched here."""

    corpora: tuple[CorpusItem, ...]
    """The corpora; none while there is no index."""
    problem: Problem | None
    """Why there is none, null if there is one."""


class Filled(_Model):
    """What the form of the first page is filled with."""

    q: str = ""
    """What stands in the box."""
    recipe: str | None = None
    """Name of the recipe that is selected."""
    edited_from: str = ""
    """Id of the claim that this one is made from; its doubtful words are selected."""


class Follow(_Model):
    """How to show a claim's page."""

    follow: Literal["0", "1"] = "0"
    """1: the page also reloads itself without JavaScript."""


class Forget(_Model):
    """How to end a claim."""

    forget: Literal["0", "1"] = "0"
    """1: the claim is also deleted, in any state, with its events, its result and a language
    model's answers to it."""


class Paged(_Model):
    """Which page to return."""

    page: Annotated[int, Field(ge=1, lt=10**6)] = 1
    """Number of the page, from 1."""


class HistorySearch(Paged):
    """Which claims to list; an empty value, or none, lists all."""

    q: str = ""
    """Words of the claim."""
    whose: Literal["", "yours", "all"] = ""
    """`yours`: only those that were submitted with the cookie of the request."""
    verdict: Literal["", "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"] = ""
    """The verdict."""
    level: Literal["", "settled", "probably", "leans", "unsettled"] = ""
    """How sure the verdict is."""
    recipe: str = ""
    """Name of the recipe."""
    state: Literal["", "queued", "running", "done", "failed", "cancelled"] = ""
    """The state."""


class ClaimSearch(HistorySearch):
    """Which claims to list; an empty value, or none, lists all."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """How many claims a page has."""


class Selection(_Model):
    """What to do with several claims."""

    claim: tuple[str, ...]
    """Ids of the claims."""
    do: Literal["compare", "csv", "json", "delete"]
    """`csv` and `json` answer with a file."""


class FeedbackGiven(_Model):
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
    """Name of the person, at most 100 characters. It is shown with the feedback. An agreement with
    a name confirms the verdict, which then can be exported as a ClaimReview of that person."""


class FeedbackForm(_Model):
    """What somebody says about a verdict."""

    agrees: Literal["0", "1"] = "0"
    """1: the verdict is right."""
    label: Label | None = None
    """What it should be, where it is not right."""
    wrong: tuple[Whole, ...] = ()
    """The evidence that is labelled wrongly, as numbers from 1."""
    note: str = ""
    """A note."""
    name: str = ""
    """Name of the person, which is shown with the feedback."""


class FeedbackItem(_Model):
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


class FeedbackList(_Model):
    """One page of the feedback, newest first."""

    feedback: tuple[FeedbackItem, ...]
    """The feedback of the page; none after the last page."""
    total: Whole
    """How much there is."""
    page: Whole
    """Number of this page, from 1."""
    pages: Whole
    """How many pages there are."""


class FeedbackFormat(_Model):
    """Which file to return."""

    format: Literal["claims", "pairs"] = "claims"
    """`claims`: lines that `esoteric evaluate --claims` and the trainings read; `pairs`: lines for
    `esoteric evaluate --pairs`."""


class ListedVerdict(_Model):
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
    def of(
        cls, label: Label | None, confidence: float | None, leans: Label | None
    ) -> ListedVerdict | None:
        """Return the verdict; ``None`` without a label, which a check has once it is done."""
        if label is None:
            return None
        level = level_of(label, confidence, leans)
        return cls(label=label, level=level, confidence=confidence, leans=leans)


class ClaimItem(_Model):
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


class Claims(_Model):
    """One page of the claims, newest first."""

    claims: tuple[ClaimItem, ...]
    """The claims of the page; none after the last page."""
    total: Whole
    """How many claims were found."""
    page: Whole
    """Number of this page, from 1."""
    pages: Whole
    """How many pages there are."""


class Since(_Model):
    """Which events to return."""

    # The limit is larger than any event number, and fits every database.
    since: Annotated[int, Field(ge=0, lt=10**9)] = 0
    """The `next` of the previous answer."""


class Progress(_Model):
    """The state of a claim and its events after `since`."""

    state: State
    """State of the claim."""
    events: tuple[Event, ...]
    """The events, in order."""
    next: Whole
    """The `since` for the next request."""


class Standing(_Model):
    """Where a claim stands; the data of the event `state`."""

    state: State
    """State of the claim."""
    before: Whole
    """How many claims wait before it; 0 unless it waits itself."""


class ExportFormat(_Model):
    """Which file to return."""

    format: Literal["json", "md", "csv", "claimreview"] = "json"
    """Format of the file. `claimreview` needs the agreement of a person with a name."""


class ComparedIds(_Model):
    """Which checks to compare."""

    claims: str = ""
    """Their ids, with commas between them."""


class ComparisonSearch(ComparedIds):
    """Which checks to compare, or which claim the form has."""

    claim: str = ""
    """The claims in the form, one a line, where no ids are named."""
    list: str = ""
    """Id of a list whose claims the form has, where no ids are named."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are chosen in the form; left out: the default one."""


class ComparisonExport(ComparedIds):
    """Which file to return."""

    format: Literal["csv", "latex", "trec", "json"] = "csv"
    """Format of the file."""


class ComparisonForm(_Model):
    """Claims and the recipes that check each of them."""

    claim: str = ""
    """The claims, one a line, each at most 500 characters; used if there is no file."""
    file: Annotated[str, Field(json_schema_extra={"format": "binary"})] = ""
    """A .csv, .tsv, .xlsx, .jsonl, .json or .txt file of claims."""
    recipe: tuple[str, ...]
    """Names of two to five recipes that can run here."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are searched; left out: the default one."""
    anyway: Literal["1"] | None = None
    """1: as in the API."""


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
    """Host of its server; null where it runs in the worker."""


class Ready(_Model):
    """Claims can be checked."""

    status: Literal["ready"]
    home: str
    """Identifies this service: a digest of the path of its ESOTERIC_HOME."""
    language_model: LanguageModel | None = None
    """The language model that reads claims and evidence; left out where there is none."""
    degraded: tuple[Problem, ...] = ()
    """Problems that do not stop claims from being checked; left out where there are none."""


class NotReady(Error):
    """Claims cannot be checked."""

    problems: tuple[Problem, ...]
    """Everything that is missing; `error` is what to fix first."""


def answer(model: BaseModel) -> Response:
    """Return the model as JSON, without unset fields."""
    return jsonify(model.model_dump(mode="json", exclude_unset=True))
