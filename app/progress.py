"""Turns the events of a job into the rows of the progress page.

``static/progress.js`` does the same in the browser while it polls.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from app.contexts import HopRows, ProgressPage, StageRow, StageState
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from worker.jobs import Event, Job
from worker.reports import AskedModel

# The stages that need sentences of an earlier hop, and the one that prepares the next hop.
_FROM_THE_SECOND_HOP = ("paths", "fusion")
_BEFORE_THE_LAST_HOP = "next"

# The stage after the last hop, where a language model is asked.
_CLOSING = "explain"


def progress_page(
    job: Job,
    recipe: Recipe,
    events: Sequence[Event],
    problem: Problem | None,
    asked: AskedModel | None,
    *,
    follow: bool,
) -> ProgressPage:
    """Return the page of a pending job.

    ``problem``: why no worker takes claims, if none does. ``asked``: the language model, if any.
    """
    note = ""
    current: list[Event] = []
    for event in events:
        if event.stage == "start":
            if current:
                # The next statement; or the worker stopped and the claim starts again.
                note = event.message
            current = []
        else:
            current.append(event)
    last = events[-1] if events else None
    running = last is not None and job.state == "running"
    closing = _closing(current)
    seconds = max(0, int((datetime.now(UTC) - job.created_at).total_seconds()))
    return ProgressPage(
        id=job.id,
        claim=job.claim,
        waiting=_waiting(problem) if job.state == "queued" else "",
        hops=hops(
            recipe.stages_first,
            recipe.stages_per_hop,
            recipe.max_hops,
            current,
            started=running,
            over=closing.state != "waiting",
        ),
        later_hop=_rows(recipe.stages_per_hop, {}, running=False),
        most_hops=recipe.max_hops,
        closing=closing if asked else None,
        asked=asked,
        percent=0 if last is None else 100 * last.done // max(1, last.of),
        seconds=seconds,
        elapsed=elapsed(seconds),
        attempt_note=note,
        follow=follow,
    )


def hops(
    stages_first: Sequence[str],
    stages_per_hop: Sequence[str],
    most: int,
    events: Sequence[Event],
    *,
    started: bool,
    over: bool = False,
) -> tuple[HopRows, ...]:
    """Return the hops that have begun, at most ``most``.

    A hop begins with the first of ``stages_per_hop``. ``started``: a worker is at the last one.
    ``over``: all hops are finished.
    """
    messages: list[dict[str, str]] = [{}]
    for event in events:
        if event.stage == stages_per_hop[0] and event.stage in messages[-1]:
            messages.append({})
        messages[-1][event.stage] = event.message
    found = []
    for number, reported in enumerate(messages, 1):
        stages = list(stages_per_hop)
        if number == 1:
            stages = [*stages_first, *(s for s in stages if s not in _FROM_THE_SECOND_HOP)]
        if number == most:
            stages = [s for s in stages if s != _BEFORE_THE_LAST_HOP]
        running = started and number == len(messages)
        found.append(HopRows(number, _rows(stages, reported, running=running, over=over)))
    return tuple(found)


def elapsed(whole_seconds: int) -> str:
    """Return how long a claim has taken so far; ``static/progress.js`` uses the same words."""
    minutes, rest = divmod(whole_seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _waiting(problem: Problem | None) -> str:
    if problem is None:
        return "Waiting for its turn."
    return f"{problem.message} {problem.hint}"


def _closing(events: Sequence[Event]) -> StageRow:
    """Return the row of the last stage, which also sends events while it is running."""
    state: StageState = "waiting"
    message = ""
    for before, event in pairwise(events):
        if event.stage == _CLOSING:
            state = "done" if event.done > before.done else "running"
            message = event.message
    return StageRow(_CLOSING, state, message)


def _rows(
    stages: Sequence[str], messages: dict[str, str], *, running: bool, over: bool = False
) -> tuple[StageRow, ...]:
    rows = []
    reached = max((n for n, stage in enumerate(stages) if stage in messages), default=-1)
    for number, stage in enumerate(stages):
        state: StageState
        if stage in messages:
            state = "done"
        elif number < reached or over:
            state = "skipped"
        else:
            # An event means that its stage is done, so the stage after the last one is running.
            state = "running" if running and number == reached + 1 else "waiting"
        rows.append(StageRow(stage, state, messages.get(stage, "")))
    return tuple(rows)
