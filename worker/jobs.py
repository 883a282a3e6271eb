"""What a job is: a submitted claim with its state, its events and its result.

queued -> running -> done | failed
   ^         |
   +---------+  its worker stopped or was lost
queued | running -> cancelled
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema, computed_field

from retrieval.errors import EsotericError, Problem
from retrieval.result import ClaimResult
from retrieval.types import Findings, Label, Whole
from retrieval.words import counted

GROUP = "group:"
Shared: TypeAlias = Annotated[
    str, Field(pattern=rf"^(owner|everyone|{GROUP}[A-Za-z0-9][A-Za-z0-9._@+-]{{0,49}})$")
]
"""With whom something is shared: ``owner`` is nobody else, ``group:NAME`` the members of a group
(worker/sharing.py)."""
State: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)


class UnknownJob(EsotericError):
    """No claim was submitted under this id, or it was deleted."""

    def __init__(self) -> None:
        super().__init__(
            "unknown_claim",
            "There is no claim with this id.",
            "It may have been deleted. Check the address, or look for the claim in the history.",
        )


class QueueFull(EsotericError):
    """Too many claims wait already; nothing was stored."""

    def __init__(self, most: int) -> None:
        super().__init__(
            "queue_full",
            f"{counted(most, 'claim')} may wait, and as many do, so no more are accepted now.",
            "Submit it again in some minutes.",
        )


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment: TypeAlias = Annotated[
    datetime,
    PlainSerializer(_iso, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Who said a claim, where it was said or the address of that, and when; "" is not known."""

    speaker: str = ""
    appearance: str = ""
    said_on: str = ""

    @classmethod
    def of(cls, speaker: object, appearance: object, said_on: object) -> SaidBy:
        """Return what somebody wrote, each on one line, without what is invisible."""
        lines = (" ".join(str(one or "").split()) for one in (speaker, appearance, said_on))
        return cls(*("".join(filter(str.isprintable, line))[:MOST_SAID] for line in lines))

    @classmethod
    def of_columns(cls, columns: Mapping[str, object]) -> SaidBy:
        """Return what the other columns of a list say, by the names that such columns have."""
        named = {name.strip().casefold(): value for name, value in columns.items() if value}
        return cls.of(*(next(filter(None, map(named.get, names)), "") for names in _COLUMNS))


MOST_SAID = 300
_COLUMNS = (
    ("speaker", "said_by", "said by", "who"),
    ("appearance", "said_in", "said in", "where", "outlet"),
    ("said_on", "said on", "when", "date"),
)


@dataclass(frozen=True)
class Origin:
    """Where a new claim is from: one that was edited or whose search goes on, and who said it."""

    edited_from: str | None = None
    continued_from: str | None = None
    said: SaidBy = SaidBy()


class Links(_Model):
    """Addresses of a claim: itself in the API, its events, its export, its page."""

    self: str
    progress: str
    export: str
    page: str

    @classmethod
    def of(cls, job_id: str) -> Links:
        """Return the addresses of the claim with this id."""
        address = f"/api/v1/claims/{job_id}"
        return cls(
            self=address,
            progress=f"{address}/progress",
            export=f"{address}/export",
            page=f"/claims/{job_id}",
        )


class Job(_Model):
    """A submitted claim, as the API shows it."""

    id: str
    """Id of the claim."""
    claim: str
    """The claim."""
    recipe: str
    """Name of the recipe that checks it."""
    corpora: tuple[str, ...] | None = None
    """Names of the corpora that it is checked against, null for the default one."""
    shared: Shared | None = None
    """Who may see it beside its owner and operators: `owner` is nobody, `group:NAME` the members of
    a group, `everyone` who may use the service; null where nobody logs in, or from an older
    version: whoever has its address."""
    state: State
    """Its state."""
    created_at: Moment
    """When it was submitted."""
    started_at: Moment | None
    """When a worker last started it, null before."""
    finished_at: Moment | None
    """When it ended, null before."""
    attempts: Whole
    """How often a worker started it."""
    result: ClaimResult | None
    """The claim document, null unless the state is done."""
    error: Problem | None
    """Why it failed, null unless the state is failed."""
    edited_from: str | None = None
    """Id of the claim that was edited to make this one, null where none was. It may be gone."""
    continued_from: str | None = None
    """Id of the claim whose search this one continues, null where it continues none."""
    speaker: str | None = None
    """Who said it, null where that is not known."""
    appearance: str | None = None
    """Where it was said: the name of a speech or a paper, or an address; null where not known."""
    said_on: str | None = None
    """When it was said, as written; null where that is not known."""

    @property
    def said(self) -> SaidBy:
        """Who said it, where and when."""
        return SaidBy(self.speaker or "", self.appearance or "", self.said_on or "")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def links(self) -> Links:
        """Addresses of the claim."""
        return Links.of(self.id)


@dataclass(frozen=True)
class ListedJob:
    """A job in a list.

    ``label``, ``confidence``, ``leans``: of its verdict; ``label`` is ``None`` until it is done,
    ``confidence`` also for jobs of older versions. ``owner``: ``None`` if it belongs to nobody.
    """

    id: str
    claim: str
    recipe: str
    state: State
    label: Label | None
    confidence: float | None
    leans: Label | None
    created_at: datetime
    owner: str | None


class Event(_Model):
    """One step of the work on a claim."""

    n: Whole
    """Its number within the claim, from 1."""
    at: Moment
    """When it happened."""
    stage: str
    """Name of the stage."""
    message: str
    """What the stage found."""
    done: Whole
    """Number of finished steps."""
    of: Whole
    """Number of all steps, as far as known."""
    found: Findings | None = None
    """What the stage found, null where that is nothing to show."""
