"""Comparing recipes: the form, the page that fills in as checks end, its JSON and its files."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import (
    ComparedIds,
    ComparisonExport,
    ComparisonForm,
    ComparisonSearch,
    Error,
    answer,
)
from app.api.openapi import describe
from app.claims.asked_model import asked_model
from app.claims.recipes import grouped, listed_recipes, recipe_to_run, runnable_here
from app.comparisons.comparison import MOST_RECIPES, Comparison, compared
from app.comparisons.contexts import CompareForm, ComparisonPage, RecipesPage
from app.comparisons.files import FILES
from app.comparisons.given_claims import MOST_CHECKS, claims_of_list, given_claims, most_checks
from app.contexts import render
from app.documents.corpus_choice import corpora_to_choose, corpora_to_search
from app.http.asker import client
from app.http.errors import RequestRefused, refused_page
from app.http.forms import refuse_unless_form
from app.http.listing import asked_by_program
from app.lists.input import uploaded_file
from app.people.visitor import visitor_with_cookie
from app.services import services
from retrieval.claim import CHECKED_ANYWAY, LONGEST
from retrieval.errors import (
    BadSource,
    EsotericError,
    InvalidClaim,
    Problem,
    RecipeUnavailable,
    UnknownRecipe,
)
from retrieval.types import LABELS
from worker.broker import BrokerUnavailable
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.database import StoreUnavailable
from worker.health import worker_health
from worker.jobs import Job, QueueFull

blueprint = Blueprint("compare", __name__)

_LONGEST_IN_ADDRESS = 2000  # characters; each may take nine there, of about 30,000 that are read
_CANNOT_COMPARE = (None, "No ids, more than 200, or more than five recipes")
_NONE_KNOWN = (None, "None of these checks exists")


@blueprint.get("/compare")
@describe(
    query=ComparisonSearch,
    HTTP_200=(None, "The comparison, or the form where no ids are named"),
    HTTP_400=_CANNOT_COMPARE,
    HTTP_404=_NONE_KNOWN,
    HTTP_422=(None, "The form, where the named list has too many claims"),
)
def compare() -> str | Response:
    """Show checks side by side, or the form."""
    ids = request.args.get("claims", "")
    if not ids.strip():
        list_id = request.args.get("list", "").strip()
        return _form_of_list(list_id) if list_id else _form(request.args.get("claim", ""))
    comparison, _ = _compared(ids)
    claims = comparison.text
    page = ComparisonPage(
        comparison=comparison,
        claims=claims if len(claims) <= _LONGEST_IN_ADDRESS else "",
        ids=",".join(run.id for run in comparison.runs),
        described=frozenset(services().recipes),
        labels=LABELS,
    )
    return render(page)


@blueprint.post("/compare")
@describe(
    form=ComparisonForm,
    HTTP_303=(None, "The comparison"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "The form again: no such corpus"),
    HTTP_413=(None, "Too large"),
    HTTP_415=(None, "Not a form"),
    HTTP_422=(None, "The form again, with what is wrong"),
    HTTP_429=(None, "The form again: too many claims; Retry-After is when to come back"),
)
def submit() -> BaseResponse:
    """Submit each claim once with each recipe, and redirect to the comparison."""
    refuse_unless_form("From a program, send each claim with its recipe to /api/v1/claims.")
    text = request.form.get("claim", "")
    names = list(dict.fromkeys(request.form.getlist("recipe")))
    problem = _wrong_number(len(names))
    if problem is not None:
        wrong = RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, problem)
        return _refused(text, names, wrong, about_recipes=True)
    try:
        recipes = [recipe_to_run(name) for name in names]
        corpora = corpora_to_search(request.form.getlist("corpora"))
        anyway = request.form.get("anyway") == "1"
        claims = given_claims(text, uploaded_file(), len(recipes), anyway)
        owner = visitor_with_cookie()
        queue = services().queue
        checks = [(claim, recipe) for claim in claims for recipe in recipes]
        queue.refuse_without_room(len(checks))
        services().limits.claim(len(checks))
        jobs: list[Job] = []
        for claim, recipe in checks:
            try:
                # Many checks take as long as a list, so they let a claim that was typed come first.
                job = queue.submit(
                    *(claim, recipe, anyway, owner),
                    corpora=corpora,
                    client=client(),
                    typed=len(claims) == 1,
                )
            except (BrokerUnavailable, QueueFull, StoreUnavailable) as error:
                if not jobs:
                    raise
                return _accepted_in_part(text, names, jobs, error)
            jobs.append(job)
    except (
        *(BadSource, InvalidClaim, UnknownCorpus, CorpusNotReady, CorpusRefused),
        *(QueueFull, RequestRefused),
    ) as error:
        return _refused(text, names, error)
    except (RecipeUnavailable, UnknownRecipe) as error:
        return _refused(text, names, error, about_recipes=True)
    ids = ",".join(job.id for job in jobs)
    return redirect(url_for(".compare", claims=ids), HTTPStatus.SEE_OTHER)


def _accepted_in_part(
    text: str, names: list[str], jobs: Sequence[Job], error: EsotericError
) -> Response:
    """Return the form with what was refused, why, and a link to what was accepted."""
    problem = services().paths.hidden_in_problem(error.problem)
    first = "the first" if len(jobs) == 1 else f"the first {len(jobs)}"
    said = f"Of these checks only {first} {'was' if len(jobs) == 1 else 'were'} accepted."
    in_part = Problem("accepted_in_part", f"{said} {problem.message}", problem.hint)
    accepted = tuple(job.id for job in jobs)
    return refused_page(_form(text, frozenset(names), in_part, accepted=accepted), error)


@blueprint.get("/recipes")
@describe(HTTP_200=(None, "The page"))
def recipes() -> str:
    """Show what each recipe does."""
    return render(RecipesPage(listed_recipes().recipes))


@blueprint.get("/api/v1/compare")
@describe(
    query=ComparedIds,
    HTTP_200=(Comparison, "The comparison"),
    HTTP_400=(Error, _CANNOT_COMPARE[1]),
    HTTP_404=(Error, _NONE_KNOWN[1]),
)
def comparison() -> Response:
    """Return checks side by side, also while some of them are pending."""
    return answer(_compared(request.args.get("claims", ""))[0])


@blueprint.get("/api/v1/compare/export")
@describe(
    query=ComparisonExport,
    HTTP_200=(None, "The file"),
    HTTP_400=(Error, "No such format, or what the comparison refuses"),
    HTTP_404=(Error, _NONE_KNOWN[1]),
    HTTP_409=(Error, "A check is pending, or none has a result"),
)
def export() -> Response:
    """Return checks side by side as a file, once all of them have ended."""
    name = asked_by_program(ComparisonExport).format
    comparison, jobs = _compared(request.args.get("claims", ""))
    if comparison.pending:
        message = f"{comparison.pending} of {len(comparison.runs)} checks have not ended."
        raise _conflict(message, "Wait for them, or leave their ids out.")
    if not any(run.label for run in comparison.runs):
        message = "None of these checks has a result to export."
        raise _conflict(message, "Their pages say why. Compare the recipes again.")
    file = FILES[name]
    ids = ",".join(run.id for run in comparison.runs)
    page = url_for(".compare", claims=ids, _external=True)
    return Response(
        file.write(comparison, jobs, page),
        mimetype=file.media_type,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def _compared(ids: str) -> tuple[Comparison, list[Job]]:
    """Return the comparison of the checks with these ids, and the checks.

    Raises:
        RequestRefused: none is named or known, or there are too many of them or of their recipes.
        StoreUnavailable: the database cannot be read.
    """
    asked = list(dict.fromkeys(one for part in ids.split(",") if (one := part.strip())))
    if not asked:
        raise _refusal("no_checks", "No checks are named.", "Name their ids: claims=ID,ID.")
    if len(asked) > MOST_CHECKS:
        raise _refusal(
            "too_many_checks",
            f"These are {len(asked)} checks; at most {MOST_CHECKS} can be compared.",
            "Leave some ids out, or measure many claims with `esoteric evaluate`.",
        )
    # Some databases refuse texts that no id can be, such as one with a NUL.
    jobs = services().store.jobs([one for one in asked if one.isalnum()])
    if not jobs:
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem(
                "unknown_checks",
                "None of these checks exists.",
                "They may have been deleted. Check the address, or compare the recipes again.",
            ),
        )
    checked = {job.recipe for job in jobs}
    if len(checked) > MOST_RECIPES:
        raise _refusal(
            "too_many_recipes",
            f"These checks are by {len(checked)} recipes; at most {MOST_RECIPES} fit side by side.",
            "Leave out the ids of some recipes.",
        )
    shown = [services().paths.hidden_in_job(job) for job in jobs]
    return compared(asked, shown, services().recipes), shown


def _refusal(code: str, message: str, hint: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.BAD_REQUEST, Problem(code, message, hint))


def _conflict(message: str, hint: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.CONFLICT, Problem("not_done", message, hint))


def _wrong_number(recipes: int) -> Problem | None:
    if recipes < 2:
        said = "Only one recipe is ticked." if recipes else "No recipe is ticked."
        return Problem("too_few_recipes", said, "Tick at least two to compare them.")
    if recipes > MOST_RECIPES:
        return Problem(
            "too_many_recipes",
            f"{recipes} recipes are ticked; at most {MOST_RECIPES} fit side by side.",
            "Untick some of them.",
        )
    return None


def _refused(
    text: str,
    names: list[str],
    error: EsotericError | RequestRefused,
    about_recipes: bool = False,
) -> Response:
    about_claim, about_recipe = (None, error.problem) if about_recipes else (error.problem, None)
    return refused_page(_form(text, frozenset(names), about_claim, about_recipe), error)


def _form_of_list(list_id: str) -> str | Response:
    """Return the form with the claims of a list, and the corpora that it was checked against."""
    found = services().lists.get(list_id)
    try:
        claims, left_out = claims_of_list(found)
        return _form(claims, corpora=found.corpora or (), left_out=left_out)
    except RequestRefused as error:
        return refused_page(_form("", problem=error.problem), error)


def _form(
    text: str,
    ticked: frozenset[str] | None = None,
    problem: Problem | None = None,
    recipe_problem: Problem | None = None,
    corpora: Sequence[str] = (),
    left_out: str = "",
    accepted: tuple[str, ...] = (),
) -> str:
    """Return the form; without ``ticked`` as many recipes are ticked as can be compared.

    ``corpora``: those that are chosen, unless the request names some. ``left_out`` and
    ``accepted``: as in ``CompareForm``.
    """
    here = runnable_here()
    recipes = tuple(
        recipe for recipe in services().recipes.values() if recipe.name not in here.problems
    )
    if ticked is None:
        ticked = frozenset(recipe.name for recipe in recipes[:MOST_RECIPES])
    return render(
        CompareForm(
            claim=text,
            problem=problem,
            offers_anyway=problem is not None and problem.code in CHECKED_ANYWAY,
            most_characters=LONGEST,
            most_checks=most_checks(),
            a_minute=services().limits.claims_a_minute,
            left_out=left_out,
            accepted=accepted,
            recipes=recipes,
            other_recipes=grouped(here.problems),
            recipe_problem=recipe_problem,
            usual=here.usual,
            ticked=ticked,
            most_recipes=MOST_RECIPES,
            corpora=corpora_to_choose(request.values.getlist("corpora") or corpora),
            asked=asked_model(worker_health(services().workers)),
        )
    )
