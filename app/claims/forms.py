"""What the forms for claims, lists, texts and comparisons share: choices, and what is refused."""

from __future__ import annotations

from typing import Any

from flask import request

from app.claims.recipes import asked_model, recipe_choice
from app.documents.corpus import corpora_to_choose
from app.http.errors import RequestRefused
from retrieval.checkable.reader import TextsBusy
from retrieval.errors import (
    BadSource,
    EsotericError,
    InvalidClaim,
    InvalidText,
    RecipeUnavailable,
    UnknownRecipe,
)
from worker.corpora.errors import CorpusNotReady, CorpusRefused, UnknownCorpus
from worker.jobs import QueueFull

ABOUT_RECIPES = (RecipeUnavailable, UnknownRecipe)
# What a form shows again, with what is wrong and all that was typed.
REFUSED = (
    *(InvalidClaim, InvalidText, BadSource, TextsBusy, QueueFull, RequestRefused),
    *(UnknownCorpus, CorpusNotReady, CorpusRefused, *ABOUT_RECIPES),
)


def choices_of_form(error: EsotericError | None) -> dict[str, Any]:
    """Return what the page of a form that was sent shows: its choices again, and what is wrong.

    ``error``: why it was refused, if it was; what is wrong with its recipe is said beside that.
    """
    problem = error.problem if error else None
    about_recipe = problem if isinstance(error, ABOUT_RECIPES) else None
    return {
        "problem": None if about_recipe else problem,
        "choice": recipe_choice(request.form.get("recipe"), about_recipe),
        "corpora": corpora_to_choose(request.form.getlist("corpora")),
        "asked": asked_model(),
    }
