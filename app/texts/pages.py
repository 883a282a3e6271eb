"""The page of a text: its sentences, those that can be checked, and the list that they become.

The text is pasted, or that of a web page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, cast

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.openapi import SHOWN_AGAIN, describe
from app.claims.forms import REFUSED, choices_of_form
from app.claims.recipes import recipe_to_run
from app.documents.corpus import corpora_to_search
from app.http.errors import RequestRefused, refused_page
from app.http.query import refuse_unless_form
from app.lists.input import list_name, stored_list
from app.people.visitor import visitor_with_cookie
from app.services import services
from app.texts.given_text import GivenText, given_text, is_signed, signature
from retrieval.checkable.given_text import (
    LONGEST_TEXT,
    Kind,
    Replaced,
    TextClaim,
    TextSentence,
    is_list,
    read_text,
)
from retrieval.checkable.reader import TextsBusy
from retrieval.claim import LONGEST, read_claim
from retrieval.errors import EsotericError, InvalidClaim, InvalidText
from worker.lists import MOST_CLAIMS, NewEntry, SourcePage

blueprint = Blueprint("texts", __name__)

_NAMED: dict[Kind, str] = {
    "fact": "",
    "opinion": "Opinion",
    "question": "Question",
    "forecast": "Plan or forecast",
    "instruction": "Call or greeting",
    "quotation": "Quotation",
    "vague": "Too vague",
    "fragment": "Not a sentence",
    "foreign": "Not English",
}
# Kinds of sentences whose claims are offered: a document may say what is planned.
_OFFERED = frozenset({"fact", "forecast"})
_LONGEST_NAME = 80  # characters
_API = "From a program, send JSON to /api/v1/texts."
_SAID = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_NUMBER = re.compile(r"claim-([1-9][0-9]{0,4})")
_LINE = 56  # characters of a claim that its field shows on a line, about


class TextForm(BaseModel):
    """A text."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    """The text, in English; or the address of a web page alone, where links are opened."""
    page_title: str = ""
    """Title of the page that the text was read from."""
    page_address: str = ""
    """Address of that page."""
    page_signature: str = ""
    """That the text was read from that page, as the form of its sentences has it."""
    recipe: str | None = None
    """Name of the recipe that is chosen beforehand; left out: the default one."""
    corpora: tuple[str, ...] = ()
    """Names of the corpora that are chosen beforehand; left out: the default one."""


class ChosenForm(TextForm):
    """A text, and which of its claims are checked; claims are numbered from 1."""

    take: list[int]
    """The numbers of the claims."""
    claim: dict[int, str]
    """Each claim as it is to be checked, in the field `claim-NUMBER`."""
    said: dict[int, str]
    """The characters of the text that say it, `START-END`, in the field `said-NUMBER`."""
    kind: dict[int, str]
    """What its sentence is if it is no fact, in the field `kind-NUMBER`."""


@dataclass(frozen=True, slots=True)
class TextClaimItem:
    """A claim of a sentence: its number on the page, and whether it is ticked.

    ``rows``: lines of its field. ``unclear``: what a reader must find out first, as questions.
    """

    number: int
    text: str
    rows: int
    taken: bool
    replaced: tuple[Replaced, ...]
    unclear: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceItem:
    """A sentence of a text.

    ``named``: what its ``kind`` is called where it states no fact, else "". ``offered``: its claims
    can be edited. ``as_said``: its only claim has its words.
    """

    said: str
    start: int
    end: int
    kind: str
    named: str
    offered: bool
    claims: tuple[TextClaimItem, ...]
    as_said: bool


@blueprint.get("/texts")
@describe(HTTP_200=(None, "The form for a text"))
def form() -> str:
    """Show the form for a text."""
    return _page(GivenText(""))


@blueprint.post("/texts")
@describe(
    form=TextForm,
    HTTP_200=(None, "The sentences of the text"),
    HTTP_415=(None, "Not a form"),
    HTTP_422=(None, "The form again, with what is wrong with the text or the page"),
    HTTP_429=(None, "The form again: too many texts; Retry-After is when to come back"),
    HTTP_503=(None, "The form again: others are read now; Retry-After is when to come back"),
)
def read() -> Response:
    """Show the sentences of a text, or of a web page; those that can be checked are chosen."""
    refuse_unless_form(_API)
    # The box of the first page sends what stands in it as "claim", with a "text" from before.
    typed = request.form.get("claim", request.form.get("text", ""))
    try:
        given = given_text(typed)
        if given.page is None:
            given = GivenText(given.text, _page_of_form(given.text))
        sentences = services().texts.statements_of(given.text)
        return Response(_page(given, sentences), mimetype="text/html")
    except REFUSED as error:
        return _again(typed, error)


@blueprint.post("/texts/claims")
@describe(
    form=ChosenForm,
    HTTP_303=(None, "The list's page"),
    **SHOWN_AGAIN,
    HTTP_503=(None, "The form again, as it was chosen; Retry-After is when to come back"),
)
def check() -> BaseResponse:
    """Make a list of the chosen claims and redirect to its page."""
    refuse_unless_form(_API)
    typed = request.form.get("text", "")
    try:
        text = read_text(typed)
        page = _page_of_form(text)
    except InvalidText as error:
        return _again(typed, error)
    try:
        entries = tuple(_chosen(text))
        name = page.title[:_LONGEST_NAME] if page else list_name(entries[0].claim, len(entries))
        recipe = recipe_to_run(request.form.get("recipe"))
        corpora = corpora_to_search(request.form.getlist("corpora"))
        owner = visitor_with_cookie()
        list_id = stored_list(name, recipe, entries, owner, corpora, source_text=text, page=page)
    except REFUSED as error:
        return _kept(GivenText(text, page), error)
    return redirect(url_for("lists.claims", list_id=list_id), HTTPStatus.SEE_OTHER)


def _chosen(text: str) -> Iterator[NewEntry]:
    """Yield the claims that are ticked in the form, in their order.

    Raises:
        InvalidText: there is none, there are too many, or the form is not that of this text.
    """
    taken = list(dict.fromkeys(request.form.getlist("take")))
    if not taken:
        raise InvalidText("nothing_chosen", "No claim is ticked.", "Tick at least one claim.")
    if len(taken) > MOST_CLAIMS:
        ticked = f"{len(taken):,} claims are ticked; a list may have {MOST_CLAIMS:,}."
        raise InvalidText("many_claims", ticked, "Tick fewer, and check the others afterwards.")
    for number in taken:
        claim, said = request.form.get(f"claim-{number}"), request.form.get(f"said-{number}")
        found = _SAID.fullmatch(said or "")
        start, end = (int(found[1]), int(found[2])) if found else (0, 0)
        if claim is None or not start < end <= len(text):
            raise InvalidText(
                "not_of_this_text",
                "A claim of this form is not of this text.",
                "Read the text again, and choose its claims.",
            )
        place = f"Characters {start + 1} to {end} of the text"
        try:
            yield NewEntry(place, read_claim(claim).original, {}, None, (start, end))
        except InvalidClaim as error:
            yield NewEntry(place, claim[:LONGEST], {}, error.problem, (start, end))


def _page_of_form(text: str) -> SourcePage | None:
    """Return the page that the text was read from here, as the form names it; else ``None``."""
    if services().pages is None:
        return None
    form = request.form
    page = SourcePage(form.get("page_title", ""), form.get("page_address", ""))
    return page if is_signed(text, page, form.get("page_signature", "")) else None


def _again(typed: str, error: EsotericError) -> Response:
    return refused_page(_page(GivenText(typed), (), error), error)


def _kept(given: GivenText, error: EsotericError) -> Response:
    """Return the sentences again with what is wrong, and all that was chosen.

    While other texts are read they are those of the form, without what is noted about them.
    """
    try:
        sentences, busy = services().texts.statements_of(given.text), None
    except TextsBusy as waits:
        sentences, busy = _sentences_of_form(given.text), waits
    page = _page(given, sentences, error, busy)
    return refused_page(page, error if busy is None or isinstance(error, RequestRefused) else busy)


def _sentences_of_form(text: str) -> tuple[TextSentence, ...]:
    numbers = sorted(int(one[1]) for name in request.form if (one := _NUMBER.fullmatch(name)))
    claims = [
        (start, end, request.form.get(f"kind-{number}", "fact"), request.form[f"claim-{number}"])
        for number in numbers
        if (said := _SAID.fullmatch(request.form.get(f"said-{number}", "")))
        and (start := int(said[1])) < (end := int(said[2])) <= len(text)
    ]
    return tuple(
        TextSentence(
            start,
            end,
            cast(Kind, kind if kind in _NAMED else "fact"),
            tuple(TextClaim(claim, (), ()) for *_, claim in group),
        )
        for (start, end, kind), group in groupby(claims, key=lambda one: one[:3])
    )


def _page(
    given: GivenText,
    sentences: tuple[TextSentence, ...] = (),
    error: EsotericError | None = None,
    busy: TextsBusy | None = None,
) -> str:
    """Return the page. After an error in the choice of claims it has what was chosen."""
    text = given.text
    items = tuple(_items(text, sentences, chosen=error is not None))
    facts = [item for item in items if not item.named]
    return render_template(
        "text.html",
        **choices_of_form(error),
        text=text,
        page=given.page,
        page_signature=signature(text, given.page) if given.page else "",
        whole=given.whole,
        opens_links=services().pages is not None,
        busy=busy.problem if busy else None,
        most_characters=LONGEST_TEXT,
        sentences=items,
        checkable=len(facts),
        plans=sum(item.kind == "forecast" for item in items),
        claims=sum(len(item.claims) for item in facts),
        unclear_claims=sum(bool(claim.unclear) for item in facts for claim in item.claims),
        chosen_claims=sum(claim.taken for item in items for claim in item.claims),
        may_be_list=bool(sentences) and is_list(text),
    )


def _items(
    text: str, sentences: tuple[TextSentence, ...], *, chosen: bool
) -> Iterator[SentenceItem]:
    """Yield the sentences; if some were ``chosen``, as the form of this request has them."""
    taken = set(request.form.getlist("take"))
    number = 0
    for sentence in sentences:
        said = " ".join(text[sentence.start : sentence.end].split())
        claims, offered = [], sentence.kind in _OFFERED
        for claim in sentence.claims:
            number += 1
            ready = sentence.checkable and not claim.unclear
            written = request.form.get(f"claim-{number}", claim.text) if chosen else claim.text
            claims.append(
                TextClaimItem(
                    number=number,
                    text=written,
                    rows=-(-len(written) // _LINE) or 1,
                    taken=str(number) in taken if chosen else ready,
                    replaced=claim.replaced,
                    unclear=tuple(map(_asked_for, claim.unclear if offered else ())),
                )
            )
        words = said.rstrip(".")
        yield SentenceItem(
            said=said,
            start=sentence.start,
            end=sentence.end,
            kind=sentence.kind,
            named=_NAMED[sentence.kind],
            offered=offered,
            claims=tuple(claims),
            as_said=[claim.text.rstrip(".") for claim in sentence.claims] == [words],
        )


def _asked_for(words: str) -> str:
    """Return the question that a reader must answer: who is "he"?"""
    plain = words.casefold()
    if " " in plain:
        return f"which is “{plain}”?"
    thing = plain in {"it", "its", "this", "that", "these", "those"}
    shown = "I" if plain == "i" else plain
    asks = "whose" if plain in {"his", "her", "their", "our", "my", "its"} else "who"
    if asks == "whose":
        return f"whose is “{shown}”?"
    plural = plain in {"we", "us", "they", "them", "these", "those"}
    return f"{'what' if thing else asks} {'are' if plural else 'is'} “{shown}”?"
