"""The home page with its form, what is done with a claim, and the history."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.api.models import Model
from app.api.openapi import SHOWN_AGAIN, describe
from app.claims.box import BoxAnswer, box_answer, entered, refused
from app.claims.claim_page import claim_page, doubtful, known_job, more_hops
from app.claims.forms import ABOUT_RECIPES, REFUSED
from app.claims.history import HistorySearch, history_page
from app.claims.recipes import asked_model, recipe_choice, recipe_to_run
from app.documents.corpus import (
    Corpus,
    corpora_to_choose,
    corpora_to_search,
    corpus_item,
    searched_corpus,
)
from app.http.errors import refusal, refused_page
from app.http.query import refuse_unless_form
from app.lists.pages import submitted_list
from app.people.asker import client
from app.people.visitor import refuse_others, viewer, visitor_with_cookie
from app.services import services
from app.texts.given_text import opens
from retrieval.claim import LONGEST
from retrieval.claim_lists.files import ListFile
from retrieval.errors import IndexUnavailable, Problem
from retrieval.llm_judge.ollama import found_lately
from retrieval.recipes.recipes import DEFAULT_RECIPE, base_and_more_hops
from retrieval.text.notices import plain_statement
from retrieval.words import VITAL
from worker.jobs import ListedJob, Origin, SaidBy
from worker.reports import AskedModel

blueprint = Blueprint("pages", __name__)

# Claims to try in Wikipedia's introductions; what comes out is for the reader to find.
EXAMPLES = (
    "Bananas are berries.",
    "Titanic sank on 12 May 1912.",
    "The author of Frankenstein was an English novelist.",
    "Coffee was first grown in Brazil.",
)
RECENT_CLAIMS = 3
_RECENT_CHECKS = 15  # of one claim up to five, in a comparison


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
    speaker: str = ""
    """Who said it."""
    appearance: str = ""
    """Where it was said, or the address of that."""
    said_on: str = ""
    """When it was said."""


class SearchOn(Model):
    """How a claim is checked again."""

    corpora: tuple[str, ...] = ()
    """Names of the corpora to search now; left out: the same, with more hops."""


@blueprint.get("/")
@describe(query=Filled, HTTP_200=(None, "The form and recent claims"))
def home() -> str:
    """Show the form, filled with ``q``."""
    recipe = request.args.get("recipe")
    return _home(box_answer(request.args.get("q", ""), recipe), asked=recipe)


@blueprint.post("/claims")
@describe(
    form=SubmissionForm,
    HTTP_303=(None, "The page of the claim, or of the list"),
    **SHOWN_AGAIN
    | {"HTTP_422": (None, "The form again, with what is wrong, or what can be done with a text")},
)
def submit() -> BaseResponse:
    """Submit a claim, or several lines as a list, and redirect to its page.

    What cannot be checked is shown in the form again, and so is a text, with what can be done.
    """
    refuse_unless_form("From a program, send JSON to /api/v1/claims.")
    text = request.form.get("claim", "")
    asked, chosen = request.form.get("recipe"), request.form.get("as", "")
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
        edited = known_job(request.form.get("edited_from"))
        said = SaidBy.of(*map(request.form.get, ("speaker", "appearance", "said_on")))
        origin = Origin(edited_from=edited.id if edited else None, said=said)
        job = services().queue.submit(
            *(claim, recipe, anyway, visitor_with_cookie(), origin, corpora),
            client=client(),
            typed=True,
        )
    except ABOUT_RECIPES as error:
        return refused_page(_home(box_answer(text, None), recipe_problem=error.problem), error)
    except REFUSED as error:
        return refused_page(_home(refused(text, error.problem), asked=asked), error)
    return _see_claim(job.id)


@blueprint.get("/claims/<job_id>")
@describe(query=Follow, HTTP_200=(None, "The page"), HTTP_404=(None, "No such claim"))
def claim(job_id: str) -> str:
    """Show the progress of a claim, or its result once there is one."""
    return claim_page(services().job(job_id))


@blueprint.get("/claims/<job_id>/picture.png")
@describe(
    HTTP_200=(None, "The picture (image/png)"),
    HTTP_404=(None, "No such claim, or it has no result"),
)
def picture(job_id: str) -> Response:
    """Draw the answer to a claim, its verdict and its source, for pages that link to it."""
    from app.result.printed import picture as drawn  # here, as few ask for it

    job = services().job(job_id)
    if job.result is None:
        raise refusal(HTTPStatus.NOT_FOUND, "no_picture", "This claim has no result.", "Wait.")
    return Response(drawn(job.result), mimetype="image/png")


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


@blueprint.post("/claims/<job_id>/search-on")
@describe(
    form=SearchOn,
    HTTP_303=(None, "The page of the new check"),
    HTTP_403=(None, "From another site"),
    HTTP_404=(None, "No such claim"),
    HTTP_409=(None, "Its recipe cannot search further"),
    HTTP_422=(None, "Its recipe cannot run here"),
)
def search_on(job_id: str) -> BaseResponse:
    """Check the claim again: in other corpora, or with more hops, which read more sentences."""
    job = services().store.get(job_id)
    elsewhere = request.form.getlist("corpora")
    base, hops = base_and_more_hops(job.recipe)[0], more_hops(job.recipe)
    if not hops and not elsewhere:
        raise refusal(
            HTTPStatus.CONFLICT,
            "no_more_hops",
            f"The search of the recipe {job.recipe} cannot go on.",
            "Check the claim with another recipe.",
        )
    recipe = recipe_to_run(base if elsewhere else f"{base}+{hops}")
    corpora = corpora_to_search(elsewhere or job.corpora or ())
    # What was accepted once is not refused now.
    services().limits.claim()
    new = services().queue.submit(
        job.claim,
        recipe,
        anyway=True,
        owner=visitor_with_cookie(),
        client=client(),
        typed=True,
        origin=Origin(
            continued_from=job.id, said=SaidBy.of(job.speaker, job.appearance, job.said_on)
        ),
        corpora=corpora,
    )
    return _see_claim(new.id)


@blueprint.get("/claims")
@describe(query=HistorySearch, HTTP_200=(None, "The page"))
def history() -> str:
    """Show the claims so far, newest first."""
    return history_page()


@blueprint.get("/history")
@describe(HTTP_303=(None, "The history"))
def to_history() -> BaseResponse:
    """Redirect to the history from the address that its name suggests."""
    return redirect(url_for(".history"), HTTPStatus.SEE_OTHER)


@blueprint.get("/help")
@describe(HTTP_200=(None, "The page"))
def help_page() -> str:
    """Say in one screen how to use the pages, and what their words mean."""
    return render_template("help.html", opens_links=services().pages is not None)


def _home(box: BoxAnswer, recipe_problem: Problem | None = None, asked: str | None = None) -> str:
    """Return the page with the form; ``asked`` is the recipe that was chosen there."""
    corpus: Corpus | None = None
    corpus_problem: Problem | None = None
    try:
        corpus = corpus_item(searched_corpus())
    except IndexUnavailable as error:
        corpus_problem = services().paths.hidden_in_problem(error.problem)
    choice, model = recipe_choice(asked, recipe_problem), asked_model()
    introductions = corpus is not None and corpus.title == VITAL
    editing = known_job(request.values.get("edited_from"))
    chosen_corpora = request.values.getlist("corpora") or (editing and editing.corpora) or ()
    alone = model is None and services().settings.access is None
    return render_template(
        "home.html",
        box=box,
        most_characters=LONGEST,
        examples=EXAMPLES if introductions else (),
        measured=introductions and choice.usual == DEFAULT_RECIPE and _as_shipped(model),
        recent=_recent_claims(),
        corpus=corpus,
        corpus_problem=corpus_problem,
        corpora=corpora_to_choose(chosen_corpora),
        choice=choice,
        asked=model,
        ollama=found_lately() if alone else None,
        editing=editing,
        doubtful=doubtful(editing.result) if editing and editing.result else "",
        opens_links=services().pages is not None,
    )


def _recent_claims() -> list[ListedJob]:
    """Return the newest claims; one that several recipes have just checked is there once."""
    newest: dict[str, ListedJob] = {}
    for job in services().store.recent(_RECENT_CHECKS, seen_by=viewer()):
        newest.setdefault(job.claim.casefold(), job)
    return list(newest.values())[:RECENT_CLAIMS]


def _as_shipped(asked: AskedModel | None) -> bool:
    """Return whether verdicts are those of the shipped models, as they were measured."""
    folders = services().settings.model_folders
    own = folders.verifier, folders.encoder, folders.reranker
    return not any(own) and not (asked and asked.decides)


def _see_claim(job_id: str) -> BaseResponse:
    return redirect(url_for(".claim", job_id=job_id), HTTPStatus.SEE_OTHER)
