"""The data that the templates of texts get: one dataclass per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.contexts import CorpusChoice, RecipeChoice
from app.filters import Badge
from retrieval.checkable.given_text import Replaced
from retrieval.errors import Problem
from worker.lists import SourcePage
from worker.reports import AskedModel


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text; ``badge``: the verdict on what it says, ``None`` if it is not checked.

    ``claim_id``: of the claim with this verdict, ``None`` where there is none to open.
    """

    text: str
    badge: Badge | None
    claim_id: str | None


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

    ``named``: what its ``kind`` is called where it cannot be checked, else "". ``as_said``: its
    only claim has its words.
    """

    said: str
    start: int
    end: int
    kind: str
    named: str
    claims: tuple[TextClaimItem, ...]
    as_said: bool


@dataclass(frozen=True, slots=True)
class TextPage:
    """A text and its sentences, none before it was read.

    ``page``: where the text was read, ``None`` if it was pasted; ``whole``: all of it was.
    ``page_signature``: that it was read there, "" without a page.
    ``opens_links``: an address may be given instead of a text. ``problem`` is set if it was
    refused, or if nothing was ticked. ``busy``: why the sentences have no notes, if they have none.
    ``checkable``: how many of the sentences are facts; ``claims``: how many claims these make, of
    which it is not clear what ``unclear_claims`` are about. ``chosen_claims``: how many are ticked.
    ``may_be_list``: every line has one sentence.
    """

    template: ClassVar[str] = "text.html"
    text: str
    page: SourcePage | None
    page_signature: str
    whole: bool
    opens_links: bool
    problem: Problem | None
    busy: Problem | None
    most_characters: int
    sentences: tuple[SentenceItem, ...]
    checkable: int
    claims: int
    unclear_claims: int
    chosen_claims: int
    may_be_list: bool
    choice: RecipeChoice
    corpora: tuple[CorpusChoice, ...]
    asked: AskedModel | None
