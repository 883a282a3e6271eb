"""The checks whose ids an address names, side by side: for the page and for the API."""

from __future__ import annotations

from http import HTTPStatus

from app.api.models import Model
from app.comparisons.comparison import MOST_RECIPES, Comparison, compared
from app.comparisons.given_claims import MOST_CHECKS
from app.http.errors import RequestRefused
from app.people.visitor import viewer
from app.services import services
from retrieval.errors import Problem
from worker.jobs import Job

# What the description of a route says of those that are refused.
CANNOT_COMPARE = "No ids, more than 200, or more than five recipes"
NONE_KNOWN = "None of these checks exists"


class ComparedIds(Model):
    """Which checks to compare."""

    claims: str = ""
    """Their ids, with commas between them."""


def compared_checks(ids: str) -> tuple[Comparison, list[Job]]:
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
    jobs = services().store.jobs([one for one in asked if one.isalnum()], viewer())
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
