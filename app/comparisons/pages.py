"""Comparing recipes: the form, the page that fills in as checks end, and what recipes do."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Literal

from flask import Blueprint, Response, redirect, request, url_for
from pydantic import Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import describe
from app.claims.asked_model import asked_model
from app.claims.recipes import grouped, listed_recipes, recipe_to_run, runnable_here
from app.comparisons.comparison import MOST_RECIPES
from app.comparisons.contexts import CompareForm, ComparisonPage, RecipesPage
from app.comparisons.given_claims import claims_of_list, given_claims, most_checks
from app.comparisons.named_checks import CANNOT_COMPARE, NONE_KNOWN, ComparedIds, compared_checks
from app.contexts import render
from app.documents.corpus_choice import corpora_to_choose, corpora_to_search
from app.http.errors import RequestRefused, refused_page
from app.http.forms import refuse_unless_form
from app.lists.input import uploaded_file
from app.people.asker import client
from app.people.sharing import seen_list
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


class ComparisonSearch(ComparedIds):
    """Which checks to compare, or which claim the form has."""

    claim: str = ""
    """The claims in the form, one a line, where no ids are named."""
    list: str = ""
    """Id of a list whose claims the form has, where no ids are named."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are chosen in the form; left out: the default one."""


class ComparisonForm(Model):
    """Claims and the recipes that check each of them."""

    claim: str = ""
    """The claims, one a line, each at most 500 characters; used if there is no file."""
    file: Annotated[str, Field(json_schema_extra={"format": "binary"})] = ""
    """A .csv, .tsv, .xlsx, .jsonl, .json or .txt file of claims."""
    recipe: tuple[str, ...]
    """Names of two to five recipes that can run here."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are searched; left out: the default one."""
    anyway: Literal["1"] | None = None
    """1: as in the API."""


@blueprint.get("/compare")
@describe(
    query=ComparisonSearch,
    HTTP_200=(None, "The comparison, or the form where no ids are named"),
    HTTP_400=(None, CANNOT_COMPARE),
    HTTP_404=(None, NONE_KNOWN),
    HTTP_422=(None, "The form, where the named list has too many claims"),
)
def compare() -> str | Response:
    """Show checks side by side, or the form."""
    ids = request.args.get("claims", "")
    if not ids.strip():
        list_id = request.args.get("list", "").strip()
        return _form_of_list(list_id) if list_id else _form(request.args.get("claim", ""))
    comparison, _ = compared_checks(ids)
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
    found = seen_list(list_id)
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
