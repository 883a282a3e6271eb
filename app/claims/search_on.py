"""Searching on: a new check of the same claim that reads more, linked to the first."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, redirect, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.openapi import describe
from app.claims.actions import more_hops
from app.claims.recipes import recipe_to_run
from app.documents.corpus_choice import corpora_to_search
from app.http.errors import RequestRefused
from app.people.asker import client
from app.people.visitor import visitor_with_cookie
from app.services import services
from retrieval.errors import Problem
from retrieval.recipes.recipes import base_and_more_hops
from worker.jobs import Origin

blueprint = Blueprint("search_on", __name__)


@blueprint.post("/claims/<job_id>/search-on")
@describe(
    HTTP_303=(None, "The page of the new check"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "No such claim"),
    HTTP_409=(None, "Its recipe cannot search on, or not any further"),
    HTTP_422=(None, "Its recipe cannot run here"),
)
def search_on(job_id: str) -> BaseResponse:
    """Check the claim again with more hops, which read more sentences."""
    job = services().store.get(job_id)
    hops = more_hops(job.recipe)
    if not hops:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            Problem(
                "no_more_hops",
                f"The search of the recipe {job.recipe} cannot go on.",
                "Check the claim with another recipe.",
            ),
        )
    recipe = recipe_to_run(f"{base_and_more_hops(job.recipe)[0]}+{hops}")
    # What was accepted once is not refused now.
    services().limits.claim()
    new = services().queue.submit(
        job.claim,
        recipe,
        anyway=True,
        owner=visitor_with_cookie(),
        client=client(),
        typed=True,
        origin=Origin(continued_from=job.id),
        corpora=corpora_to_search(job.corpora or ()),
    )
    return redirect(url_for("pages.claim", job_id=new.id), HTTPStatus.SEE_OTHER)
