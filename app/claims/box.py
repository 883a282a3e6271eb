"""The box of the first page: says what it will do with what stands in it, before that is sent."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.api.models import Submission
from app.api.openapi import describe
from app.claims.contexts import BoxAnswer, BoxFragment, SeenClaim
from app.claims.entered import entered
from app.claims.recipes import recipe_to_run
from app.contexts import render
from app.filters import job_badge
from app.people.visitor import viewer
from app.services import services
from app.texts.text_or_page import LINKS_ARE_NOT_OPENED, opens
from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.errors import InvalidClaim, Problem, RecipeUnavailable, UnknownRecipe
from retrieval.text.notices import is_name_alone
from retrieval.text.plain_questions import plain_statement
from worker.lists import MOST_CLAIMS

blueprint = Blueprint("box", __name__)

# What may be said while somebody still types; other problems are those of a claim half typed.
_SAID_AT_ONCE = CHECKED_ANYWAY | {"claim_too_long", "claim_unreadable"}


@blueprint.post("/box")
@describe(form=Submission, HTTP_200=(None, "What will be done, as a piece of the page"))
def says() -> Response:
    """Say what would be done with what stands in the box; nothing is kept."""
    text = request.form.get("claim", "")
    answer = box_answer(text, request.form.get("recipe"))
    return Response(render(BoxFragment(answer)), mimetype="text/html")


def box_answer(text: str, recipe: str | None) -> BoxAnswer:
    """Return what will be done with a text; ``recipe``: the one that was chosen.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    if opens(text):
        return BoxAnswer("page", text)
    found = entered(text)
    rows = len(found.rows)
    if found.kind == "list":
        too_many = _too_many(rows) if rows > MOST_CLAIMS else None
        return BoxAnswer("list", text, rows, problem=too_many, table=found.table)
    if found.kind == "text":
        return BoxAnswer(
            "text",
            text,
            rows,
            offers_one=len(" ".join(found.rows)) <= LONGEST,
        )
    try:
        read = read_claim(found.rows[0] if found.rows else text)
    except InvalidClaim as error:
        if error.code not in _SAID_AT_ONCE:
            return BoxAnswer("claim", text)
        anyway = error.code in CHECKED_ANYWAY
        return BoxAnswer("claim", text, problem=_said_of(error.problem), offers_anyway=anyway)
    statement = plain_statement(read.original)
    if statement is not None:
        seen = _seen(statement, recipe)
        return BoxAnswer("question", text, statement=statement, seen=seen)
    name = _name_alone(read.original) if is_name_alone(read.original) else None
    return BoxAnswer("claim", text, problem=name, seen=_seen(read.original, recipe))


def refused(text: str, problem: Problem) -> BoxAnswer:
    """Return that a text is not checked, and why."""
    anyway = problem.code in CHECKED_ANYWAY
    return BoxAnswer("refused", text, problem=_said_of(problem), offers_anyway=anyway)


def _said_of(problem: Problem) -> Problem:
    """Return what is wrong; of a link also that it could be opened."""
    off = problem.code == "claim_link" and services().pages is None
    return LINKS_ARE_NOT_OPENED if off else problem


def _name_alone(name: str) -> Problem:
    return Problem(
        "claim_name",
        "A name alone states nothing that can be checked.",
        f"Say something about it, such as “{name} was …”",
    )


def _too_many(rows: int) -> Problem:
    return Problem(
        "too_many_claims",
        f"A list has at most {MOST_CLAIMS:,} claims, and this has {rows:,}.",
        "Divide it.",
    )


def _seen(claim: str, asked: str | None) -> SeenClaim | None:
    """Return the newest verdict on this claim by this recipe."""
    try:
        recipe = recipe_to_run(asked)
    except (RecipeUnavailable, UnknownRecipe):
        return None  # the form says it when the claim is sent
    job = services().store.checked_before(claim, recipe, viewer())
    return None if job is None else SeenClaim(job.id, job_badge(job), job.created_at)
