"""The home page, the page of a claim, and the history."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import describe
from app.claims.actions import actions_of, editing
from app.claims.asked_model import asked_model
from app.claims.box import box_answer, refused
from app.claims.contexts import BoxAnswer, Example, HomePage, ResultPage, StoppedPage
from app.claims.entered import entered
from app.claims.history import history_page
from app.claims.history_search import HistorySearch
from app.claims.progress import progress_page
from app.claims.recipes import recipe_choice, recipe_to_run
from app.contexts import Corpus, CorpusChoice, render
from app.documents.corpus import corpus_item, is_wikipedia, searched_corpus
from app.documents.corpus_choice import corpora_to_choose, corpora_to_search
from app.documents.files import file_links
from app.http.errors import RequestRefused, refused_page
from app.http.forms import refuse_unless_form
from app.lists.pages import submitted_list
from app.people.asker import client
from app.people.visitor import may_change, refuse_others, viewer, visitor_with_cookie
from app.result.evidence import by_statements, cards, closest_first, silent, without_evidence
from app.result.proof import differences, marked_claim, proof_item
from app.result.trail import has_findings, trail, trail_of
from app.services import services
from app.texts.text_or_page import opens
from retrieval.claim import LONGEST
from retrieval.claim_lists.files import ListFile
from retrieval.errors import (
    BadSource,
    IndexUnavailable,
    InvalidClaim,
    Problem,
    RecipeUnavailable,
    UnknownRecipe,
)
from retrieval.recipes.recipes import (
    DEFAULT_RECIPE,
    RECIPES,
    Recipe,
    base_and_more_hops,
    recipe_named,
)
from retrieval.text.plain_questions import plain_statement
from retrieval.types import DEFAULT_CORPUS
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.health import worker_health
from worker.jobs import Job, Origin, QueueFull

blueprint = Blueprint("pages", __name__)

EXAMPLES = (
    Example("Frankenstein was written by Mary Shelley.", "true"),
    Example("Sputnik 1 was launched by the United States.", "false"),
    Example("The author of Frankenstein was an English novelist.", "needs two documents"),
    Example("Mary Shelley kept a diary about her cats.", "not in the documents"),
)
RECENT_CLAIMS = 3


class Filled(Model):
    """What the form of the first page is filled with."""

    q: str = ""
    """What stands in the box."""
    recipe: str | None = None
    """Name of the recipe that is selected."""
    edited_from: str = ""
    """Id of the claim that this one is made from; its doubtful words are selected."""


class Follow(Model):
    """How to show a claim's page."""

    follow: Literal["0", "1"] = "0"
    """1: the page also reloads itself without JavaScript."""


class SubmissionForm(Model):
    """A claim to be checked."""

    claim: str
    """The claim, at most 500 characters."""
    recipe: str | None = None
    """Name of a recipe that can run here; left out: the default one."""
    anyway: Literal["0", "1"] = "0"
    """1: also a link, a text in another language, or a question that yes or no does not answer."""
    edited_from: str = ""
    """Id of the claim that this one is made from."""


@blueprint.get("/")
@describe(query=Filled, HTTP_200=(None, "The form and recent claims"))
def home() -> str:
    """Show the form, filled with ``q``."""
    text, recipe = request.args.get("q", ""), request.args.get("recipe")
    edited_from = request.args.get("edited_from", "")
    return _home(box_answer(text, recipe), asked=recipe, edited_from=edited_from)


@blueprint.post("/claims")
@describe(
    form=SubmissionForm,
    HTTP_303=(None, "The page of the claim, or of the list"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "The form again: no such corpus"),
    HTTP_413=(None, "Too large"),
    HTTP_415=(None, "Not a form"),
    HTTP_422=(None, "The form again, with what is wrong, or what can be done with a text"),
    HTTP_429=(None, "The form again: too many claims; Retry-After is when to come back"),
)
def submit() -> BaseResponse:
    """Submit a claim, or several lines as a list, and redirect to its page.

    What cannot be checked is shown in the form again, and so is a text, with what can be done.
    """
    refuse_unless_form("From a program, send JSON to /api/v1/claims.")
    text = request.form.get("claim", "")
    asked, chosen = request.form.get("recipe"), request.form.get("as", "")
    edited_from = request.form.get("edited_from", "")
    anyway = request.form.get("anyway") == "1"
    found = entered(text)
    try:
        corpora = corpora_to_search(request.form.getlist("corpora"))
        if (found.kind != "claim" or opens(text)) and not anyway and chosen != "claim":
            if found.kind == "list" or chosen == "list":
                lines = text if found.table else "\n".join(found.rows)
                return submitted_list(ListFile("pasted.txt", lines.encode("utf-8", "replace")))
            page = _home(box_answer(text, asked), asked=asked)
            return Response(page, HTTPStatus.UNPROCESSABLE_ENTITY, mimetype="text/html")
        one = found.rows[0] if found.kind == "claim" and found.rows else text
        claim = (plain_statement(one) if chosen == "statement" else None) or one
        services().limits.claim()
        recipe = recipe_to_run(asked)
        edited = editing(edited_from)
        origin = Origin(edited_from=edited.id if edited else None)
        job = services().queue.submit(
            *(claim, recipe, anyway, visitor_with_cookie(), origin, corpora),
            client=client(),
            typed=True,
        )
    except (
        *(InvalidClaim, BadSource, UnknownCorpus, CorpusNotReady, CorpusRefused),
        *(QueueFull, RequestRefused),
    ) as error:
        page = _home(refused(text, error.problem), asked=asked, edited_from=edited_from)
        return refused_page(page, error)
    except RecipeUnavailable as error:
        page = _home(box_answer(text, None), recipe_problem=error.problem, edited_from=edited_from)
        return refused_page(page, error)
    return _see_claim(job.id)


@blueprint.get("/claims/<job_id>")
@describe(query=Follow, HTTP_200=(None, "The page"), HTTP_404=(None, "No such claim"))
def claim(job_id: str) -> str:
    """Show the progress of a claim, or its result once there is one."""
    store = services().store
    job = services().job(job_id)
    if job.state == "done":
        return render(_result_page(job))
    if job.state in ("queued", "running"):
        health = worker_health(services().workers)
        asked = asked_model(health)
        follow = request.args.get("follow") == "1"
        events = store.events(job.id, 0)
        problem = health.problem
        if problem is not None:
            problem = services().paths.hidden_in_problem(problem)
        page = progress_page(
            job,
            _recipe_of(job),
            events,
            problem,
            asked,
            before=store.standing(job.id)[1],
            corpora=_searched(job),
            follow=follow,
            may_cancel=may_change(store.owner(job.id)),
        )
        return render(page)
    return render(StoppedPage(job, may_change(services().store.owner(job.id))))


@blueprint.post("/claims/<job_id>/cancel")
@describe(
    HTTP_303=(None, "The claim's page"),
    HTTP_403=(None, "From another site, or somebody else's"),
    HTTP_404=(None, "No such claim"),
)
def cancel(job_id: str) -> BaseResponse:
    """Cancel a claim and redirect to its page."""
    refuse_others(services().store.owner(job_id))
    return _see_claim(services().queue.cancel(job_id).id)


@blueprint.post("/claims/<job_id>/delete")
@describe(
    HTTP_303=(None, "The history"),
    HTTP_403=(None, "From another site, or somebody else's"),
    HTTP_404=(None, "No such claim"),
)
def delete(job_id: str) -> BaseResponse:
    """Delete a claim with all that belongs to it, and redirect to the history."""
    refuse_others(services().store.owner(job_id))
    services().store.delete(job_id)
    return redirect(url_for(".history"), HTTPStatus.SEE_OTHER)


@blueprint.get("/claims")
@describe(query=HistorySearch, HTTP_200=(None, "The page"))
def history() -> str:
    """Show the claims so far, newest first."""
    return render(history_page())


@blueprint.get("/history")
@describe(HTTP_303=(None, "The history"))
def to_history() -> BaseResponse:
    """Redirect to the history from the address that its name suggests."""
    return redirect(url_for(".history"), HTTPStatus.SEE_OTHER)


def _home(
    box: BoxAnswer,
    recipe_problem: Problem | None = None,
    asked: str | None = None,
    edited_from: str = "",
) -> str:
    """Return the page with the form; ``asked`` is the recipe that was chosen there.

    ``edited_from``: the id of the claim that is edited in the form, "" if there is none.
    """
    corpus: Corpus | None = None
    corpus_problem: Problem | None = None
    try:
        searched = searched_corpus(services())
        corpus = corpus_item(searched)
    except IndexUnavailable as error:
        corpus_problem = services().paths.hidden_in_problem(error.problem)
    edited = editing(edited_from)
    chosen_corpora = request.values.getlist("corpora") or (edited.corpora if edited else ())
    return render(
        HomePage(
            box=box,
            most_characters=LONGEST,
            examples=EXAMPLES,
            recent=tuple(services().store.recent(RECENT_CLAIMS, seen_by=viewer())),
            corpus=corpus,
            corpus_problem=corpus_problem,
            corpora=corpora_to_choose(chosen_corpora),
            choice=recipe_choice(asked, recipe_problem),
            asked=asked_model(worker_health(services().workers)),
            editing=edited,
            opens_links=services().pages is not None,
        )
    )


def _result_page(job: Job) -> ResultPage:
    result = job.result
    assert result is not None  # a job that is done has one
    events = services().store.events(job.id, 0)
    found = differences(result)
    files = file_links(job.id, result)
    shown, unused = closest_first(result, cards(result, files, found))
    return ResultPage(
        job=job,
        result=result,
        drawn=marked_claim(result, found),
        differences=found,
        found=by_statements(result, shown),
        unused=unused,
        opened=without_evidence(result, files),
        silent=silent(result, files),
        base_recipe=base_and_more_hops(result.recipe)[0],
        proof=proof_item(result),
        trail=trail(events, _recipe_of(job), running=False)
        if has_findings(events)
        else trail_of(result),
        attribution=any(map(is_wikipedia, result.credits.values())),
        most_characters=LONGEST,
        actions=actions_of(job),
    )


def _recipe_of(job: Job) -> Recipe:
    # A recipe may have been removed since the claim was submitted; the worker will report it.
    try:
        return recipe_named(job.recipe, services().recipes)
    except UnknownRecipe:
        return RECIPES[DEFAULT_RECIPE]


def _searched(job: Job) -> tuple[CorpusChoice, ...]:
    names = job.corpora or (DEFAULT_CORPUS,)
    return tuple(one for one in corpora_to_choose(names) if one.name in names)


def _see_claim(job_id: str) -> BaseResponse:
    return redirect(url_for(".claim", job_id=job_id), HTTPStatus.SEE_OTHER)
