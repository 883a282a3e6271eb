"""The API of texts: their sentences, and what each of them claims."""

from __future__ import annotations

from flask import Blueprint, Response
from pydantic import ConfigDict

from app.api.models import Error, Model, answer
from app.api.openapi import describe
from app.http.query import asked_in_json
from app.services import services
from app.texts.given_text import given_text
from retrieval.checkable.given_text import Kind
from retrieval.types import Whole

blueprint = Blueprint("api_texts", __name__, url_prefix="/api/v1")

_EXAMPLE = '{"text": "Water boils at 100 degrees. Who knew?"}'


class TextSubmission(Model):
    """A text to be read; nothing of it is kept."""

    model_config = ConfigDict(extra="forbid")

    text: str
    """The text in English, at most 20,000 characters; or the address of a web page alone, which is
    then read, where the operator allows it."""


class ReplacedWords(Model):
    """Words of the text that a claim has other words for."""

    said: str
    """The words of the text, such as `its`."""
    meant: str
    """What they stand for, such as `Germany`."""


class ClaimOfText(Model):
    """A statement of a sentence, as it can be checked."""

    text: str
    """The claim."""
    replaced: tuple[ReplacedWords, ...]
    """The words that were replaced by what they stand for."""
    unclear: tuple[str, ...]
    """Words of which the text does not say what they stand for; they are left as they are."""


class SentenceOfText(Model):
    """A sentence of the text."""

    start: Whole
    """Where it begins in `text`, in characters."""
    end: Whole
    """Where it ends."""
    text: str
    """The sentence."""
    kind: Kind
    """What it is; only a `fact` can be checked. `instruction`: also a greeting. `quotation`:
    what somebody said, without a fact. `vague`: nothing that can be looked up. `fragment`: not a
    sentence. `foreign`: not English."""
    checkable: bool
    """Whether it is a fact."""
    claims: tuple[ClaimOfText, ...]
    """Its statements, at least one."""


class PageOfText(Model):
    """The web page that the text was read from."""

    title: str
    """Its title."""
    address: str
    """Its address, after redirects."""
    whole: bool
    """Whether its whole text was read: else it has more than 20,000 characters."""


class Sentences(Model):
    """A text and its sentences."""

    text: str
    """The text that the offsets count in: as it was sent, but for invisible characters, line ends,
    space around it and the form of Unicode."""
    sentences: tuple[SentenceOfText, ...]
    """Its sentences, in their order."""
    page: PageOfText | None
    """The page that it is from; null for a text that was sent itself."""


@blueprint.post("/texts")
@describe(
    json=TextSubmission,
    HTTP_200=(Sentences, "The sentences"),
    HTTP_422=(Error, "The text is empty, too long, or not English, or the page cannot be read"),
    HTTP_429=(Error, "Too many texts or pages; Retry-After is when to come back"),
    HTTP_503=(Error, "Other texts are being read; Retry-After is when to come back"),
)
def read() -> Response:
    """Return the sentences of a text: which can be checked, and what they claim."""
    given = given_text(asked_in_json(TextSubmission, _EXAMPLE, "bad_text").text)
    text, page = given.text, given.page
    return answer(
        Sentences(
            text=text,
            sentences=tuple(
                SentenceOfText(
                    start=one.start,
                    end=one.end,
                    text=text[one.start : one.end],
                    kind=one.kind,
                    checkable=one.checkable,
                    claims=tuple(map(ClaimOfText.model_validate, one.claims)),
                )
                for one in services().texts.statements_of(text)
            ),
            page=None
            if page is None
            else PageOfText(title=page.title, address=page.address, whole=given.whole),
        )
    )
