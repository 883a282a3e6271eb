"""Jobs: submitted claims, their events and their results.

Only the database counts; a message in the broker contains only an id. So a lost message
causes a short delay, and a message that comes twice does no harm: every change of state
is one UPDATE that names the old state. If it changes no row, another process was first,
and nothing is done.

    queued -> running -> done | failed
       ^         |
       +---------+  its worker stopped or was lost
    queued | running -> cancelled

A job that is deleted, in any state, is a row that no change finds any more.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    TypeAdapter,
    WithJsonSchema,
    computed_field,
)
from sqlalchemy import (
    Connection,
    Row,
    RowMapping,
    and_,
    delete,
    exists,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from retrieval.errors import EsotericError, Problem
from retrieval.llm_judge.kept_answers import digest_of
from retrieval.pipeline.runnable import Runnable
from retrieval.result import ClaimResult, Whole
from retrieval.types import Label, Progress
from worker.database import (
    ANSWERS,
    CLAIMS,
    EVENTS,
    WORKERS,
    Database,
    StoreUnavailable,
    UtcDateTime,
)

__all__ = [
    "STATES",
    "AskedModel",
    "Event",
    "Job",
    "JobStore",
    "Links",
    "ListedJob",
    "Run",
    "SearchedCorpus",
    "State",
    "StoreUnavailable",
    "UnknownJob",
    "WorkerInfo",
    "WorkerState",
]

State: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
# How long a check of readiness waits for another writer.
REACH_SECONDS = 1.0
# A language model that was asked before a claim was cancelled may answer this much later.
LATEST_ANSWER = timedelta(seconds=600)
PENDING: tuple[State, State] = ("queued", "running")
WorkerState: TypeAlias = Literal["loading", "ready", "broken"]
_Kept = TypeVar("_Kept")


class UnknownJob(EsotericError):
    """No claim was submitted under this id."""


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment: TypeAlias = Annotated[
    datetime,
    PlainSerializer(_iso, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, use_attribute_docstrings=True)


class Links(_Model):
    """Addresses of a claim: itself in the API, its events, its export, its page."""

    self: str
    progress: str
    export: str
    page: str


class Job(_Model):
    """A submitted claim, as the API shows it."""

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

    @computed_field  # type: ignore[prop-decorator]
    @property
    def links(self) -> Links:
        """Addresses of the claim."""
        address = f"/api/v1/claims/{self.id}"
        return Links(
            self=address,
            progress=f"{address}/progress",
            export=f"{address}/export",
            page=f"/claims/{self.id}",
        )


@dataclass(frozen=True)
class ListedJob:
    """A job in a list.

    ``label``, ``confidence``, ``leans``: of its verdict; ``label`` is ``None`` until it is done,
    ``confidence`` also for jobs of older versions.
    """

    id: str
    claim: str
    state: State
    label: Label | None
    confidence: float | None
    leans: Label | None
    created_at: datetime


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


@dataclass(frozen=True)
class Run:
    """One worker's attempt at a job. ``token`` shows that the job still belongs to this attempt."""

    job_id: str
    token: str
    attempt: int
    claim: str
    recipe: str


@dataclass(frozen=True)
class RunningJob:
    """A run that has not ended, and what changes while it does well.

    ``renewed`` changes with every renewal of its lease, ``events`` with every event.
    """

    run: Run
    renewed: datetime
    events: int


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

    ``host`` is "" where the model runs in the worker. ``decides``: whether the model gives the
    verdicts, or in the worker both judges together.
    """

    model: str
    host: str
    decides: bool
    problem: Problem | None


@dataclass(frozen=True)
class WorkerInfo:
    """A worker, as described by its last heartbeat.

    ``problem``: why it is broken. ``corpus``: the corpus that it opened. ``language_model``: the
    model that it asks.
    """

    id: str
    started_at: datetime
    seen_at: datetime
    state: WorkerState
    problem: Problem | None
    corpus: SearchedCorpus | None
    language_model: AskedModel | None


class JobStore:
    """The claims, their events and their results, in any database that SQLAlchemy supports.

    Nothing is opened before the first call. Every method may raise
    ``StoreUnavailable``; the instance is safe to share between threads.
    """

    def __init__(self, database_url: str) -> None:
        self._database = Database(database_url)

    @property
    def folder(self) -> Path | None:
        """Folder of the database's file; ``None`` for a database on a server."""
        return self._database.folder

    def reach(self) -> None:
        """Find out within about a second whether the database can be written."""
        with self._database.writing(REACH_SECONDS) as connection:
            # SQLite notices only at a statement that writes that the file is read-only.
            connection.execute(delete(WORKERS).where(false()))

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    # For the web process

    def submit(self, claim: str, recipe: str) -> tuple[Job, bool]:
        """Return the job of this claim and whether it is new.

        While the same claim with the same recipe is pending, its job is returned,
        even if many processes submit it at once.
        """
        pending = _pending_key(claim, recipe)
        while True:
            try:
                with self._database.writing() as connection:
                    row = (
                        connection.execute(select(CLAIMS).where(CLAIMS.c.pending == pending))
                        .mappings()
                        .first()
                    )
                    if row is not None:
                        return _job(row), False
                    job_id = _new_id()
                    connection.execute(
                        insert(CLAIMS).values(
                            id=job_id,
                            claim=claim,
                            folded=claim.casefold(),
                            recipe=recipe,
                            pending=pending,
                            state="queued",
                            created_at=_now(),
                            attempts=0,
                        )
                    )
                    return self._get(connection, job_id), True
            except IntegrityError:
                continue  # another process was first: the next try finds its job

    def keep(self, result: ClaimResult) -> None:
        """Store a claim that a command has checked, so that the history shows it too."""
        claim = result.claim if result.claim_as_written is None else result.claim_as_written
        now = _now()
        with self._database.writing() as connection:
            connection.execute(
                insert(CLAIMS).values(
                    id=_new_id(),
                    claim=claim,
                    folded=claim.casefold(),
                    recipe=result.recipe,
                    state="done",
                    created_at=now,
                    started_at=now,
                    finished_at=now,
                    attempts=1,
                    **_outcome(result),
                )
            )

    def get(self, job_id: str) -> Job:
        """Return the job.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self._database.reading() as connection:
            return self._get(connection, job_id)

    def events(self, job_id: str, since: int) -> list[Event]:
        """Return the events of a job with a number above ``since``, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                select(EVENTS)
                .where(EVENTS.c.claim_id == job_id, EVENTS.c.n > since)
                .order_by(EVENTS.c.n)
            )
            return [Event.model_validate(row) for row in rows]

    def cancel(self, job_id: str) -> Job:
        """Cancel a pending job and return it; a finished job stays as it is.

        Raises:
            UnknownJob: there is no job with this id.
        """
        with self._database.writing() as connection:
            pending = and_(CLAIMS.c.id == job_id, CLAIMS.c.state.in_(PENDING))
            self._end(connection, pending, "cancelled")
            return self._get(connection, job_id)

    def delete(self, job_id: str) -> None:
        """Delete a job in any state: the claim, its events, its result, a model's answers to it.

        A worker that checks it notices so at its next step, as if it were cancelled.

        Raises:
            UnknownJob: there is no job with this id.
        """
        this = CLAIMS.c.id == job_id
        with self._database.writing() as connection:
            row = connection.execute(select(CLAIMS).where(this)).first()
            if row is None:
                raise _unknown()
            connection.execute(delete(CLAIMS).where(this))  # its events go with it
            connection.execute(delete(ANSWERS).where(_answers_to(row)))

    def delete_finished(self, ago: timedelta, limit: int) -> int:
        """Delete up to ``limit`` jobs that ended at least this long ago, and return their number.

        Answers of language models that are as old are deleted too.
        """
        before = _now() - ago
        with self._database.writing() as connection:
            old = select(CLAIMS.c.id).where(CLAIMS.c.finished_at <= before).limit(limit)
            ids = list(connection.scalars(old))
            connection.execute(delete(CLAIMS).where(CLAIMS.c.id.in_(ids)))
            connection.execute(delete(ANSWERS).where(ANSWERS.c.kept_at <= before))
        return len(ids)

    def recent(self, limit: int) -> list[ListedJob]:
        """Return the newest jobs, newest first."""
        return self.search("", limit, 0)[0]

    def search(self, text: str, limit: int, offset: int) -> tuple[list[ListedJob], int]:
        """Return one page of jobs whose claim contains ``text``, newest first, and their number.

        Letter case is ignored; ``%`` and ``_`` have no special meaning.
        """
        found = CLAIMS.c.folded.contains(text.casefold(), autoescape=True)
        with self._database.reading() as connection:
            total = connection.scalar(select(func.count()).select_from(CLAIMS).where(found))
            rows = connection.execute(
                select(*(CLAIMS.c[field.name] for field in fields(ListedJob)))
                .where(found)
                .order_by(CLAIMS.c.number.desc())
                .limit(limit)
                .offset(offset)
            ).all()
        return [ListedJob(*row) for row in rows], int(total or 0)

    def counts(self) -> dict[State, int]:
        """Return how many jobs are in each state, states without a job included."""
        with self._database.reading() as connection:
            rows = connection.execute(
                select(CLAIMS.c.state, func.count()).group_by(CLAIMS.c.state)
            ).all()
        found = {row[0]: row[1] for row in rows}
        return {state: found.get(state, 0) for state in STATES}

    # Messages in the broker

    def dispatched(self, job_id: str) -> bool:
        """Record that the broker accepted a message for the job. False: the job was withdrawn."""
        with self._database.writing() as connection:
            sent = connection.execute(
                update(CLAIMS).where(CLAIMS.c.id == job_id).values(dispatched_at=_now())
            )
            return sent.rowcount == 1

    def accepted(self, job_id: str) -> bool:
        """Return whether the job is stored and has had a message, or needs none."""
        with self._database.reading() as connection:
            needs_none = or_(CLAIMS.c.dispatched_at.is_not(None), CLAIMS.c.state != "queued")
            return bool(
                connection.scalar(select(exists().where(CLAIMS.c.id == job_id, needs_none)))
            )

    def withdraw(self, job_id: str) -> None:
        """Remove a queued job that never had a message; any other job stays as it is."""
        with self._database.writing() as connection:
            connection.execute(
                delete(CLAIMS).where(
                    CLAIMS.c.id == job_id,
                    CLAIMS.c.state == "queued",
                    CLAIMS.c.dispatched_at.is_(None),
                )
            )

    def queued(self) -> int:
        """Return the number of queued jobs."""
        with self._database.reading() as connection:
            found = select(func.count()).where(CLAIMS.c.state == "queued")
            return int(connection.scalar(found) or 0)

    def take_unsent(self, for_at_least: timedelta, limit: int) -> list[str]:
        """Return queued jobs whose last message is at least this old, oldest first.

        They count as sent now, so that no two processes send the same one.
        """
        now = _now()
        with self._database.writing() as connection:
            ids = list(
                connection.scalars(
                    select(CLAIMS.c.id)
                    .where(
                        CLAIMS.c.state == "queued",
                        func.coalesce(CLAIMS.c.dispatched_at, CLAIMS.c.created_at)
                        <= now - for_at_least,
                    )
                    .order_by(CLAIMS.c.number)
                    .limit(limit)
                    .with_for_update(skip_locked=True)
                )
            )
            connection.execute(update(CLAIMS).where(CLAIMS.c.id.in_(ids)).values(dispatched_at=now))
        return ids

    # For the worker

    def start(self, job_id: str, worker: str) -> Run | None:
        """Start a queued job. ``None``: it is not queued, so there is nothing to do.

        A job that was started before gets an event about it; event numbers continue.
        """
        now, token = _now(), secrets.token_hex(16)
        with self._database.writing() as connection:
            taken = connection.execute(
                update(CLAIMS)
                .where(CLAIMS.c.id == job_id, CLAIMS.c.state == "queued")
                .values(
                    state="running",
                    attempts=CLAIMS.c.attempts + 1,
                    token=token,
                    worker=worker,
                    lease_until=now,
                    started_at=now,
                    dispatched_at=func.coalesce(CLAIMS.c.dispatched_at, literal(now, UtcDateTime)),
                )
            )
            if taken.rowcount != 1:
                return None
            job = self._get(connection, job_id)
            run = Run(job.id, token, job.attempts, job.claim, job.recipe)
            if connection.scalar(select(exists().where(EVENTS.c.claim_id == job_id))):
                self._append(
                    connection,
                    run,
                    Progress("start", "Its worker stopped; the claim starts again.", 0, 1),
                )
            return run

    def renew(self, run: Run) -> bool:
        """Renew the lease. False: the job no longer belongs to this run."""
        with self._database.writing() as connection:
            kept = connection.execute(
                update(CLAIMS).where(_held_by(run)).values(lease_until=_now())
            )
            return kept.rowcount == 1

    def record(self, run: Run, progress: Progress) -> bool:
        """Append an event. False: the job no longer belongs to this run; nothing was written."""
        with self._database.writing() as connection:
            # Locked, so that the job is not deleted before its event is there.
            held = select(CLAIMS.c.id).where(_held_by(run)).with_for_update()
            if connection.scalar(held) is None:
                return False
            self._append(connection, run, progress)
            return True

    def finish(self, run: Run, result: ClaimResult) -> bool:
        """Store the result. False: the job no longer belongs to this run; nothing was written."""
        outcome = _outcome(result)
        with self._database.writing() as connection:
            return self._end(connection, _held_by(run), "done", **outcome)

    def fail(self, run: Run, error: EsotericError) -> bool:
        """Store the error. False: the job no longer belongs to this run; nothing was written."""
        text = json.dumps(asdict(error.problem))
        with self._database.writing() as connection:
            return self._end(connection, _held_by(run), "failed", error=text)

    def give_back(self, run: Run) -> bool:
        """Queue the job again because its worker stops; this attempt is not counted."""
        with self._database.writing() as connection:
            return self._requeue(connection, _held_by(run), attempts=CLAIMS.c.attempts - 1)

    def was_deleted(self, run: Run, began: datetime) -> bool:
        """Return whether the job was deleted; then delete the answers of models since ``began``.

        The run may have stored one after the deletion. Those of other claims are asked for again.
        """
        with self._database.writing() as connection:
            if connection.scalar(select(exists().where(CLAIMS.c.id == run.job_id))):
                return False
            connection.execute(delete(ANSWERS).where(ANSWERS.c.kept_at >= began))
            return True

    def running(self, worker: str | None = None) -> list[RunningJob]:
        """Return the runs that have not ended, of one worker or of all."""
        events = select(func.count()).where(EVENTS.c.claim_id == CLAIMS.c.id).scalar_subquery()
        wanted = CLAIMS.c.state == "running"
        if worker is not None:
            wanted = and_(wanted, CLAIMS.c.worker == worker)
        with self._database.reading() as connection:
            rows = connection.execute(select(CLAIMS, events.label("events")).where(wanted)).all()
        return [
            RunningJob(
                Run(row.id, row.token, row.attempts, row.claim, row.recipe),
                row.lease_until,
                row.events,
            )
            for row in rows
        ]

    def take_back(self, job: RunningJob) -> bool:
        """Queue a lost job again. False: it was meanwhile renewed, ended or queued.

        It counts as sent now: the caller sends it.
        """
        with self._database.writing() as connection:
            return self._requeue(connection, _not_renewed(job), dispatched_at=_now())

    def give_up(self, job: RunningJob, error: EsotericError) -> bool:
        """Fail a lost job. False: it was meanwhile renewed, ended or queued."""
        text = json.dumps(asdict(error.problem))
        with self._database.writing() as connection:
            return self._end(connection, _not_renewed(job), "failed", error=text)

    # Answers of language models

    def kept_answer(self, digest: str) -> str | None:
        """Return the answer stored under this digest, or ``None``."""
        with self._database.reading() as connection:
            return connection.scalar(select(ANSWERS.c.answer).where(ANSWERS.c.digest == digest))

    def keep_answer(self, digest: str, answer: str) -> None:
        """Store an answer; it replaces an older one."""
        try:
            with self._database.writing() as connection:
                connection.execute(delete(ANSWERS).where(ANSWERS.c.digest == digest))
                connection.execute(
                    insert(ANSWERS).values(digest=digest, answer=answer, kept_at=_now())
                )
        except IntegrityError:
            return  # another process stored one meanwhile

    # Heartbeats

    def beat(
        self,
        worker: str,
        started_at: datetime,
        state: WorkerState,
        problem: EsotericError | None = None,
        corpus: SearchedCorpus | None = None,
        language_model: AskedModel | None = None,
    ) -> None:
        """Store a worker's heartbeat: its state, problem, corpus and language model."""
        values = {
            "started_at": started_at,
            "seen_at": _now(),
            "state": state,
            "problem": None if problem is None else json.dumps(asdict(problem.problem)),
            "corpus": None if corpus is None else json.dumps(asdict(corpus)),
            "language_model": None
            if language_model is None
            else json.dumps(asdict(language_model)),
        }
        with self._database.writing() as connection:
            known = connection.execute(
                update(WORKERS).where(WORKERS.c.id == worker).values(**values)
            )
            if known.rowcount == 0:
                connection.execute(insert(WORKERS).values(id=worker, **values))

    def workers(self, seen_within: timedelta) -> list[WorkerInfo]:
        """Return the workers with a heartbeat within this time, newest heartbeat first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                select(WORKERS)
                .where(WORKERS.c.seen_at >= _now() - seen_within)
                .order_by(WORKERS.c.seen_at.desc(), WORKERS.c.id)
            ).all()
        return [
            WorkerInfo(
                row.id,
                row.started_at,
                row.seen_at,
                row.state,
                _read(Problem, row.problem),
                _read(SearchedCorpus, row.corpus),
                _read(AskedModel, row.language_model),
            )
            for row in rows
        ]

    def forget_worker(self, worker: str) -> None:
        """Remove a worker that stops from the list."""
        with self._database.writing() as connection:
            connection.execute(delete(WORKERS).where(WORKERS.c.id == worker))

    def forget_workers(self, unseen_for: timedelta) -> None:
        """Remove workers without a heartbeat for this time from the list."""
        with self._database.writing() as connection:
            connection.execute(delete(WORKERS).where(WORKERS.c.seen_at < _now() - unseen_for))

    # Statements that the methods above share

    def _get(self, connection: Connection, job_id: str) -> Job:
        row = connection.execute(select(CLAIMS).where(CLAIMS.c.id == job_id)).mappings().first()
        if row is None:
            raise _unknown()
        return _job(row)

    def _append(self, connection: Connection, run: Run, progress: Progress) -> None:
        last = (
            select(func.coalesce(func.max(EVENTS.c.n), 0))
            .where(EVENTS.c.claim_id == run.job_id)
            .scalar_subquery()
        )
        connection.execute(
            insert(EVENTS).values(
                claim_id=run.job_id,
                n=last + 1,
                at=_now(),
                stage=progress.stage,
                message=progress.message,
                done=progress.done,
                of=progress.of,
            )
        )

    def _end(
        self, connection: Connection, allowed: Any, state: State, **values: str | float | None
    ) -> bool:
        ended = connection.execute(
            update(CLAIMS)
            .where(allowed)
            .values(
                state=state,
                finished_at=_now(),
                pending=None,
                token=None,
                lease_until=None,
                **values,
            )
        )
        return ended.rowcount == 1

    def _requeue(self, connection: Connection, allowed: Any, **values: Any) -> bool:
        queued = connection.execute(
            update(CLAIMS)
            .where(allowed)
            .values(
                state="queued",
                token=None,
                worker=None,
                lease_until=None,
                started_at=None,
                **values,
            )
        )
        return queued.rowcount == 1


def _unknown() -> UnknownJob:
    return UnknownJob(
        "unknown_claim",
        "There is no claim with this id.",
        "It may have been deleted. Check the address, or look for the claim in the history.",
    )


def _answers_to(claim: Row[Any]) -> Any:
    """Return which answers of language models belong to a claim.

    Its result names the statements that a model was asked about. Without a result they are not
    known: all answers of its time are meant, also to others, which are then asked for again.
    """
    if claim.result is not None:
        document = json.loads(claim.result)
        statements = {document["claim"], *(one["text"] for one in document.get("statements", ()))}
        return or_(*(ANSWERS.c.digest.startswith(digest_of(one)) for one in statements))
    if claim.started_at is None:
        return false()
    ended = claim.finished_at or _now()
    return ANSWERS.c.kept_at.between(claim.created_at, ended + LATEST_ANSWER)


def _job(row: RowMapping) -> Job:
    kept = {"result": _read(ClaimResult, row["result"]), "error": _read(Problem, row["error"])}
    return Job.model_validate({**row, **kept})


def _read(kind: type[_Kept], text: str | None) -> _Kept | None:
    """Return a value of this kind from JSON, or ``None``."""
    return None if text is None else _KEPT[kind].validate_json(text)


_KEPT: dict[type, TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (ClaimResult, Problem, SearchedCorpus, AskedModel)
}


def _held_by(run: Run) -> Any:
    return and_(CLAIMS.c.id == run.job_id, CLAIMS.c.state == "running", CLAIMS.c.token == run.token)


def _not_renewed(job: RunningJob) -> Any:
    return and_(_held_by(job.run), CLAIMS.c.lease_until == job.renewed)


def _outcome(result: ClaimResult) -> dict[str, str | float | None]:
    """Return the columns of a claim that is done."""
    verdict = result.verdict
    return {
        "label": verdict.label,
        "confidence": verdict.confidence,
        "leans": verdict.leans,
        "result": json.dumps(result.document()),
    }


def _new_id() -> str:
    """Return 96 random bits: the id alone opens the page, so it must not be guessable."""
    return secrets.token_hex(12)


def _pending_key(claim: str, recipe: str) -> str:
    return sha256(f"{recipe}\0{claim}".encode()).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)
