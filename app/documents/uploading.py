"""Who may change documents, and how an upload gets from a request into a corpus."""

from __future__ import annotations

from http import HTTPStatus

from flask import request

from app.http.errors import RequestRefused
from app.people.asker import asker, is_operator
from app.services import services
from retrieval.errors import Problem
from worker.corpora.errors import CorpusRefused
from worker.corpora.uploads import Upload, receive
from worker.health import ALIVE_WITHIN

_FORM = "multipart/form-data"


def may_change_documents() -> bool:
    """Return whether who sends this request may upload, change and remove documents."""
    return is_operator() if asker().name is not None else services().settings.uploads


def refuse_unless_allowed() -> None:
    """Refuse the request of who may not change documents.

    Raises:
        RequestRefused: they may not.
    """
    if not may_change_documents():
        raise RequestRefused(HTTPStatus.FORBIDDEN, why_not())


def why_not() -> Problem:
    """Return why who sends this request may not change documents."""
    if asker().name is not None:
        return Problem(
            "uploads_not_allowed", "Only an operator can add or change documents here.", "Ask one."
        )
    return Problem(
        "uploads_not_allowed",
        "Documents cannot be changed here, because other computers may reach this service.",
        "The operator can allow it with ESOTERIC_UPLOADS=yes.",
    )


def refuse_unless_shared() -> None:
    """Refuse what a worker would index or search, if one does not have the documents.

    Raises:
        CorpusRefused: it has another folder of documents than this process.
        StoreUnavailable: the database cannot be read.
    """
    mark = services().corpora.mark()
    if any(one.documents not in (None, mark) for one in services().workers.alive(ALIVE_WITHIN)):
        raise CorpusRefused(
            "documents_not_shared",
            "A worker on another machine does not have the documents of this service.",
            "The operator can share the folder (docs/deploying.md, “Many machines”); until then,"
            " use the default corpus.",
        )


def upload_to(name: str) -> None:
    """Move the files of this request into a corpus.

    Raises:
        RequestRefused: the request is no form with files.
        UnknownCorpus: there is no corpus of this name.
        CorpusRefused: a file, or none, can be taken; nothing was changed.
        CorpusNotWritten: the disk is full or cannot be written; nothing was changed.
    """
    if request.mimetype != _FORM:
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Problem(
                "unsupported_media_type",
                "The request has no files.",
                "Send them as a form (multipart/form-data), each as “files”.",
            ),
        )
    corpora = services().corpora
    corpora.corpus(name)
    refuse_unless_shared()
    files = [file for file in request.files.getlist("files") if file.filename]
    dates = request.form.getlist("modified")
    known = dates if len(dates) == len(files) else [""] * len(files)
    uploads = [
        Upload(file.filename or "", file.stream, _seconds(date))
        for file, date in zip(files, known, strict=True)
    ]
    with corpora.receiving() as place:
        received = receive(uploads, place, services().settings.most_upload)
        corpora.add(name, received.files, received.left_out)


def _seconds(milliseconds: str) -> float | None:
    """Return the time that a script of ours adds for a file, in seconds."""
    digits = milliseconds.isascii() and milliseconds.isdigit() and len(milliseconds) < 16
    return int(milliseconds) / 1000 if digits else None
