"""Events of a job as the rows of the progress page.

``static/progress.js`` does the same in the browser while it polls.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.contexts import Problem, ProgressPage, Round, StageRow, StageState
from app.wording import STAGES, elapsed
from retrieval.errors import UnknownRecipe
from retrieval.recipes import DEFAULT_RECIPE, Recipe, recipe_named
from worker.jobs import Event, Job

# What ends a round and opens another, and what needs sentences of an earlier one.
_OPENS_A_ROUND = "next"
_FROM_THE_SECOND_ROUND = ("paths",)


def progress_page(job: Job, events: Sequence[Event], problem: Problem | None) -> ProgressPage:
    """Return the page of a pending job; ``problem`` says why no worker takes claims, if so."""
    note = ""
    current: list[Event] = []
    for event in events:
        if event.stage == "start":
            if current:
                # Its worker was lost: what that one did is done again.
                note = event.message
            current = []
        else:
            current.append(event)
    last = events[-1] if events else None
    recipe = _recipe(job.recipe)
    seconds = max(0, int((datetime.now(UTC) - job.created_at).total_seconds()))
    return ProgressPage(
        id=job.id,
        claim=job.claim,
        waiting=_waiting(problem) if job.state == "queued" else "",
        rounds=rounds(
            recipe.stages_first,
            recipe.stages_per_hop,
            current,
            started=last is not None and job.state == "running",
        ),
        later_round=_rows(recipe.stages_per_hop, {}, running=False),
        percent=0 if last is None else 100 * last.done // max(1, last.of),
        seconds=seconds,
        elapsed=elapsed(seconds),
        attempt_note=note,
    )


def rounds(
    stages_first: Sequence[str],
    stages_per_hop: Sequence[str],
    events: Sequence[Event],
    *,
    started: bool,
) -> tuple[Round, ...]:
    """Return the rounds that were begun; ``started`` tells whether a worker is at the last one."""
    messages: list[dict[str, str]] = [{}]
    for event in events:
        messages[-1][event.stage] = event.message
        if event.stage == _OPENS_A_ROUND:
            messages.append({})
    first_round = (*stages_first, *(s for s in stages_per_hop if s not in _FROM_THE_SECOND_ROUND))
    return tuple(
        Round(
            number,
            _rows(
                first_round if number == 1 else stages_per_hop,
                found,
                running=started and number == len(messages),
            ),
        )
        for number, found in enumerate(messages, 1)
    )


def _recipe(name: str) -> Recipe:
    try:
        return recipe_named(name)
    except UnknownRecipe:
        # It waits since before an update took its recipe away; its worker will say so.
        return recipe_named(DEFAULT_RECIPE)


def _waiting(problem: Problem | None) -> str:
    if problem is None:
        return "Waiting for its turn."
    return f"{problem.message} {problem.hint}"


def _rows(
    stages: Sequence[str], messages: dict[str, str], *, running: bool
) -> tuple[StageRow, ...]:
    rows = []
    reached = max((n for n, stage in enumerate(stages) if stage in messages), default=-1)
    for number, stage in enumerate(stages):
        state: StageState
        if stage in messages:
            state = "done"
        elif number < reached:
            state = "skipped"
        else:
            # An event tells that its stage is over, so the first after the last is at work.
            state = "running" if running and number == reached + 1 else "waiting"
        rows.append(StageRow(stage, STAGES.get(stage, stage), state, messages.get(stage, "")))
    return tuple(rows)
