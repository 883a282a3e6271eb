"""Corpora by the API: which there are, and what may be done with those beside the default one."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated

from flask import Blueprint, Response, url_for
from pydantic import ConfigDict, Field

from app.api.models import Corpora, CorpusItem, Error, Model, answer
from app.api.openapi import describe
from app.documents.corpus import listed_corpora, own_corpus_item
from app.documents.uploading import refuse_unless_allowed, refuse_unless_shared, upload_to
from app.http.query import Asked, asked_in_json
from app.people.sharing import owner_of_new_corpus
from app.services import services
from retrieval.errors import Problem
from retrieval.types import Whole
from worker.corpora.corpus_folders import Step
from worker.jobs import Moment

blueprint = Blueprint("api_corpora", __name__, url_prefix="/api/v1/corpora")


class FileItem(Model):
    """A file of a corpus."""

    name: str
    """Its name, with folders."""
    bytes: Whole | None
    """Its size, null for a file of a folder."""
    passages: Whole | None
    """How many passages of it are searched, null until it is indexed."""
    problems: tuple[str, ...]
    """What could not be read."""


class CorpusDetail(CorpusItem):
    """A corpus beside the default one, with its files."""

    made_at: Moment
    """When it was made."""
    folder: str | None
    """The folder of ESOTERIC_FOLDERS that its files are in, null for uploaded files."""
    before: Whole | None
    """How many other corpora are indexed before it, null unless it waits."""
    step: Step | None
    """What its indexing does, null before it begins."""
    done: Whole
    """How many files are read, or passages have vectors."""
    total: Whole
    """Of how many."""
    problem: Problem | None
    """Why its indexing failed, else null."""
    left_out: tuple[str, ...]
    """What of the last upload was not taken."""
    files: tuple[FileItem, ...]
    """Its files, in order of their names."""


class NewCorpus(Model):
    """A new corpus."""

    model_config = ConfigDict(extra="forbid")

    title: str
    """What people call it."""
    folder: str | None = None
    """Name of a folder of ESOTERIC_FOLDERS; left out: files are uploaded to it."""


class CorpusTitle(Model):
    """Another title for a corpus."""

    model_config = ConfigDict(extra="forbid")

    title: str
    """What people call it."""


class FilesUpload(Model):
    """Files for a corpus."""

    files: Annotated[str, Field(json_schema_extra={"format": "binary"})]
    """The files; more than one may be sent under this name."""


_DETAIL = (CorpusDetail, "The corpus as it is now; its files are indexed after this answer")
_UNKNOWN = (Error, "No such corpus")
_NOT_ALLOWED = (Error, "From another site, or documents may not be changed here")
_BAD = (Error, "What is sent cannot be used; nothing was changed")


@blueprint.get("")
@describe(HTTP_200=(Corpora, "All corpora"))
def listed() -> Response:
    """List the corpora that claims can be checked against, and why the default one cannot be."""
    return answer(listed_corpora())


@blueprint.post("")
@describe(
    json=NewCorpus,
    HTTP_201=(CorpusDetail, "Made; Location is its address"),
    HTTP_403=_NOT_ALLOWED,
    HTTP_422=_BAD,
)
def make() -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Make a corpus: one for files that are uploaded to it, or one of a folder."""
    refuse_unless_allowed()
    asked = _body(NewCorpus)
    refuse_unless_shared()
    name = services().corpora.make(asked.title, asked.folder, owner_of_new_corpus())
    headers = {"Location": url_for(".show", name=name)}
    return _detail(name), HTTPStatus.CREATED, headers


@blueprint.get("/<name>")
@describe(HTTP_200=(CorpusDetail, "The corpus"), HTTP_404=_UNKNOWN)
def show(name: str) -> Response:
    """Return a corpus with its files, and how far their indexing is."""
    return _detail(name)


@blueprint.patch("/<name>")
@describe(
    json=CorpusTitle,
    HTTP_200=_DETAIL,
    HTTP_403=_NOT_ALLOWED,
    HTTP_404=_UNKNOWN,
    HTTP_422=_BAD,
)
def rename(name: str) -> Response:
    """Give a corpus another title; its name stays."""
    refuse_unless_allowed()
    services().corpora.rename(name, _body(CorpusTitle).title)
    return _detail(name)


@blueprint.delete("/<name>")
@describe(HTTP_204=(None, "Removed"), HTTP_403=_NOT_ALLOWED, HTTP_404=_UNKNOWN)
def remove(name: str) -> Response:
    """Remove a corpus with its files; the results of claims stay."""
    refuse_unless_allowed()
    services().corpora.remove(name)
    return Response(status=HTTPStatus.NO_CONTENT)


@blueprint.post("/<name>/files")
@describe(
    form=FilesUpload,
    HTTP_202=_DETAIL,
    HTTP_403=_NOT_ALLOWED,
    HTTP_404=_UNKNOWN,
    HTTP_413=(Error, "Larger than ESOTERIC_MOST_UPLOAD_MB"),
    HTTP_415=(Error, "Not a form with files"),
    HTTP_422=_BAD,
)
def upload(name: str) -> tuple[Response, HTTPStatus]:
    """Upload files to a corpus, one or more, or in a zip; one replaces another of its name."""
    refuse_unless_allowed()
    upload_to(name)
    return _detail(name), HTTPStatus.ACCEPTED


@blueprint.delete("/<name>/files/<path:file>")
@describe(HTTP_202=_DETAIL, HTTP_403=_NOT_ALLOWED, HTTP_404=_UNKNOWN, HTTP_422=_BAD)
def remove_file(name: str, file: str) -> tuple[Response, HTTPStatus]:
    """Remove a file from a corpus."""
    refuse_unless_allowed()
    services().corpora.remove_file(name, file)
    return _detail(name), HTTPStatus.ACCEPTED


@blueprint.post("/<name>/index")
@describe(HTTP_202=_DETAIL, HTTP_403=_NOT_ALLOWED, HTTP_404=_UNKNOWN, HTTP_422=_BAD)
def index_again(name: str) -> tuple[Response, HTTPStatus]:
    """Let all files of a corpus be indexed again, such as those of a folder that changed."""
    refuse_unless_allowed()
    refuse_unless_shared()
    services().corpora.index_again(name)
    return _detail(name), HTTPStatus.ACCEPTED


def _detail(name: str) -> Response:
    found = services().corpora.get(name)
    paths, indexing = services().paths, found.indexing
    return answer(
        CorpusDetail(
            **own_corpus_item(found).model_dump(exclude_unset=True),
            made_at=found.made_at,
            folder=found.folder,
            before=services().corpora.before(name) if found.state == "waiting" else None,
            step=indexing.step if indexing else None,
            done=indexing.done if indexing else 0,
            total=indexing.total if indexing else 0,
            problem=found.problem and paths.hidden_in_problem(found.problem),
            left_out=tuple(map(paths.hidden_in, found.left_out)),
            files=tuple(
                FileItem(
                    name=file.name,
                    bytes=file.bytes,
                    passages=file.report.passages if file.report else None,
                    problems=tuple(
                        map(paths.hidden_in, file.report.problems if file.report else ())
                    ),
                )
                for file in found.files
            ),
        )
    )


def _body(model: type[Asked]) -> Asked:
    example = json.dumps(dict.fromkeys(model.model_fields, "…"), ensure_ascii=False)
    return asked_in_json(model, example)
