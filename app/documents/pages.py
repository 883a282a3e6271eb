"""The pages of documents: the corpora, their files, and what may be done with them."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

from flask import Blueprint, redirect, request, url_for
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.wrappers import Response as BaseResponse

from app.api.openapi import describe
from app.contexts import render
from app.documents.contexts import CorpusPage, CorpusRow, DocumentsPage, FileRow
from app.documents.corpus import corpus_item, searched_corpus
from app.documents.uploading import (
    may_change_documents,
    refuse_unless_allowed,
    refuse_unless_shared,
    upload_to,
    why_not,
)
from app.filters import Badge
from app.http.errors import refused_page
from app.people.sharing import owner_of_new_corpus, sees_corpus
from app.services import services
from retrieval.errors import EsotericError, IndexUnavailable, Problem
from retrieval.words import counted
from worker.corpora.corpus_folders import StoredFile
from worker.corpora.corpus_store import LONGEST_TITLE, StoredCorpus
from worker.corpora.errors import CorpusNotWritten, CorpusRefused
from worker.corpora.records import Indexing
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
_ANSWERS: dict[str, Any] = {
    "HTTP_303": (None, "The corpus's page"),
    "HTTP_403": (None, "From another site, or not allowed here"),
    "HTTP_404": (None, "No such corpus"),
    "HTTP_422": (None, "The page again, with what is wrong"),
}


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


@blueprint.get("/documents/<name>")
@describe(HTTP_200=(None, "The page"), HTTP_404=(None, "No such corpus"))
def corpus(name: str) -> str:
    """Show a corpus: its files, and how far their indexing is."""
    return _corpus_page(name, None)


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
    settings, corpora = services().settings, services().corpora.all()
    used = {one.folder for one in corpora}
    corpora = list(filter(sees_corpus, corpora))
    try:
        default = corpus_item(searched_corpus(services()))
    except IndexUnavailable:
        default = None
    return render(
        DocumentsPage(
            default=default,
            corpora=tuple(map(_row, corpora)),
            why_not=None if may_change_documents() else why_not(),
            folders=tuple(name for name in sorted(settings.folders) if name not in used),
            title=title,
            problem=problem,
            most_bytes=settings.most_upload,
            longest_title=LONGEST_TITLE,
            accepted=",".join(SUFFIXES),
        )
    )


def _corpus_page(name: str, problem: Problem | None) -> str:
    settings, found = services().settings, services().corpora.get(name)
    row, failed = _row(found), found.problem
    return render(
        CorpusPage(
            corpus=row,
            shared=found.shared,
            files=tuple(_file_row(file, row.works) for file in found.files),
            files_may_change=may_change_documents() and found.folder is None,
            may_change=may_change_documents(),
            folder=found.folder,
            progress=_progress(found),
            done=found.indexing.done if found.indexing and found.state == "indexing" else None,
            total=found.indexing.total if found.indexing else 0,
            waiting=_why_waiting(found),
            failed=failed and services().paths.hidden_in_problem(failed),
            left_out=tuple(map(services().paths.hidden_in, found.left_out)),
            lists=services().lists.unfinished_in(name),
            problem=problem,
            most_bytes=settings.most_upload,
            longest_title=LONGEST_TITLE,
            accepted=",".join(SUFFIXES),
        )
    )


def _row(found: StoredCorpus) -> CorpusRow:
    return CorpusRow(
        found.name,
        found.title,
        _STATES[found.state],
        len([one for one in found.files if one.name]),
        found.text_date,
        found.searchable,
        found.state in ("waiting", "indexing"),
    )


def _file_row(file: StoredFile, works: bool) -> FileRow:
    report = file.report
    problems = report.problems if report else ()
    if report is None and works:
        state = "waits to be indexed"
    elif report is None:
        state = "not read"
    elif report.passages == 0:
        state = "not searched"
    else:
        state = counted(report.passages, "passage")
    size = "" if file.bytes is None else _size(file.bytes)
    return FileRow(
        file.name, size, state, tuple(map(services().paths.hidden_in, problems)), report is not None
    )


def _progress(found: StoredCorpus) -> str:
    """Return how far the indexing is, in words, "" if there is none."""
    indexing = found.indexing
    if found.state == "waiting" or (found.state == "indexing" and indexing is None):
        before = services().corpora.before(found.name)
        after = f", after {counted(before, 'other')}" if before else ""
        return f"Waiting for a worker to index the files{after}."
    if found.state != "indexing" or indexing is None:
        return ""
    return _step(indexing)


def _step(indexing: Indexing) -> str:
    if indexing.step == "encoding":
        return f"Making vectors: {indexing.done} of {counted(indexing.total, 'passage')}."
    return f"Reading: {indexing.done} of {counted(indexing.total, 'file')}."


def _why_waiting(found: StoredCorpus) -> Problem | None:
    """Return why no worker indexes files that wait."""
    health = worker_health(services().workers)
    if found.state not in ("waiting", "indexing") or health.workers:
        return None
    problem = health.problem
    return problem and services().paths.hidden_in_problem(problem)


def _shown(error: EsotericError) -> Problem:
    return services().paths.hidden_in_problem(error.problem)


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{-(-size // 1000)} kB"
