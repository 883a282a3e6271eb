"""The user's own files that a result was read from: their addresses, and their content.

An index of ``folder:DIR`` knows no addresses, so pages link to the files themselves, if the web
server has the folder. Whoever can open the page of a claim can open the files of its documents, and
no others: an address names a document of a result, not a path.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import cast
from unicodedata import normalize
from urllib.parse import quote

from flask import Blueprint, send_file, url_for
from flask.typing import ResponseReturnValue

from app.api.openapi import describe
from app.documents.corpus import searched_corpus
from app.http.errors import RequestRefused
from app.people.sharing import refuse_unseen_corpus
from app.services import services
from retrieval.errors import IndexUnavailable, Problem
from retrieval.result import ClaimResult, Document
from worker.corpora.errors import CorpusRefused, UnknownCorpus
from worker.corpora.uploads import SUFFIXES

blueprint = Blueprint("files", __name__)

_FOLDER = "folder:"
_LOOKED_AT = 1_000_000  # bytes of a text in which its encoding shows
# A file may be hostile: it runs no scripts, loads nothing, and has no rights on this server.
_NO_RIGHTS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


_HTML, _PDF, _TEXT = "text/html", "application/pdf", "text/plain"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OTHER = "application/octet-stream"
# Of the files that are read; browsers cannot show the last ones, so they are downloaded.
_KINDS = {
    **dict.fromkeys(SUFFIXES, _OTHER),
    **dict.fromkeys((".htm", ".html", ".xhtml"), _HTML),
    **dict.fromkeys(
        (".csv", ".ics", ".markdown", ".md", ".srt", ".text", ".tsv", ".txt", ".vtt"), _TEXT
    ),
    ".pdf": _PDF,
    ".docx": _WORD,
}


@blueprint.get("/claims/<job_id>/files/<int:number>")
@describe(HTTP_200=(None, "The file"), HTTP_404=(None, "No such claim, or no file"))
def show(job_id: str, number: int) -> ResponseReturnValue:
    """Return the file that a document of a result was read from; ``number`` counts from 1."""
    result = services().store.get(job_id).result
    path = None
    if result is not None and 0 < number <= len(result.documents):
        path = _files_of(result)(result.documents[number - 1])
    if path is None:
        raise RequestRefused(
            HTTPStatus.NOT_FOUND,
            Problem(
                "no_file",
                "This server does not have the file of this document.",
                "Open it in the folder that the corpus was built from.",
            ),
        )
    kind = _KINDS[path.suffix.lower()]
    sent = send_file(path, kind, kind in (_WORD, _OTHER), download_name=path.name)
    if kind in (_HTML, _TEXT) and not _is_utf_8(path):
        # A page may declare its encoding; a text that is not UTF-8 is read as Windows-1252.
        windows = f"{_TEXT}; charset=windows-1252"
        sent.headers["Content-Type"] = _HTML if kind == _HTML else windows
    if kind != _PDF:  # the viewers of browsers need rights of their own
        sent.headers["Content-Security-Policy"] = _NO_RIGHTS
    # Of a whole response ``describe`` would read the content into memory.
    content = cast("Iterator[bytes]", iter(sent.response))
    return content, sent.status_code, sent.headers


def file_links(job_id: str, result: ClaimResult) -> dict[str, str]:
    """Return the addresses of files by the ids of documents, at their pages and sections."""
    file_of = _files_of(result)
    links = {}
    for number, document in enumerate(result.documents, 1):
        path = file_of(document)
        if path is not None:
            address = url_for("files.show", job_id=job_id, number=number)
            links[document.id] = address + _place(path, document)
    return links


def _files_of(result: ClaimResult) -> Callable[[Document], Path | None]:
    """Return what finds the file of a document, if its corpus has files and is still there.

    Ids begin with the name of their corpus and a colon, but for those of the default corpus.
    """
    own = {part.name: _own_folder(part.name) for part in result.corpus.parts}
    default = _default_folder(result)

    def file_of(document: Document) -> Path | None:
        corpus, colon, name = document.whole.id.partition(":")
        folder = own.get(corpus) if colon else None
        if folder is not None:
            return _file(folder, name)
        return None if default is None else _file(default, document.whole.id)

    return file_of


def _own_folder(name: str) -> Path | None:
    try:
        refuse_unseen_corpus(name)
        return services().corpora.files(name)
    except (UnknownCorpus, CorpusRefused):
        return None


def _default_folder(result: ClaimResult) -> Path | None:
    """Return the folder that the default corpus was built from, if the result is of it."""
    try:
        corpus = searched_corpus()
    except IndexUnavailable:
        return None
    searched = {part.name for part in result.corpus.parts} or {result.corpus.name}
    if corpus.name not in searched or not corpus.source.startswith(_FOLDER):
        return None
    return Path(corpus.source.removeprefix(_FOLDER))


def _file(folder: Path, written: str) -> Path | None:
    """Return the file of this name, if it is one of a known format inside the folder."""
    name = Path(written)
    hidden = any(part.startswith(".") for part in name.parts)
    if hidden or name.is_absolute() or name.suffix.lower() not in _KINDS:
        return None
    try:
        path = (folder / name).resolve()
        if not path.exists():  # an id has one form of the Unicode that a name may be written in
            same = (p for p in path.parent.iterdir() if normalize("NFC", p.name) == name.name)
            path = next(same, path).resolve()
        inside = path.is_relative_to(folder.resolve())
        return path if inside and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _is_utf_8(path: Path) -> bool:
    with path.open("rb") as stream:
        begin = stream.read(_LOOKED_AT)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _place(path: Path, document: Document) -> str:
    """Return the fragment of an address that leads to a page, or to the words of a heading."""
    suffix = path.suffix.lower()
    if suffix == ".pdf" and document.page is not None:
        return f"#page={document.page}"
    if _KINDS[suffix] == _HTML and document.section is not None:
        words = quote(document.section.rpartition(" > ")[2], safe="").replace("-", "%2D")
        return f"#:~:text={words}"
    return ""
