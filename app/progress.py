"""Events of a job as the rows of the progress page.

``static/progress.js`` does the same in the browser while it polls.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.contexts import Problem, ProgressPage, Round, StageRow
from app.wording import FIRST_ROUND, LATER_ROUND, STAGES, elapsed
from worker.jobs import Event, Job


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
    seconds = max(0, int((datetime.now(UTC) - job.created_at).total_seconds()))
    return ProgressPage(
        id=job.id,
        claim=job.claim,
        waiting=_waiting(problem) if job.state == "queued" else "",
        rounds=_rounds(current, started=last is not None and job.state == "running"),
        later_round=_rows({}, 2, running=False),
        percent=0 if last is None else 100 * last.done // max(1, last.of),
        seconds=seconds,
        elapsed=elapsed(seconds),
        attempt_note=note,
    )


def _waiting(problem: Problem | None) -> str:
    if problem is None:
        return "Waiting for its turn."
    return f"{problem.message} {problem.hint}"


def _rounds(events: Sequence[Event], *, started: bool) -> tuple[Round, ...]:
    messages: list[dict[str, str]] = [{}]
    for event in events:
        if event.stage == "mentions":
            messages.append({})
        messages[-1][event.stage] = event.message
    return tuple(
        Round(number, _rows(found, number, running=started and number == len(messages)))
        for number, found in enumerate(messages, 1)
    )


def _rows(messages: dict[str, str], number: int, *, running: bool) -> tuple[StageRow, ...]:
    rows = []
    for stage in FIRST_ROUND if number == 1 else LATER_ROUND:
        if stage in messages:
            rows.append(StageRow(stage, STAGES[stage], "done", messages[stage]))
        else:
            # An event tells that its stage is over, so the first without one is at work.
            rows.append(StageRow(stage, STAGES[stage], "running" if running else "waiting", ""))
            running = False
    return tuple(rows)
