"""A list with its verdicts as a file: tables with the columns that came in, or as published."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias

from flask import url_for

from app.http.errors import refusal
from app.http.server_paths import ServerPaths
from app.people.visitor import visitor
from app.result.export import FORMATS
from app.result.published import (
    Published,
    PublishedRow,
    claim_reviews,
    confirmation,
    decided,
    list_page,
)
from app.services import services
from retrieval.claim_lists.verdicts import CheckedRow, csv_pieces, verdict_table, write_xlsx
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import Problem
from retrieval.text.word_forms import nfkd
from worker.feedback_store import Feedback, FeedbackStore
from worker.lists import ClaimList, Entry
from worker.user_store import user_of

ListFormat: TypeAlias = Literal["html", "pdf", "csv", "xlsx", "jsonl", "claimreview"]
MOST_ROWS: dict[ListFormat, int] = {"pdf": 1000}
"""How many rows a file can have, where that is less than a list can."""

_PIECE = 64 * 1024  # bytes
# What some system does not take in the name of a file.
_NO_NAME = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+')
_LONGEST_STEM = 100  # characters
_ID = "0" * 32
_OF_ROW = ("finished_at", "link", "text_sentence", "same_as_row")
_UNFINISHED = Problem("not_checked", "Not checked yet.", "Export the list again when it is done.")


def exported(name: ListFormat, claims: ClaimList) -> Iterator[bytes]:
    """Yield the pieces of the file, while the rows are read from the database.

    Raises:
        RequestRefused: the format cannot hold so many rows, or has none of them.
    """
    most = MOST_ROWS.get(name, claims.total)
    if claims.total > most:
        label = FORMATS[name].label
        raise refusal(
            HTTPStatus.CONFLICT,
            "too_many_for_format",
            f"A {label} holds at most {most:,} rows, and this list has {claims.total:,}.",
            "Export it as a web page, which a browser can print, or divide the list.",
        )
    confirmed = confirmed_in(claims)
    if name == "claimreview" and not any(map(decided, confirmed.values())):
        raise refusal(
            HTTPStatus.CONFLICT,
            "not_confirmed",
            "No person has confirmed that a claim of this list is supported or refuted, and a"
            " ClaimReview is a person's.",
            "Open a row, read its evidence, and agree with the verdict under your name.",
        )
    source = services().lists.source_text(claims.id)
    # With an id that is replaced: a row needs no request to know its address.
    page = url_for("pages.claim", job_id=_ID, _external=True)
    text, owner = source.text if source else "", user_of(claims.owner)
    made = partial(_row, services().paths, text, page, owner, confirmed)
    address = url_for("lists.claims", list_id=claims.id, _external=True)
    return LIST_EXPORTS[name](map(made, services().lists.all_entries(claims.id)), claims, address)


def confirmed_in(claims: ClaimList) -> dict[str, Feedback]:
    """Return who has confirmed the verdicts of a list, by the ids of its claims."""
    given = FeedbackStore(services().database).in_list(claims.id)
    found = {claim_id: confirmation(of, visitor()) for claim_id, of in given.items()}
    return {claim_id: by for claim_id, by in found.items() if by is not None}


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


def _row(
    paths: ServerPaths,
    text: str,
    page: str,
    owner: str | None,
    confirmed: Mapping[str, Feedback],
    entry: Entry,
) -> PublishedRow:
    problem = entry.problem or (None if entry.result else _UNFINISHED)
    if problem is not None and entry.state == "failed":
        problem = paths.hidden_in_problem(problem)
    link = page.replace(_ID, entry.claim_id) if entry.claim_id else ""
    sentence = " ".join(text[slice(*entry.said)].split()) if entry.said else ""
    published = None
    if entry.result and entry.claim_id and entry.checked_at:
        published = Published(
            *(entry.result, link, entry.checked_at, entry.said_by),
            submitted_by=owner,
            by=confirmed.get(entry.claim_id),
        )
    return PublishedRow(
        entry.claim,
        dict(entry.others),
        entry.result,
        problem,
        finished_at=entry.checked_at.isoformat(timespec="seconds") if entry.checked_at else "",
        link=link,
        text_sentence=sentence,
        same_as_row=entry.same_as,
        number=entry.number,
        said=entry.said_by,
        published=published,
    )


def _table(rows: Iterable[CheckedRow], claims: ClaimList) -> Iterator[list[object]]:
    imported_from = claims.imported_from
    return verdict_table(
        rows, claims.columns, imported_from.column or "claim", imported_from.before
    )


def _csv(rows: Iterable[CheckedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
    form = claims.imported_from
    pieces = csv_pieces(_table(rows, claims), form.separator, form.decimal_mark)
    return (piece.encode() for piece in pieces)


def _xlsx(rows: Iterable[CheckedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        write_xlsx(file, _table(rows, claims))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _json_lines(rows: Iterable[CheckedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
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


def _pdf(rows: Iterable[PublishedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
    from app.result.printed import printed_list  # here, as few ask for it

    yield printed_list(rows, claims, page)


LIST_EXPORTS: dict[
    ListFormat, Callable[[Iterable[PublishedRow], ClaimList, str], Iterator[bytes]]
] = {
    "html": list_page,
    "pdf": _pdf,
    "csv": _csv,
    "xlsx": _xlsx,
    "jsonl": _json_lines,
    "claimreview": claim_reviews,
}
