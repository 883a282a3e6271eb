"""The data of each page's template: one dataclass per page, in the ``contexts.py`` of its folder.

Here is what several of them share. A test checks that every template uses these fields and no
others. Templates read results and jobs as they are, through the filters of ``app.filters``; their
texts come unchanged from the corpus or from a user and may be hostile; Jinja escapes all of them.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Protocol

from flask import render_template

from retrieval.errors import Problem
from retrieval.recipes.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus. ``title``: what people call it.

    ``text_date``: the day of its newest text, "" if unknown.
    ``attribution``: texts of it are from Wikipedia, which must be named.
    """

    title: str
    documents: int
    text_date: str
    attribution: bool


@dataclass(frozen=True, slots=True)
class CorpusChoice:
    """A corpus that a claim can be checked against; ``name`` is what a form sends.

    ``holds``: what is searched in it, and how much, in words.
    """

    name: str
    title: str
    holds: str
    text_date: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class OtherRecipes:
    """Recipes that cannot run here, for the same reason."""

    names: tuple[str, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """The recipes that a form offers; ``others`` cannot run here.

    ``usual``: the name of the one that a claim without a recipe is checked by; ``chosen``: of the
    one that is selected. ``problem``: why the one that was asked for cannot run.
    """

    recipes: tuple[Recipe, ...]
    others: tuple[OtherRecipes, ...]
    usual: str
    chosen: str
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An error as a page."""

    template: ClassVar[str] = "error.html"
    status: int
    problem: Problem


class Page(Protocol):
    """A dataclass with the fields of a template."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    template: ClassVar[str]


def render(page: Page) -> str:
    """Return the page as HTML."""
    return render_template(
        page.template, **{field.name: getattr(page, field.name) for field in fields(page)}
    )
