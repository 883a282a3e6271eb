"""What a visitor can do with a result, as ``templates/actions.html`` shows it."""

from __future__ import annotations

from flask import url_for

from app.claims.contexts import Actions, Before, Change, Editing
from app.people.sharing import seen_job
from app.people.visitor import may_change, visitor
from app.result.export import confirmation
from app.services import services
from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import MORE_HOPS, base_and_more_hops, recipe_named
from retrieval.result import ClaimResult
from retrieval.types import ALTERNATION, NEGATION
from worker.feedback_store import FeedbackStore
from worker.jobs import Job, UnknownJob


def actions_of(job: Job) -> Actions:
    """Return what can be done with a job that is done.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    asker = visitor()
    about = FeedbackStore(services().database).about(job.id)
    confirmed = confirmation(about, asker)
    continued_from = _job(job.continued_from)
    return Actions(
        id=job.id,
        permalink=url_for("pages.claim", job_id=job.id, _external=True),
        may_delete=may_change(services().store.owner(job.id)),
        given=next((one for one in about if asker is not None and one.owner == asker), None),
        agreed=sum(one.opinion.agrees for one in about),
        disagreed=sum(not one.opinion.agrees for one in about),
        confirmed_by=confirmed.opinion.name if confirmed else "",
        edit=url_for("pages.home", q=job.claim, edited_from=job.id),
        compare=url_for("compare.compare", claim=job.claim, corpora=job.corpora),
        search_on=more_hops(job.recipe),
        edited_from=_job(job.edited_from),
        continued_from=continued_from,
        before=_before(job, continued_from) if continued_from else None,
    )


def editing(job_id: str) -> Editing | None:
    """Return the claim that is edited, ``None`` if there is none with this id.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    job = _job(job_id or None)
    if job is None:
        return None
    words = _doubtful(job.result) if job.result else ""
    return Editing(job.id, job.claim, words, job.corpora or ())


def more_hops(recipe: str) -> int:
    """Return for how many more hops the search of a recipe can go on, 0 if it cannot."""
    base, more = base_and_more_hops(recipe)
    further = next((hops for hops in MORE_HOPS if hops > more), 0)
    try:
        return further if recipe_named(base, services().recipes).can_go_on else 0
    except UnknownRecipe:  # it was removed
        return 0


def _doubtful(result: ClaimResult) -> str:
    """Return words of the claim: what the evidence contradicts, or what is in no text, or open."""
    contradicted = [
        result.words_at(part.claim_span)
        for part in result.proof or ()
        if result.proof_agrees and part.operator in (NEGATION, ALTERNATION)
    ]
    return next((words for words in (*contradicted, *result.absent, *result.missing) if words), "")


def _before(job: Job, earlier: Job) -> Before | None:
    """Return what the check said that this one goes on from; ``None`` unless both have ended."""
    if job.result is None or earlier.result is None:
        return None
    found = [sum(hop.sentences for hop in one.hops) for one in (earlier.result, job.result)]
    change = _change(earlier.result, job.result)
    more = max(0, found[1] - found[0])
    return Before(earlier.result.verdict.words, _percent(earlier.result), change, more)


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


def _job(job_id: str | None) -> Job | None:
    if job_id is None:
        return None
    try:
        return seen_job(job_id)
    except UnknownJob:
        return None
