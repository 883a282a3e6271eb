"""A list with its verdicts as a file: CSV, XLSX and JSON lines, with the columns that came in."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias

from flask import url_for

from app.http.server_paths import ServerPaths
from app.services import services
from retrieval.claim_lists.verdicts import CheckedRow, csv_pieces, verdict_table, write_xlsx
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import Problem
from retrieval.text.word_forms import nfkd
from worker.lists import ClaimList, Entry

ListFormat: TypeAlias = Literal["csv", "xlsx", "jsonl"]

_PIECE = 64 * 1024  # bytes
# What some system does not take in the name of a file.
_NO_NAME = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+')
_LONGEST_STEM = 100  # characters
_ID = "0" * 32
_OF_ROW = ("finished_at", "link", "text_sentence", "same_as_row")
_UNFINISHED = Problem("not_checked", "Not checked yet.", "Export the list again when it is done.")


@dataclass(frozen=True, slots=True)
class ListExport:
    """A file format; ``label``: what pages call it; ``write`` yields the pieces of the file."""

    label: str
    suffix: str
    media_type: str
    write: Callable[[Iterable[CheckedRow], ClaimList], Iterator[bytes]]


def exported(name: ListFormat, claims: ClaimList) -> Iterator[bytes]:
    """Yield the pieces of the file, while the rows are read from the database."""
    source = services().lists.source_text(claims.id)
    # With an id that is replaced: a row needs no request to know its address.
    page = url_for("pages.claim", job_id=_ID, _external=True)
    made = partial(_checked_row, services().paths, source.text if source else "", page)
    return LIST_EXPORTS[name].write(map(made, services().lists.all_entries(claims.id)), claims)


def file_names(claims: ClaimList, suffix: str) -> tuple[str, str]:
    """Return what the file is called, in ASCII and in whole: as the one that came in.

    Without one, or where nothing of its name is left, the id of the list is in it.
    """
    stem = PurePosixPath(claims.imported_from.file.replace("\\", "/")).stem
    whole = _NO_NAME.sub("-", stem).strip(" .-")[:_LONGEST_STEM]
    plain = nfkd(whole).encode("ascii", "ignore").decode().strip(" .-")
    by_id = f"list-{claims.id}.{suffix}"
    return (
        f"{plain}-verdicts.{suffix}" if plain else by_id,
        f"{whole}-verdicts.{suffix}" if whole else by_id,
    )


def _checked_row(paths: ServerPaths, text: str, page: str, entry: Entry) -> CheckedRow:
    problem = entry.problem or (None if entry.result else _UNFINISHED)
    if problem is not None and entry.state == "failed":
        problem = paths.hidden_in_problem(problem)
    return CheckedRow(
        entry.claim,
        dict(entry.others),
        entry.result,
        problem,
        finished_at=entry.checked_at.isoformat(timespec="seconds") if entry.checked_at else "",
        link=page.replace(_ID, entry.claim_id) if entry.claim_id else "",
        text_sentence=" ".join(text[slice(*entry.said)].split()) if entry.said else "",
        same_as_row=entry.same_as,
    )


def _table(rows: Iterable[CheckedRow], claims: ClaimList) -> Iterator[list[object]]:
    imported_from = claims.imported_from
    return verdict_table(
        rows, claims.columns, imported_from.column or "claim", imported_from.before
    )


def _csv(rows: Iterable[CheckedRow], claims: ClaimList) -> Iterator[bytes]:
    form = claims.imported_from
    pieces = csv_pieces(_table(rows, claims), form.separator, form.decimal_mark)
    return (piece.encode() for piece in pieces)


def _xlsx(rows: Iterable[CheckedRow], claims: ClaimList) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        write_xlsx(file, _table(rows, claims))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _json_lines(rows: Iterable[CheckedRow], claims: ClaimList) -> Iterator[bytes]:
    """Yield a line for each row, as `esoteric batch` writes them, with what is known of the row."""
    for row in rows:
        line: dict[str, Any] = {"claim": row.claim}
        if row.result is not None:
            line = row.result.document()
        elif row.problem is not None:
            line["error"] = asdict(row.problem)
        if row.others:
            line["row"] = row.others
        known = {name: getattr(row, name) for name in _OF_ROW}
        line |= {name: value for name, value in known.items() if value}
        yield encoded_line(line)


LIST_EXPORTS: dict[ListFormat, ListExport] = {
    "csv": ListExport("CSV", "csv", "text/csv", _csv),
    "xlsx": ListExport(
        "Excel", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _xlsx
    ),
    "jsonl": ListExport("JSON lines", "jsonl", "application/x-ndjson", _json_lines),
}
