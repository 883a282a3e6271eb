"""The page of a claim that is pending, from its events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from app.claims.contexts import ProgressPage
from app.contexts import CorpusChoice
from app.result.trail import Group, drawn, stances, steps_of, trail
from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe
from retrieval.words import counted
from worker.jobs import Event, Job
from worker.reports import AskedModel

_NOW = {
    "looked": "Looking",
    "asked": "Asking",
    "opened": "Opening",
    "read": "Reading",
    "hop": "Reading",
    "model": "Asking the language model",
}


def progress_page(
    job: Job,
    recipe: Recipe,
    events: Sequence[Event],
    problem: Problem | None,
    asked: AskedModel | None,
    *,
    before: int,
    corpora: tuple[CorpusChoice, ...],
    follow: bool,
    may_cancel: bool,
) -> ProgressPage:
    """Return the page of a pending job.

    ``problem``: why no worker takes claims, if none does. ``asked``: the language model, if any.
    ``before``: how many claims wait before it. ``corpora``: those that it is checked against.
    """
    running = job.state == "running"
    groups = trail(events, recipe, running=running and bool(events), asks=asked is not None)
    seconds = max(0, int((datetime.now(UTC) - job.created_at).total_seconds()))
    return ProgressPage(
        may_cancel=may_cancel,
        id=job.id,
        claim=job.claim,
        recipe=job.recipe,
        corpora=corpora,
        drawn=drawn(job.claim, groups),
        now=_now(groups) if running else "Waiting",
        waiting=_waiting(problem, before) if job.state == "queued" else "",
        note=_note(events),
        so_far=stances(groups),
        steps=steps_of(groups),
        hop=max((group.hop for group in groups), default=1),
        trail=groups,
        asked=asked,
        seconds=seconds,
        elapsed=elapsed(seconds),
        follow=follow,
    )


def elapsed(whole_seconds: int) -> str:
    """Return how long a claim has taken so far; ``static/progress.js`` uses the same words."""
    minutes, rest = divmod(whole_seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _now(groups: Sequence[Group]) -> str:
    begun = [group for group in groups if group.kind in _NOW and group.state != "waiting"]
    return _NOW[begun[-1].kind] if begun else "Starting"


def _note(events: Sequence[Event]) -> str:
    """Return why the claim started again, or what it waits for; "" where nothing is to be said."""
    said = ""
    for before, event in pairwise([None, *events]):
        # Other starts begin a statement, which is a line of the trail.
        if event is not None and event.stage == "start" and event.of == 1:
            worked = before is not None and before.stage != "start"
            said = event.message if worked or event is events[-1] else said
    return said


def _waiting(problem: Problem | None, before: int) -> str:
    if problem is not None:
        return f"{problem.message} {problem.hint}"
    if not before:
        return "It is next."
    return f"{counted(before, 'claim')} {'is' if before == 1 else 'are'} before it."
