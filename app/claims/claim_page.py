"""The page of a claim: its progress while it is pending, its result with what can be done then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal, TypeAlias

from flask import render_template, request

from app.claims.recipes import asked_model
from app.documents.corpus import (
    CorpusChoice,
    corpora_to_choose,
    from_wikipedia,
    sources_among,
)
from app.documents.files import file_links
from app.people.sharing import seen_job
from app.people.visitor import may_change, visitor
from app.result.answer import answer_of
from app.result.evidence import (
    balance,
    by_statements,
    cards,
    closest_first,
    more_documents,
    source_of,
)
from app.result.export import EXPORTS, FORMATS
from app.result.proof import marked_claim, proof_item
from app.result.published import confirmation
from app.result.trail import Group, drawn, has_findings, stances, steps_of, trail, trail_of
from app.services import services
from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import (
    DEFAULT_RECIPE,
    MORE_HOPS,
    RECIPES,
    Recipe,
    base_and_more_hops,
    recipe_named,
)
from retrieval.result import ClaimResult
from retrieval.types import ALTERNATION, DEFAULT_CORPUS, NEGATION
from worker.feedback_store import FeedbackStore
from worker.health import worker_health
from worker.jobs import Event, Job, UnknownJob

# The stages that ask a source, and how long an answer takes before the page says so.
_ASKING = {"titles", "texts", "next"}
_SLOW = timedelta(seconds=3)

Change: TypeAlias = Literal["another", "surer", "less sure", "same"]


@dataclass(frozen=True, slots=True)
class Before:
    """What an earlier check of the same claim said, which this one goes on from.

    ``percent``: how sure its verdict was, ``None`` where it has no such figure. ``change``: what
    the verdict is now, compared with that one. ``sentences``: how many more were found.
    ``corpora``: what it searched, "" where that is the same.
    """

    words: str
    percent: int | None
    change: Change
    sentences: int
    corpora: str


def claim_page(job: Job) -> str:
    """Return the page of a job in its state.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    if job.state in ("queued", "running"):
        return _progress(job)
    mine = may_change(services().store.owner(job.id))
    if job.result is None:
        return render_template("stopped.html", job=job, may_delete=mine)
    return _result(job, job.result, may_delete=mine)


def known_job(job_id: str | None) -> Job | None:
    """Return the job with this id, ``None`` if there is none, or none to be seen.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    try:
        return seen_job(job_id) if job_id else None
    except UnknownJob:
        return None


def more_hops(recipe: str) -> int:
    """Return for how many more hops the search of a recipe can go on, 0 if it cannot."""
    base, more = base_and_more_hops(recipe)
    further = next((hops for hops in MORE_HOPS if hops > more), 0)
    try:
        return further if recipe_named(base, services().recipes).can_go_on else 0
    except UnknownRecipe:  # it was removed
        return 0


def doubtful(result: ClaimResult) -> str:
    """Return words of the claim: what the evidence contradicts, or what is in no text, or open."""
    contradicted = [
        result.words_at(part.claim_span)
        for part in result.proof or ()
        if result.proof_agrees and part.operator in (NEGATION, ALTERNATION)
    ]
    return next((words for words in (*contradicted, *result.absent, *result.missing) if words), "")


def _result(job: Job, result: ClaimResult, *, may_delete: bool) -> str:
    events = services().store.events(job.id, 0)
    answer, files = answer_of(result), file_links(job.id, result)
    found = cards(result, files, answer.differences, answer.opposing)
    shown, unused = closest_first(result, found, answer.quoted)
    about, asker = FeedbackStore(services().database).about(job.id), visitor()
    continued_from = known_job(job.continued_from)
    return render_template(
        "result.html",
        job=job,
        result=result,
        answer=answer,
        quoted_from=source_of(result, answer.quoted, files),
        usual=job.recipe == DEFAULT_RECIPE,
        drawn=marked_claim(result, answer.differences),
        balance=balance(result, answer.opposing),
        found=by_statements(result, shown),
        unused=unused,
        more=more_documents(result, shown),
        files=files,
        proof=proof_item(result),
        trail=trail(events, _recipe_of(job), running=False)
        if has_findings(events)
        else trail_of(result),
        attribution=any(map(from_wikipedia, result.documents)),
        indexes=_indexes(job.corpora) or (DEFAULT_CORPUS,),
        others=_other_corpora(job, result),
        may_delete=may_delete,
        about=about,
        given=next((one for one in about if asker is not None and one.owner == asker), None),
        confirmed=confirmation(about, asker),
        formats={name: FORMATS[name].label for name in EXPORTS},
        search_on=more_hops(job.recipe),
        edited_from=known_job(job.edited_from),
        continued_from=continued_from,
        before=_before(result, continued_from.result if continued_from else None),
    )


def _indexes(names: Sequence[str] | None) -> list[str]:
    """Return those of these corpora that have an index here."""
    sources = [one.name for one in sources_among(names)]
    return [name for name in names or () if name not in sources]


def _other_corpora(job: Job, result: ClaimResult) -> list[CorpusChoice]:
    """Return the corpora that no check of this claim has searched, as far as this one goes on.

    Those with whole articles come first. One that did not answer was not searched.
    """
    names = job.corpora or (DEFAULT_CORPUS,)
    searched = {*(_indexes(names) if result.notices_on_sources else names)}
    earlier = known_job(job.continued_from)
    while earlier is not None:
        searched |= {*(earlier.corpora or (DEFAULT_CORPUS,))}
        earlier = known_job(earlier.continued_from)
    others = [one for one in corpora_to_choose() if one.name not in searched]
    return sorted(others, key=lambda one: one.kind == "index")


def _before(now: ClaimResult, earlier: ClaimResult | None) -> Before | None:
    """Return what the check said that this one goes on from; ``None`` unless it has ended."""
    if earlier is None:
        return None
    found, more = (sum(hop.sentences for hop in one.hops) for one in (earlier, now))
    change = _change(earlier, now)
    elsewhere = [one.name for one in earlier.corpora] != [one.name for one in now.corpora]
    return Before(
        *(earlier.verdict.words, _percent(earlier), change, max(0, more - found)),
        corpora=earlier.corpus_title if elsewhere else "",
    )


def _change(earlier: ClaimResult, later: ClaimResult) -> Change:
    said, now = earlier.verdict, later.verdict
    if (said.label, said.leans) != (now.label, now.leans):
        return "another"
    if said.level != now.level:  # "Supported" and "Probably supported"
        return "less sure" if now.level == "probably" else "surer"
    before, after = _percent(earlier), _percent(later)
    if before is None or after is None or before == after:
        return "same"
    return "surer" if after > before else "less sure"


def _percent(result: ClaimResult) -> int | None:
    return None if result.decider == "model" else result.verdict.percent


def _progress(job: Job) -> str:
    store, health = services().store, worker_health(services().workers)
    asked, events = asked_model(health), store.events(job.id, 0)
    at_work = job.state == "running" and bool(events)
    groups = trail(events, _recipe_of(job), running=at_work, asks=asked is not None)
    names = job.corpora or (DEFAULT_CORPUS,)
    return render_template(
        "progress.html",
        job=job,
        usual=job.recipe == DEFAULT_RECIPE,
        corpora=[one for one in corpora_to_choose(names) if one.name in names],
        drawn=drawn(job.claim, groups),
        problem=health.problem and services().paths.hidden_in_problem(health.problem),
        waiting=store.standing(job.id)[1],
        note=_note(events) or _waited_for(job, groups, events),
        so_far=stances(groups),
        steps=steps_of(groups),
        trail=groups,
        asked=asked,
        seconds=max(0, int((datetime.now(UTC) - job.created_at).total_seconds())),
        follow=request.args.get("follow") == "1",
        may_cancel=may_change(store.owner(job.id)),
    )


def _note(events: Sequence[Event]) -> str:
    """Return why the claim started again, or what it waits for; "" where nothing is to be said."""
    said = ""
    for before, event in pairwise([None, *events]):
        # Other starts begin a statement, which is a line of the trail.
        if event is not None and event.stage == "start" and event.of == 1:
            worked = before is not None and before.stage != "start"
            said = event.message if worked or event is events[-1] else said
    return said


def _waited_for(job: Job, groups: Sequence[Group], events: Sequence[Event]) -> str:
    """Return which wiki has not answered for a while, "" where none is waited for."""
    hosts = [one.host for one in sources_among(job.corpora) if one.host]
    running = {one.name for group in groups for one in group.stages if one.state == "running"}
    if not hosts or not running & _ASKING or datetime.now(UTC) - events[-1].at < _SLOW:
        return ""
    return f"Waiting for {' and '.join(hosts)} to answer."


def _recipe_of(job: Job) -> Recipe:
    # A recipe may have been removed since the claim was submitted; the worker will report it.
    try:
        return recipe_named(job.recipe, services().recipes)
    except UnknownRecipe:
        return RECIPES[DEFAULT_RECIPE]
