"""The pages of documents: the corpora, their files, and what may be done with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.openapi import describe
from app.documents.corpus import corpus_item, searched_corpus
from app.documents.uploading import (
    may_change_documents,
    refuse_unless_allowed,
    refuse_unless_shared,
    upload_to,
    why_not,
)
from app.filters import Badge
from app.http.errors import RequestRefused, refused_page
from app.people.sharing import owner_of_new_corpus, sees_corpus
from app.services import services
from retrieval.errors import EsotericError, IndexUnavailable, Problem
from retrieval.index.open import as_read
from retrieval.sources.address import SourceAddress
from retrieval.sources.kept import DAYS, MOST_BYTES, KeptArticles
from retrieval.sources.opening import KEPT
from retrieval.types import Document
from worker.corpora.corpus_store import LONGEST_TITLE
from worker.corpora.errors import CorpusNotWritten, CorpusRefused
from worker.corpora.uploads import SUFFIXES
from worker.health import worker_health

blueprint = Blueprint("corpora", __name__)

_STATES = {
    "empty": Badge("stopped", "No files"),
    "waiting": Badge("pending", "Waiting"),
    "indexing": Badge("pending", "Being indexed"),
    "ready": Badge("supported", "Ready"),
    "failed": Badge("stopped", "Failed"),
}
# What a form for files says: the longest title, and the endings of files as a browser wants them.
_UPLOADS = {"longest_title": LONGEST_TITLE, "accepted": ",".join(SUFFIXES)}
# Of the articles that are kept of wikis.
_LIMITS: Mapping[str, int] = {"days": DAYS, "bytes": MOST_BYTES}
_MOST_SHOWN = 500  # passages of a file; each has about 1,000 characters
_ANSWERS: dict[str, Any] = {
    "HTTP_303": (None, "The corpus's page"),
    "HTTP_403": (None, "From another site, or not allowed here"),
    "HTTP_404": (None, "No such corpus"),
    "HTTP_422": (None, "The page again, with what is wrong"),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """The articles that are kept of a wiki; ``since``: the last use of the longest unused one."""

    articles: int
    bytes: int
    since: datetime


class CorpusForm(BaseModel):
    """A new corpus, with files or of a folder."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    title: str
    """What people call it."""
    files: Annotated[str, Field(json_schema_extra={"format": "binary"})] = ""
    """Its files; more than one may be sent."""
    folder: str = ""
    """Or the name of a folder of ESOTERIC_FOLDERS."""


class MoreFiles(BaseModel):
    """Files for a corpus."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    files: Annotated[str, Field(json_schema_extra={"format": "binary"})]
    """The files; more than one may be sent, also in a zip. One replaces another of its name."""


class Named(BaseModel):
    """A file of a corpus."""

    file: str


class Titled(BaseModel):
    """Another title."""

    title: str


@blueprint.get("/documents")
@describe(HTTP_200=(None, "The corpora, and a form for another"))
def documents() -> str:
    """Show the corpora and the form for another."""
    return _documents_page("", None)


@blueprint.post("/documents")
@describe(form=CorpusForm, HTTP_413=(None, "Too large"), HTTP_415=(None, "No files"), **_ANSWERS)
def make() -> BaseResponse:
    """Make a corpus of files or of a folder, and redirect to its page."""
    refuse_unless_allowed()
    title, folder = request.form.get("title", ""), request.form.get("folder") or None
    corpora = services().corpora
    try:
        refuse_unless_shared()
        name = corpora.make(title, folder, owner_of_new_corpus())
        if folder is None:
            try:
                upload_to(name)
            except BaseException:
                corpora.remove(name)
                raise
    except (CorpusRefused, CorpusNotWritten) as error:
        page = _documents_page(title, _shown(error))
        return refused_page(page, error)
    return _see(name)


@blueprint.post("/documents/kept/clear")
@describe(**_ANSWERS | {"HTTP_303": (None, "The corpora")})
def clear_kept() -> BaseResponse:
    """Remove the articles that are kept of wikis and redirect to the corpora."""
    refuse_unless_allowed()
    _kept_articles().clear()
    return redirect(url_for(".documents"), HTTPStatus.SEE_OTHER)


@blueprint.get("/documents/<name>")
@describe(HTTP_200=(None, "The page"), HTTP_404=(None, "No such corpus"))
def corpus(name: str) -> str:
    """Show a corpus: its files, and how far their indexing is."""
    return _corpus_page(name, None)


@blueprint.get("/documents/<name>/text")
@describe(
    query=Named,
    HTTP_200=(None, "The text"),
    HTTP_404=(None, "No such corpus, or no file of it that was read"),
    HTTP_422=(None, "The corpus cannot be searched yet"),
)
def text(name: str) -> str:
    """Show what was read of a file: its headings and sentences, as claims are checked in them."""
    file = request.args.get("file", "")
    found = services().corpora.get(name)
    reports = {one.name: one.report for one in found.files}
    report = reports.get(file)
    _, index = services().corpora.searchable(name)
    read = as_read(index, file, _MOST_SHOWN) if report and report.passages else []
    if report is None or not read:
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem("no_file", "No text of this file is searched.", "Choose a file of the corpus."),
        )
    return render_template(
        "file.html",
        corpus=found,
        file=file,
        passages=report.passages,
        read=[(one, tuple(_lines(one))) for one in read],
    )


def _lines(document: Document) -> Iterator[str]:
    """Yield the sentences of a text, and what stands between them, which is no statement."""
    done = 0
    for sentence in document.sentences:
        yield document.text[done : sentence.start]
        yield sentence.text
        done = sentence.end
    yield document.text[done:]


@blueprint.post("/documents/<name>/files")
@describe(form=MoreFiles, HTTP_413=(None, "Too large"), HTTP_415=(None, "No files"), **_ANSWERS)
def upload(name: str) -> BaseResponse:
    """Add files to a corpus, or replace those of the same names; redirect to its page."""
    return _changed(name, lambda: upload_to(name))


@blueprint.post("/documents/<name>/files/remove")
@describe(form=Named, **_ANSWERS)
def remove_file(name: str) -> BaseResponse:
    """Remove a file and redirect to the page of its corpus."""
    file = request.form.get("file", "")
    return _changed(name, lambda: services().corpora.remove_file(name, file))


@blueprint.post("/documents/<name>/rename")
@describe(form=Titled, **_ANSWERS)
def rename(name: str) -> BaseResponse:
    """Give a corpus another title and redirect to its page."""
    title = request.form.get("title", "")
    return _changed(name, lambda: services().corpora.rename(name, title))


@blueprint.post("/documents/<name>/index")
@describe(**_ANSWERS)
def index_again(name: str) -> BaseResponse:
    """Let the files be indexed again and redirect to the page of the corpus."""
    return _changed(name, lambda: _index_again(name))


@blueprint.post("/documents/<name>/remove")
@describe(**_ANSWERS | {"HTTP_303": (None, "The corpora")})
def remove(name: str) -> BaseResponse:
    """Remove a corpus with its files and redirect to the others."""
    refuse_unless_allowed()
    services().corpora.remove(name)
    return redirect(url_for(".documents"), HTTPStatus.SEE_OTHER)


def _changed(name: str, change: Callable[[], None]) -> BaseResponse:
    """Change a corpus and redirect to its page; what is refused is said there."""
    refuse_unless_allowed()
    try:
        change()
    except (CorpusRefused, CorpusNotWritten) as error:
        page = _corpus_page(name, _shown(error))
        return refused_page(page, error)
    return _see(name)


def _index_again(name: str) -> None:
    refuse_unless_shared()
    services().corpora.index_again(name)


def _see(name: str) -> BaseResponse:
    return redirect(url_for(".corpus", name=name), HTTPStatus.SEE_OTHER)


def _documents_page(title: str, problem: Problem | None) -> str:
    """Return the corpora, and the form for another one; ``title`` was typed there."""
    corpora = services().corpora.all()
    used = {one.folder for one in corpora}
    corpora = list(filter(sees_corpus, corpora))
    try:
        default = corpus_item(searched_corpus())
    except IndexUnavailable:
        default = None
    named = {one.title: one for one in services().settings.sources.values()}
    kept = _kept(named.values())
    return render_template(
        "documents.html",
        **_UPLOADS,
        most_bytes=services().settings.most_upload,
        default=default,
        corpora=corpora,
        states=_STATES,
        why_not=None if may_change_documents() else why_not(),
        folders=[name for name in sorted(services().settings.folders) if name not in used],
        title=title,
        problem=problem,
        sources={one: named.get(one) for one in (*named, *kept)},
        kept=kept,
        limits=_LIMITS,
    )


def _kept(named: Iterable[SourceAddress]) -> Mapping[str, list[Kept]]:
    """Return what is kept, by the titles of wikis, or by the addresses of those not ``named``.

    What a wiki was before a day is kept apart.
    """
    titles = {one.place: one.title for one in named}
    found: dict[str, list[Kept]] = defaultdict(list)
    for held in _kept_articles().holdings():
        place = held.place.partition(" ")[0]
        since = datetime.fromtimestamp(held.since, UTC)
        found[titles.get(place, place)].append(Kept(held.articles, held.bytes, since))
    return found


def _kept_articles() -> KeptArticles:
    return KeptArticles(services().settings.home / KEPT)


def _corpus_page(name: str, problem: Problem | None) -> str:
    """Return a corpus with its files; ``problem``: why a change was refused."""
    found = services().corpora.get(name)
    works, failed = found.state in ("waiting", "indexing"), found.problem
    return render_template(
        "corpus.html",
        **_UPLOADS,
        most_bytes=services().settings.most_upload,
        corpus=found,
        badge=_STATES[found.state],
        works=works,
        hidden_in=services().paths.hidden_in,
        may_change=may_change_documents(),
        before=services().corpora.before(name) if works else 0,
        waiting=_why_waiting() if works else None,
        failed=failed and services().paths.hidden_in_problem(failed),
        lists=services().lists.unfinished_in(name),
        problem=problem,
    )


def _why_waiting() -> Problem | None:
    """Return why no worker indexes files that wait."""
    health = worker_health(services().workers)
    if health.workers or health.problem is None:
        return None
    return services().paths.hidden_in_problem(health.problem)


def _shown(error: EsotericError) -> Problem:
    return services().paths.hidden_in_problem(error.problem)
