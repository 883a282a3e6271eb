"""The pages."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.access import listed_owner
from app.api_models import Follow, HistorySearch, Submission
from app.asker import client
from app.contexts import (
    Corpus,
    HistoryPage,
    HomePage,
    OtherRecipes,
    ResultPage,
    StoppedPage,
    render,
)
from app.corpus import corpus_item, is_wikipedia, searched_corpus
from app.documents import document_items
from app.errors import RequestRefused, status_of
from app.files import file_links
from app.history import as_stored
from app.hops import hop_items
from app.openapi import describe
from app.progress import progress_page
from app.proof import proof_item
from app.recipes import UNKNOWN, recipe_to_run
from app.services import services
from app.visitor import refuse_others, visitor_with_cookie
from retrieval.claim import CHECKED_ANYWAY, LONGEST
from retrieval.errors import IndexUnavailable, InvalidClaim, Problem, RecipeUnavailable
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from worker.health import WorkerHealth, worker_health
from worker.jobs import Job, QueueFull
from worker.reports import AskedModel

blueprint = Blueprint("pages", __name__)

EXAMPLES = (
    "Frankenstein was written by Mary Shelley.",
    "Sputnik 1 was launched by the United States.",
    "The author of Frankenstein was an English novelist.",
    "Mary Shelley kept a diary about her cats.",
)
RECENT_CLAIMS = 6
CLAIMS_PER_PAGE = 20
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


@blueprint.get("/")
@describe(HTTP_200=(None, "The form and recent claims"))
def home() -> str:
    """Show the form."""
    return _home("", None)


@blueprint.post("/claims")
@describe(
    form=Submission,
    HTTP_303=(None, "The claim's page"),
    HTTP_403=(None, "From another site"),
    HTTP_413=(None, "Too large"),
    HTTP_415=(None, "Not a form"),
    HTTP_422=(None, "The form again, with what is wrong with the claim or why it cannot run"),
    HTTP_429=(None, "The form again: too many claims; Retry-After is when to come back"),
)
def submit() -> BaseResponse:
    """Submit the claim and redirect to its page; a wrong claim is shown in the form again."""
    if request.mimetype not in _FORM_TYPES:
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Problem(
                "unsupported_media_type",
                "This address accepts only a form.",
                "From a program, send JSON to /api/v1/claims.",
            ),
        )
    text = request.form.get("claim", "")
    asked = request.form.get("recipe")
    try:
        services().limits.claim()
        recipe = recipe_to_run(asked)
        anyway = request.form.get("anyway") == "1"
        job = services().queue.submit(
            text, recipe, anyway, visitor_with_cookie(), client(), typed=True
        )
    except InvalidClaim as error:
        page = _home(text, error.problem, asked=asked)
        return Response(page, status_of(error), mimetype="text/html")
    except RequestRefused as error:
        page = _home(text, error.problem, asked=asked)
        return Response(page, error.status, error.headers, mimetype="text/html")
    except QueueFull as error:
        page = _home(text, error.problem, asked=asked)
        return Response(page, status_of(error), {"Retry-After": "60"}, mimetype="text/html")
    except RecipeUnavailable as error:
        page = _home(text, None, recipe_problem=error.problem)
        return Response(page, status_of(error), mimetype="text/html")
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
        asked = _asked_model(health)
        follow = request.args.get("follow") == "1"
        events = store.events(job.id, 0)
        problem = health.problem
        if problem is not None:
            problem = services().paths.hidden_in_problem(problem)
        # A recipe may have been removed since the claim was submitted; the worker will report it.
        recipe = services().recipes.get(job.recipe, RECIPES[DEFAULT_RECIPE])
        return render(progress_page(job, recipe, events, problem, asked, follow=follow))
    return render(StoppedPage(job))


@blueprint.post("/claims/<job_id>/cancel")
@describe(
    HTTP_303=(None, "The claim's page"),
    HTTP_403=(None, "From another site, or another visitor's"),
    HTTP_404=(None, "No such claim"),
)
def cancel(job_id: str) -> BaseResponse:
    """Cancel a claim and redirect to its page."""
    refuse_others(services().store.owner(job_id))
    return _see_claim(services().queue.cancel(job_id).id)


@blueprint.post("/claims/<job_id>/delete")
@describe(
    HTTP_303=(None, "The history"),
    HTTP_403=(None, "From another site, or another visitor's"),
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
    """Show all claims so far, newest first."""
    query = as_stored(request.args.get("q", ""))
    asked = request.args.get("page", "1")
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 1
    number = max(1, number)
    store = services().store
    owner = listed_owner()
    jobs, total = store.search(query, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE, owner)
    pages = max(1, -(-total // CLAIMS_PER_PAGE))
    if number > pages:
        number = pages
        jobs, total = store.search(query, CLAIMS_PER_PAGE, (number - 1) * CLAIMS_PER_PAGE, owner)
    return render(HistoryPage(query, tuple(jobs), total, number, pages))


def _home(
    text: str,
    problem: Problem | None,
    recipe_problem: Problem | None = None,
    asked: str | None = None,
) -> str:
    """Return the page with the form; ``asked`` is the recipe that was chosen there."""
    corpus: Corpus | None = None
    corpus_problem: Problem | None = None
    recipes, here = services().recipes, UNKNOWN
    try:
        searched = searched_corpus(services())
        corpus = corpus_item(searched)
        here = searched.recipes or UNKNOWN
    except IndexUnavailable as error:
        corpus_problem = services().paths.hidden_in_problem(error.problem)
    return render(
        HomePage(
            claim=text,
            problem=problem,
            offers_anyway=problem is not None and problem.code in CHECKED_ANYWAY,
            most_characters=LONGEST,
            examples=EXAMPLES,
            recent=tuple(services().store.recent(RECENT_CLAIMS, listed_owner())),
            corpus=corpus,
            corpus_problem=corpus_problem,
            recipes=tuple(
                recipe for recipe in recipes.values() if recipe.name not in here.problems
            ),
            other_recipes=_grouped(here.problems),
            recipe_problem=recipe_problem,
            usual=here.usual,
            chosen=asked
            if asked and asked in recipes and asked not in here.problems
            else here.usual,
            asked=_asked_model(worker_health(services().workers)),
        )
    )


def _grouped(problems: Mapping[str, Problem]) -> tuple[OtherRecipes, ...]:
    names: dict[Problem, list[str]] = {}
    for name, problem in problems.items():
        names.setdefault(problem, []).append(name)
    return tuple(OtherRecipes(tuple(group), problem) for problem, group in names.items())


def _result_page(job: Job) -> ResultPage:
    result = job.result
    assert result is not None  # a job that is done has one
    return ResultPage(
        job=job,
        result=result,
        permalink=url_for(".claim", job_id=job.id, _external=True),
        files=file_links(job.id, result),
        documents=tuple(document_items(result)),
        hops=hop_items(result),
        proof=proof_item(result),
        attribution=any(map(is_wikipedia, result.credits.values())),
        most_characters=LONGEST,
    )


def _asked_model(health: WorkerHealth) -> AskedModel | None:
    """Return the language model that gets the claims, or ``None`` where there is none.

    The workers report it. While no worker is alive, it is read from the settings of this process.
    """
    llm = services().settings.llm
    if health.language_model is None and health.workers == 0 and llm is not None:
        return AskedModel(llm.model, llm.host, llm.decides, problem=None)
    return health.language_model


def _see_claim(job_id: str) -> BaseResponse:
    return redirect(url_for(".claim", job_id=job_id), HTTPStatus.SEE_OTHER)
