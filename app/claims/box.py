"""The box of the first page: what was entered, and what will be done with it, before it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from flask import Blueprint, Response, render_template, request

from app.api.models import Submission
from app.api.openapi import describe
from app.claims.recipes import recipe_to_run
from app.people.visitor import viewer
from app.services import services
from app.texts.given_text import LINKS_ARE_NOT_OPENED, opens
from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.claim_lists.files import ListFile, is_heading, is_table, read_claims
from retrieval.errors import BadSource, InvalidClaim, Problem, RecipeUnavailable, UnknownRecipe
from retrieval.text.notices import is_name_alone, plain_statement, sentences_in
from worker.jobs import ListedJob
from worker.lists import MOST_CLAIMS

blueprint = Blueprint("box", __name__)

# What may be said while somebody still types; other problems are those of a claim half typed.
_SAID_AT_ONCE = CHECKED_ANYWAY | {"claim_too_long", "claim_unreadable"}
_LONG = 40  # characters; a claim may be shorter
_ENDS = (".", "!", "?", ":", ";", '."', ".)")


@dataclass(frozen=True, slots=True)
class Entered:
    """``rows``: the claim, the claims of the list, or the sentences of the text.

    ``table``: it is a list whose first line names its columns; the claims are in one of them.
    """

    kind: Literal["claim", "list", "text"]
    rows: tuple[str, ...]
    table: bool = False


@dataclass(frozen=True, slots=True)
class BoxAnswer:
    """What will be done with the ``text`` in the box.

    ``rows``: the lines of a list, or the sentences of a text; a ``page`` is the address of one.
    ``statement``: what a question is turned into. ``problem``: why it would not be checked; if it
    was sent, the kind is ``refused``. ``offers_anyway``: it can be checked in spite of the problem.
    ``offers_one``: a text is short enough to be checked as one claim. ``table``: the list has
    columns. ``seen``: the newest check of this claim by this recipe.
    """

    kind: Literal["claim", "question", "list", "text", "page", "refused"]
    text: str
    rows: int = 1
    statement: str = ""
    problem: Problem | None = None
    offers_anyway: bool = False
    offers_one: bool = False
    table: bool = False
    seen: ListedJob | None = None


@blueprint.post("/box")
@describe(form=Submission, HTTP_200=(None, "What will be done, as a piece of the page"))
def says() -> Response:
    """Say what would be done with what stands in the box; nothing is kept."""
    text = request.form.get("claim", "")
    answer = box_answer(text, request.form.get("recipe"))
    return Response(render_template("box.html", box=answer), mimetype="text/html")


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
        return BoxAnswer("text", text, rows, offers_one=len(" ".join(found.rows)) <= LONGEST)
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


def _seen(claim: str, asked: str | None) -> ListedJob | None:
    try:
        recipe = recipe_to_run(asked)
    except (RecipeUnavailable, UnknownRecipe):
        return None  # the form says it when the claim is sent
    return services().store.checked_before(claim, recipe, viewer())


def entered(text: str) -> Entered:
    """Return what the text is: two lines make a list, two sentences in a line a text.

    Lines that go on in the next one are those of one paragraph: a mail or a PDF breaks them so.
    A first line that only names what follows ("Claim") is left out.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if is_table(text):
        return Entered("list", _rows_of_table(text) or tuple(lines[1:]), table=True)
    if len(lines) > 1 and is_heading(lines[0]):
        lines = lines[1:]
    paragraphs = [" ".join(lines)] if _is_broken(lines) else lines
    sentences = tuple(one for paragraph in paragraphs for one in sentences_in(paragraph))
    if len(sentences) > len(paragraphs):
        return Entered("text", sentences)
    if len(paragraphs) > 1:
        return Entered("list", tuple(paragraphs))
    return Entered("claim", tuple(paragraphs))


def _rows_of_table(text: str) -> tuple[str, ...]:
    """Return the claims of a table; none if it cannot be read, which is said when it is sent."""
    try:
        rows = read_claims(ListFile("pasted.txt", text.encode("utf-8", "replace")))
    except BadSource:
        return ()
    return tuple(row.claim for row in rows)


def _is_broken(lines: list[str]) -> bool:
    """Return whether these lines are one paragraph.

    It begins with a capital, its lines are long, and most later ones go on with a small letter;
    a list that was typed in haste has small letters too, but short lines.
    """
    if len(lines) < 2 or lines[0][0].islower() or min(map(len, lines[:-1])) < _LONG:
        return False
    continued = sum(
        line[0].islower() and not before.endswith(_ENDS) for before, line in pairwise(lines)
    )
    return 2 * continued > len(lines) - 1
