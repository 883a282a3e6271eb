"""Comparing recipes: the form, the page that fills in as checks end, and what recipes do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import SHOWN_AGAIN, describe
from app.claims.forms import ABOUT_RECIPES, REFUSED
from app.claims.recipes import asked_model, listed_recipes, recipe_choice, recipe_to_run
from app.comparisons.comparison import MOST_RECIPES, Comparison
from app.comparisons.given import (
    CANNOT_COMPARE,
    NONE_KNOWN,
    ComparedIds,
    claims_of_list,
    compared_checks,
    comparison_to_change,
    given_claims,
    gold_of_list,
    most_checks,
)
from app.documents.corpus import corpora_to_choose, corpora_to_search
from app.filters import Badge
from app.http.errors import RequestRefused, refused_page
from app.http.query import asked_by_person, refuse_unless_form
from app.lists.input import list_name, uploaded_file
from app.people.asker import client
from app.people.sharing import seen_list
from app.people.visitor import may_change, visitor, visitor_with_cookie
from app.services import services
from retrieval.claim import CHECKED_ANYWAY, LONGEST
from retrieval.errors import EsotericError, Problem, RecipeUnavailable
from retrieval.types import LABELS
from retrieval.words import STATES
from worker.broker import BrokerUnavailable
from worker.comparison_store import ComparisonStore, Gold
from worker.database import StoreUnavailable
from worker.jobs import QueueFull
from worker.lists import ClaimList

blueprint = Blueprint("compare", __name__)

_LONGEST_NAME = 80  # characters
_COMPARISONS_SHOWN = 50
_LONGEST_IN_ADDRESS = 2000  # characters; each may take nine there, of about 30,000 that are read


class ComparisonSearch(ComparedIds):
    """Which checks to compare, or which claim the form has."""

    claim: str = ""
    """The claims in the form, one a line, where no ids are named."""
    list: str = ""
    """Id of a list whose claims the form has, where no ids are named."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are chosen in the form; left out: the default one."""
    like: str = ""
    """Id of a comparison whose claims, labels, recipes and name the form has."""


class ComparisonForm(Model):
    """Claims and the recipes that check each of them."""

    claim: str = ""
    """The claims, one a line, each at most 500 characters; used if there is no file."""
    file: Annotated[str, Field(json_schema_extra={"format": "binary"})] = ""
    """A .csv, .tsv, .xlsx, .jsonl, .json or .txt file of claims; its column gold or label has their
    right labels, kind their kinds, and evidence the sentences that the labels rest on."""
    list: str = ""
    """Id of the list that the claims are from, which has these columns."""
    like: str = ""
    """Id of the comparison that the claims are from, with their right labels and kinds."""
    name: str = ""
    """Name of the comparison; without it the first claim and how many follow."""
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
    asked = asked_by_person(ComparedIds)
    if not (asked.id or asked.claims.strip()):
        list_id = request.args.get("list", "").strip()
        if asked_like := request.args.get("like", "").strip():
            return _form_like(asked_like)
        return _form_of_list(list_id) if list_id else _form(request.args.get("claim", ""))
    comparison, jobs = compared_checks(asked)
    claims = comparison.text
    return render_template(
        "comparison.html",
        comparison=comparison,
        claims=claims if len(claims) <= _LONGEST_IN_ADDRESS else "",
        described=services().recipes,
        labels=LABELS,
        longest_name=_LONGEST_NAME,
        may_change=bool(comparison.id) and may_change(services().store.owner(jobs[0].id)),
    )


@blueprint.post("/compare")
@describe(
    form=ComparisonForm,
    HTTP_303=(None, "The comparison"),
    **SHOWN_AGAIN,
)
def submit() -> BaseResponse:
    """Submit each claim once with each recipe, and redirect to the comparison."""
    refuse_unless_form("From a program, send each claim with its recipe to /api/v1/claims.")
    text = request.form.get("claim", "")
    names = list(dict.fromkeys(request.form.getlist("recipe")))
    try:
        _refuse_wrong_number(len(names))
        recipes = [recipe_to_run(name) for name in names]
        corpora = corpora_to_search(request.form.getlist("corpora"))
        anyway = request.form.get("anyway") == "1"
        known: Mapping[str, Gold] = {}
        if of_list := request.form.get("list", ""):
            known = gold_of_list(seen_list(of_list))
        elif like := request.form.get("like", ""):
            earlier, _ = compared_checks(ComparedIds(id=like))
            known = {
                one.claim: Gold(one.gold, one.kind, one.gold_evidence) for one in earlier.claims
            }
        claims = given_claims(text, uploaded_file(), len(recipes), anyway, known)
        owner = visitor_with_cookie()
        queue = services().queue
        checks = [(*one, recipe) for one in claims.items() for recipe in recipes]
        queue.refuse_without_room(len(checks))
        services().limits.claim(len(checks))
        jobs: dict[str, Gold] = {}
        for claim, gold, recipe in checks:
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
                return _accepted_in_part(text, names, tuple(jobs), error)
            jobs[job.id] = gold
        comparison = _store().create(_name(next(iter(claims)), len(claims)), jobs)
    except REFUSED as error:
        return _refused(text, names, error)
    return _see(comparison)


def _accepted_in_part(
    text: str, names: list[str], accepted: tuple[str, ...], error: EsotericError
) -> Response:
    """Return the form with what was refused, why, and a link to what was accepted."""
    problem = services().paths.hidden_in_problem(error.problem)
    only = len(accepted) == 1
    first = "the first was" if only else f"the first {len(accepted)} were"
    said = f"Of these checks only {first} accepted."
    in_part = Problem("accepted_in_part", f"{said} {problem.message}", problem.hint)
    return refused_page(_form(text, frozenset(names), in_part, accepted=accepted), error)


_CHANGES: dict[str, Any] = {
    "HTTP_303": (None, "The comparison"),
    "HTTP_403": (None, "From another site, or somebody else's"),
    "HTTP_404": (None, "No such comparison"),
}


@blueprint.post("/compare/<comparison_id>/stop")
@describe(**_CHANGES)
def stop(comparison_id: str) -> BaseResponse:
    """Make none of the checks that have not ended, and redirect to the comparison."""
    comparison_to_change(comparison_id)
    _store().stop(comparison_id)
    return _see(comparison_id)


class ComparisonName(Model):
    """How a comparison is called."""

    name: str = ""
    """Its name; empty: the first claim and how many follow."""


@blueprint.post("/compare/<comparison_id>/rename")
@describe(form=ComparisonName, **_CHANGES)
def rename(comparison_id: str) -> BaseResponse:
    """Give a comparison another name, and redirect to it."""
    comparison = comparison_to_change(comparison_id)
    _store().rename(comparison_id, _name(comparison.claims[0].claim, comparison.texts))
    return _see(comparison_id)


@blueprint.post("/compare/<comparison_id>/delete")
@describe(**_CHANGES | {"HTTP_303": (None, "The comparisons")})
def delete(comparison_id: str) -> BaseResponse:
    """Delete a comparison, but not its checks, and redirect to the comparisons."""
    comparison_to_change(comparison_id)
    _store().delete(comparison_id)
    return redirect(url_for(".compare"), HTTPStatus.SEE_OTHER)


@blueprint.get("/recipes")
@describe(HTTP_200=(None, "The page"))
def recipes() -> str:
    """Show what each recipe does."""
    return render_template("recipes.html", recipes=listed_recipes().recipes)


def _store() -> ComparisonStore:
    return ComparisonStore(services().database)


def _see(comparison_id: str) -> BaseResponse:
    return redirect(url_for(".compare", id=comparison_id), HTTPStatus.SEE_OTHER)


def _name(first: str, claims: int) -> str:
    """Return the name in the form, or without one the first claim and how many follow."""
    name = " ".join(request.form.get("name", "").split())[:_LONGEST_NAME]
    return name or list_name(first, claims)


def _refuse_wrong_number(recipes: int) -> None:
    """Refuse too few and too many recipes.

    Raises:
        RecipeUnavailable: there are.
    """
    if recipes < 2:
        said = "Only one recipe is ticked." if recipes else "No recipe is ticked."
        raise RecipeUnavailable("too_few_recipes", said, "Tick at least two to compare them.")
    if recipes > MOST_RECIPES:
        raise RecipeUnavailable(
            "too_many_recipes",
            f"{recipes} recipes are ticked; at most {MOST_RECIPES} fit side by side.",
            "Untick some of them.",
        )


def _refused(text: str, names: list[str], error: EsotericError) -> Response:
    problem, about_recipe = error.problem, isinstance(error, ABOUT_RECIPES)
    said = (None, problem) if about_recipe else (problem, None)
    return refused_page(_form(text, frozenset(names), *said), error)


def _form_like(comparison_id: str) -> str:
    """Return the form with what another comparison was made of."""
    found, _ = compared_checks(ComparedIds(id=comparison_id))
    corpora = found.claims[0].corpora if found.corpora == 1 else ()
    return _form(found.text, frozenset(found.recipes), corpora=corpora, like=found)


def _form_of_list(list_id: str) -> str | Response:
    """Return the form with the claims of a list, and the corpora that it was checked against."""
    found = seen_list(list_id)
    try:
        claims, left_out = claims_of_list(found)
        return _form(claims, corpora=found.corpora or (), left_out=left_out, of_list=found)
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
    of_list: ClaimList | None = None,
    like: Comparison | None = None,
) -> str:
    """Return the form with the claims of ``text``, one a line.

    ``of_list`` and ``like``: where they are from, with their right labels.

    ``ticked``: the recipes that are; without them the first two. ``corpora``: those
    that are chosen, unless the request names some. ``left_out``: what of a list is left out, "" if
    nothing. ``accepted``: the ids of checks that were accepted where others were refused.
    """
    choice = recipe_choice(None, recipe_problem)
    first = [recipe.name for recipe in choice.recipes[:2]]
    return render_template(
        "compare.html",
        claim=text,
        problem=problem,
        offers_anyway=problem is not None and problem.code in CHECKED_ANYWAY,
        most_characters=LONGEST,
        most_checks=most_checks(),
        a_minute=services().limits.claims_a_minute,
        left_out=left_out,
        accepted=accepted,
        choice=choice,
        ticked=first if ticked is None else ticked,
        most_recipes=MOST_RECIPES,
        longest_name=_LONGEST_NAME,
        corpora=corpora_to_choose(request.values.getlist("corpora") or corpora),
        asked=asked_model(),
        of_list=of_list.id if of_list else request.form.get("list", ""),
        like=like.id if like else request.form.get("like", ""),
        name=source.name if (source := of_list or like) else request.form.get("name", ""),
        comparisons=_store().recent(owner, _COMPARISONS_SHOWN) if (owner := visitor()) else (),
        being_checked=Badge("pending", STATES["running"]),
    )
