"""``parquet:PATH``: documents with ``id``, ``title``, ``text`` and perhaps ``url``, in columns.

Wikipedias are published like this, with whole articles, which are read in passages. Their headings
are lines like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval.corpora import child_process
from retrieval.corpora.child_process import ChildEnded, ChildProcess, ChildTooSlow
from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.headings import sections
from retrieval.corpora.json_lines import opened
from retrieval.corpora.page_ids import bad_id
from retrieval.corpora.passages import passages
from retrieval.errors import BadSource
from retrieval.fixes import install_corpora_command

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

_LIBRARY = "pyarrow"
_ROWS = 128  # of a chunk; whole articles have 3 kB on average, and some have 500
_BUFFER = 1 << 20  # bytes; pages of a column are read one by one, not all of them at once
_LARGEST = 64_000_000  # bytes of a chunk
_SECONDS = 60  # that reading a chunk may take
_NEEDED = ("id", "title", "text")
_SMALLER = "Write the file again with shorter texts."


class ParquetCorpus:
    """The rows of one file, or of all ``*.parquet`` files in a folder."""

    date = ""
    language = ""

    def __init__(self, place: Path) -> None:
        """Find the files.

        Raises:
            BadSource: there are none, or pyarrow is not installed.
        """
        if find_spec(_LIBRARY) is None:
            raise BadSource(
                "library_missing",
                f"Parquet files are read with {_LIBRARY}, which is not installed.",
                f"Run: {install_corpora_command()}",
            )
        self._files = [place] if place.is_file() else sorted(place.rglob("*.parquet"))
        if not self._files:
            raise BadSource(
                "source_missing",
                f"{place} contains no .parquet files.",
                "Give a file, or a folder of them: parquet:PATH.",
            )
        self.name = place.resolve().stem if place.is_file() else place.resolve().name
        self.source = f"parquet:{place.resolve()}"

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        digest = hashlib.sha256()
        for path in self._files:
            with opened(path) as stream:
                digest.update(path.name.encode("utf-8", "surrogateescape"))
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

    def size(self) -> int:
        """Return the bytes of the files."""
        return sum(path.stat().st_size for path in self._files)

    def chunks(self) -> Iterator[tuple[ParquetChunk, int]]:
        """Yield the rows in order of the files' names."""
        with ChildProcess(__name__) as child:
            for path in self._files:
                size = path.stat().st_size
                given = 0
                for chunk, part in _chunks(path, child):
                    yield chunk, int(size * part) - given
                    given = int(size * part)


@dataclass(frozen=True, slots=True)
class ParquetChunk:
    """Some rows of a file; ``first`` is the number of the first, from 1.

    ``damage``: why no more rows of this group can be read, ``None`` if they can.
    """

    path: str
    first: int
    rows: RecordBatch | None
    damage: BadPage | None = None

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the documents of each row."""
        if self.rows is not None:
            columns = {name: _values(self.rows.column(name)) for name in self.rows.schema.names}
            for at in range(self.rows.num_rows):
                row = {name: values[at] for name, values in columns.items()}
                yield from _read(row, f"{self.path}, row {self.first + at}")
        if self.damage is not None:
            yield self.damage


def _read(row: dict[str, Any], where: str) -> Iterator[Page | BadPage]:
    number = row["id"]
    page_id = clean(str(number) if isinstance(number, int) else number or "")
    for name in ("title", "text"):
        if not isinstance(row[name], str):
            yield BadPage(f"{where}: no text in the column {name!r}.", "Correct that row.")
            return
    if bad := bad_id(page_id, where):
        yield bad
        return
    title = clean(row["title"]) or page_id
    blocks = sections(row["text"].split("\n"))  # no line is wrapped
    yield from passages(page_id, title, web_address(row.get("url")), blocks)


def _chunks(path: Path, child: ChildProcess) -> Iterator[tuple[ParquetChunk, float]]:
    """Yield the rows of a file, with the part of it that has been read then.

    Another process reads them (``child_process``): a small file may unpack to gigabytes.
    """
    read = 1
    try:
        child.send((path, _ROWS))
        while (answer := child.receive(_SECONDS)) is not None:
            if isinstance(answer, BadSource):
                raise answer
            chunk, part = answer
            yield chunk, part
            read = chunk.first + (chunk.rows.num_rows if chunk.rows is not None else 0)
    except ChildEnded as error:
        why = (
            f"reading it takes more than {_SECONDS} seconds"
            if isinstance(error, ChildTooSlow)
            else "the process that read it was ended, perhaps for lack of memory"
        )
        message = f"{path}, row {read}: the rest of the file is left out, because {why}."
        yield ParquetChunk(str(path), read, None, BadPage(message, _SMALLER)), 1.0


def serve(connection: Connection) -> None:
    """Read the files that a connection names, until it is closed; ``None`` ends each."""
    while True:
        try:
            for answer in _rows(*connection.recv()):
                connection.send(answer)
        except BadSource as error:
            connection.send(error)
        else:
            connection.send(None)


def _rows(path: Path, count: int) -> Iterator[tuple[ParquetChunk, float]]:
    """Yield what ``_chunks`` does, in chunks of ``count`` rows."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    # The others reserve memory that they do not use, which counts as used.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_cpu_count(1)
    with opened(path) as stream:
        try:
            file = ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
        except (pyarrow.ArrowException, OSError) as error:
            yield _damaged(path, 1, "not a Parquet file, or damaged", error), 1.0
            return
        if wrong := _wrong_columns(file):
            bad = BadPage(f"{path}: {wrong}.", "Name the columns id, title, text and url.")
            yield ParquetChunk(str(path), 1, None, bad), 1.0
            return
        columns = [*_NEEDED, *(["url"] if _is_text(file, "url") else [])]
        total, end = max(file.metadata.num_rows, 1), 0
        for group in range(file.metadata.num_row_groups):
            first = end + 1
            end += file.metadata.row_group(group).num_rows
            try:
                for rows in file.iter_batches(count, [group], columns, use_threads=False):
                    for chunk in _within_limit(str(path), first, rows):
                        yield chunk, (first - 1 + rows.num_rows) / total
                    first += rows.num_rows
            except MemoryError:
                message = (
                    f"{path}, row {first}: the rows up to {end} are left out, because they need"
                    f" more than {child_process.MEMORY >> 20:,} MiB of memory."
                )
                yield ParquetChunk(str(path), first, None, BadPage(message, _SMALLER)), end / total
            except (pyarrow.ArrowException, OSError) as error:
                what = f"damaged; the rows up to {end} are left out"
                yield _damaged(path, first, what, error), end / total


def _within_limit(path: str, first: int, rows: RecordBatch) -> Iterator[ParquetChunk]:
    """Yield rows as one chunk, or row by row without those that are too large."""
    if rows.nbytes <= _LARGEST:
        yield ParquetChunk(path, first, rows)
        return
    for at in range(rows.num_rows):
        size = rows.slice(at, 1).nbytes
        if size <= _LARGEST:
            yield ParquetChunk(path, first + at, rows.take([at]))
        else:
            message = (
                f"{path}, row {first + at}: the row has {size / 1e6:,.0f} MB; at most"
                f" {_LARGEST / 1e6:,.0f} MB are read."
            )
            yield ParquetChunk(path, first + at, None, BadPage(message, _SMALLER))


def _wrong_columns(file: ParquetFile) -> str:
    """Return what is wrong with the columns, "" if nothing is."""
    from pyarrow.types import is_integer

    schema = file.schema_arrow
    for name in _NEEDED:
        if len(schema.get_all_field_indices(name)) != 1:
            return f"no column {name!r}"
        number = name == "id" and is_integer(schema.field(name).type)
        if not number and not _is_text(file, name):
            return f"the column {name!r} does not contain text"
    return ""


def _is_text(file: ParquetFile, name: str) -> bool:
    from pyarrow.types import is_large_string, is_string, is_string_view

    schema = file.schema_arrow
    if len(schema.get_all_field_indices(name)) != 1:
        return False
    kind = schema.field(name).type
    return bool(is_string(kind) or is_large_string(kind) or is_string_view(kind))


def _values(column: Any) -> list[Any]:
    """Return the values of a column, ``None`` for those that are not UTF-8."""
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        values = [_value(cell) for cell in column]
    return values


def _value(cell: Any) -> Any:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return None


def _damaged(path: Path, row: int, what: str, error: Exception) -> ParquetChunk:
    reason = " ".join(str(error).split()).rstrip(".")
    bad = BadPage(f"{path}, row {row}: {what} ({reason}).", "Fetch the file again.")
    return ParquetChunk(str(path), row, None, bad)
