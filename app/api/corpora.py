"""The part of the API that changes corpora; ``GET /api/v1/corpora`` is in ``app.api.claims``."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TypeVar

from flask import Blueprint, Response, url_for
from pydantic import BaseModel, ValidationError

from app.api.models import (
    CorpusDetail,
    CorpusTitle,
    Error,
    FileItem,
    FilesUpload,
    NewCorpus,
    answer,
)
from app.api.openapi import describe
from app.documents.corpus import own_corpus_item
from app.documents.uploading import refuse_unless_allowed, refuse_unless_shared, upload_to
from app.http.errors import RequestRefused
from app.http.json_body import json_body, wrong_in
from app.services import services
from retrieval.errors import Problem

Model = TypeVar("Model", bound=BaseModel)

blueprint = Blueprint("api_corpora", __name__, url_prefix="/api/v1/corpora")

_DETAIL = (CorpusDetail, "The corpus as it is now; its files are indexed after this answer")
_UNKNOWN = (Error, "No such corpus")
_NOT_ALLOWED = (Error, "From another site, or documents may not be changed here")
_BAD = (Error, "What is sent cannot be used; nothing was changed")
_MALFORMED = (Error, "Malformed JSON")
_NOT_JSON = (Error, "Not JSON")


@blueprint.post("")
@describe(
    json=NewCorpus,
    HTTP_201=(CorpusDetail, "Made; Location is its address"),
    HTTP_400=_MALFORMED,
    HTTP_403=_NOT_ALLOWED,
    HTTP_415=_NOT_JSON,
    HTTP_422=_BAD,
)
def make() -> tuple[Response, HTTPStatus, dict[str, str]]:
    """Make a corpus: one for files that are uploaded to it, or one of a folder."""
    refuse_unless_allowed()
    asked = _body(NewCorpus)
    refuse_unless_shared()
    name = services().corpora.make(asked.title, asked.folder)
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
    HTTP_400=_MALFORMED,
    HTTP_403=_NOT_ALLOWED,
    HTTP_404=_UNKNOWN,
    HTTP_415=_NOT_JSON,
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


def _body(model: type[Model]) -> Model:
    """Return the JSON of this request.

    Raises:
        RequestRefused: it is no JSON, or not of this form.
    """
    example = json.dumps(dict.fromkeys(model.model_fields, "…"), ensure_ascii=False)
    body = json_body(example)
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            Problem(
                "bad_body",
                wrong_in(error),
                f"Send an object like {example}.",
            ),
        ) from error
