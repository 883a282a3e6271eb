"""``parquet:PATH``: documents with ``id``, ``text`` and perhaps ``title`` and ``url``, in columns.

Wikipedias are published like this, with whole articles, which are read in passages. Their headings
are lines like any other. Arrow files, as ``datasets`` of Hugging Face saves them, are read too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from io import BufferedReader
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval.corpora import child_process
from retrieval.corpora.child_process import ChildEnded, ChildProcess, ChildTooSlow
from retrieval.corpora.cleaning import reason_of
from retrieval.corpora.corpus import BadPage, Page, check_library
from retrieval.corpora.json_lines import FilesCorpus, opened
from retrieval.corpora.passages import APPENDICES, Block
from retrieval.corpora.records import Fields, pages_of
from retrieval.corpora.sections import sections
from retrieval.errors import BadSource

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

_ROWS = 128  # of a chunk; whole articles have 3 kB on average, and some have 500
_BUFFER = 1 << 20  # bytes; pages of a column are read one by one, not all of them at once
_LARGEST = 64_000_000  # bytes of a chunk
_SECONDS = 60  # that reading a chunk may take
_ARROW_FILE = b"ARROW1"  # first bytes; a stream of Arrow has none of its own
_SMALLER = "Write the file again with shorter texts."


class ParquetCorpus(FilesCorpus):
    """The rows of one file, or of all Parquet and Arrow files in a folder."""

    def __init__(self, place: Path, fields: Fields) -> None:
        """Find the files; ``fields`` are the columns that are read.

        Raises:
            BadSource: there are none, or pyarrow is not installed.
        """
        check_library("pyarrow", "Parquet", "corpora")
        super().__init__("parquet", place, (".parquet", ".arrow"), fields.digest())
        self._fields = fields

    def chunks(self) -> Iterator[tuple[_Chunk, int]]:
        """Yield the rows in order of the files' names."""
        with ChildProcess(__name__) as child:
            for path in self.files:
                size = path.stat().st_size
                given = 0
                for chunk, part in _chunks(path, self._fields, child):
                    yield chunk, int(size * part) - given
                    given = int(size * part)


@dataclass(frozen=True, slots=True)
class ParquetChunk:
    """Some rows of a file; ``first`` is the number of the first, from 1."""

    path: str
    first: int
    rows: RecordBatch
    fields: Fields

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield the documents of each row."""
        names = self.rows.schema.names
        columns = [map(_value, self.rows.column(name)) for name in names]
        for number, values in enumerate(zip(*columns, strict=True), self.first):
            row, where = dict(zip(names, values, strict=True)), f"{self.path}, row {number}"
            yield from pages_of(where, row, self.fields, _paragraphs)


_Chunk: TypeAlias = ParquetChunk | tuple[BadPage]  # rows, or why some cannot be read


def _paragraphs(text: str) -> list[Block]:
    return sections(text.split("\n"), APPENDICES)  # no line is wrapped


def _value(cell: Any) -> Any:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return None


def _chunks(path: Path, fields: Fields, child: ChildProcess) -> Iterator[tuple[_Chunk, float]]:
    """Yield the rows of a file, with the part of it that has been read then."""
    read = 1
    try:
        child.send((path, fields, _ROWS))
        while (answer := child.receive(_SECONDS)) is not None:
            chunk, part = answer
            yield chunk, part
            if isinstance(chunk, ParquetChunk):
                read = chunk.first + chunk.rows.num_rows
    except ChildEnded as error:
        why = "the process that read it was ended, perhaps for lack of memory"
        if isinstance(error, ChildTooSlow):
            why = f"reading it takes more than {_SECONDS} seconds"
        message = f"the rest of the file is left out, because {why}."
        yield _left_out(path, read, message, _SMALLER), 1.0


def serve(connection: Connection) -> None:
    """Read the files that a connection names, until it is closed; ``None`` ends each."""
    while True:
        request = connection.recv()
        try:
            for answer in chain(_rows(*request), [None]):
                connection.send(answer)
        except BadSource as error:
            connection.send(error)


def _rows(path: Path, fields: Fields, count: int) -> Iterator[tuple[_Chunk, float]]:
    """Yield what ``_chunks`` does, in chunks of ``count`` rows."""
    import pyarrow

    # The others reserve memory that they do not use, which counts as used.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_cpu_count(1)
    with opened(path) as stream:
        start = stream.peek(len(_ARROW_FILE))[: len(_ARROW_FILE)]
        is_arrow = path.suffix == ".arrow" or start == _ARROW_FILE
        try:
            table = _ArrowTable(stream, start) if is_arrow else _ParquetTable(stream)
        except (pyarrow.ArrowException, OSError) as error:
            yield _damaged(path, 1, "not a Parquet or Arrow file, or damaged", error), 1.0
            return
        if wrong := _wrong_columns(table.schema, fields):
            names = ", ".join(map(repr, table.schema.names[:20]))
            hint = f"If others of {names} hold them, add: --fields id=NAME,title=NAME,text=NAME."
            yield (BadPage(f"{path}: {wrong}.", hint),), 1.0
            return
        columns = [name for name in dict.fromkeys(astuple(fields)) if _is_kept(table.schema, name)]
        for first, end, batches in table.groups(columns, count):
            left = f"the rows up to {end}" if end else "the rows from here on"
            try:
                for rows in map(_decoded, batches):
                    for chunk in _within_limit(path, first, rows, fields):
                        yield chunk, table.part(first - 1 + rows.num_rows)
                    first += rows.num_rows
            except MemoryError:
                most = f"{child_process.MEMORY >> 20:,} MiB of memory"
                message = f"{left} are left out, because they need more than {most}."
                yield _left_out(path, first, message, _SMALLER), table.part(end)
            except (pyarrow.ArrowException, OSError) as error:
                yield _damaged(path, first, f"damaged; {left} are left out", error), table.part(end)


class _ParquetTable:
    """A Parquet file; a group of rows that is damaged leaves the others readable."""

    def __init__(self, stream: BufferedReader) -> None:
        from pyarrow.parquet import ParquetFile

        self._file = ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
        self.schema: Schema = self._file.schema_arrow

    def groups(
        self, columns: list[str], count: int
    ) -> Iterator[tuple[int, int, Iterable[RecordBatch]]]:
        """Yield the first row, the last row and the rows of each group, ``count`` in a batch."""
        end = 0
        for group in range(self._file.metadata.num_row_groups):
            first = end + 1
            end += self._file.metadata.row_group(group).num_rows
            yield first, end, self._file.iter_batches(count, [group], columns, use_threads=False)

    def part(self, row: int) -> float:
        """Return which part of the file ends with this row."""
        return row / max(int(self._file.metadata.num_rows), 1)


class _ArrowTable:
    """An Arrow file, or a stream of Arrow in a file; all rows are one group without a known end."""

    def __init__(self, stream: BufferedReader, start: bytes) -> None:
        from pyarrow import ipc

        self._stream, self._is_file = stream, start == _ARROW_FILE
        self._reader = (ipc.open_file if self._is_file else ipc.open_stream)(stream)
        self.schema: Schema = self._reader.schema

    def groups(
        self, columns: list[str], count: int
    ) -> Iterator[tuple[int, int, Iterable[RecordBatch]]]:
        yield 1, 0, self._batches(columns, count)

    def _batches(self, columns: list[str], count: int) -> Iterator[RecordBatch]:
        numbers = range(self._reader.num_record_batches) if self._is_file else ()
        for batch in map(self._reader.get_batch, numbers) if self._is_file else self._reader:
            rows = batch.select(columns)
            for first in range(0, rows.num_rows, count):
                # Taken, since a slice would send the whole batch to the other process.
                yield rows.take(list(range(first, min(first + count, rows.num_rows))))

    def part(self, row: int) -> float:
        """Return which part of the file has been read; all of it where reading ends early."""
        size = os.fstat(self._stream.fileno()).st_size
        return self._stream.tell() / max(size, 1) if row else 1.0


def _within_limit(path: Path, first: int, rows: RecordBatch, fields: Fields) -> Iterator[_Chunk]:
    """Yield rows as one chunk, or row by row without those that are too large."""
    if rows.nbytes <= _LARGEST:
        yield ParquetChunk(str(path), first, rows, fields)
        return
    for at in range(rows.num_rows):
        size = rows.slice(at, 1).nbytes
        if size <= _LARGEST:
            yield ParquetChunk(str(path), first + at, rows.take([at]), fields)
        else:
            most = f"at most {_LARGEST / 1e6:,.0f} MB are read."
            message = f"the row has {size / 1e6:,.0f} MB; {most}"
            yield _left_out(path, first + at, message, _SMALLER)


def _wrong_columns(schema: Schema, fields: Fields) -> str:
    """Return what is wrong with the columns, "" if nothing is."""
    for name, numbers in ((fields.id, True), (fields.text, False)):
        if len(schema.get_all_field_indices(name)) != 1:
            return f"no column {name!r}"
        if not _is_kept(schema, name, numbers):
            return f"the column {name!r} does not contain text"
    return ""


def _is_kept(schema: Schema, name: str, numbers: bool = True) -> bool:
    """Return whether there is such a column, once, and it has texts, or ``numbers``."""
    from pyarrow import types

    if len(schema.get_all_field_indices(name)) != 1:
        return False
    kind = schema.field(name).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(is_text or (numbers and (types.is_integer(kind) or types.is_floating(kind))))


def _decoded(rows: RecordBatch) -> RecordBatch:
    """Return the rows with the values of columns that have a dictionary."""
    from pyarrow import RecordBatch, types

    decoded = (c.dictionary_decode() if types.is_dictionary(c.type) else c for c in rows.columns)
    return RecordBatch.from_arrays(list(decoded), rows.schema.names)


def _damaged(path: Path, row: int, what: str, error: Exception) -> tuple[BadPage]:
    return _left_out(path, row, f"{what} ({reason_of(error)}).", "Fetch the file again.")


def _left_out(path: Path, row: int, message: str, hint: str) -> tuple[BadPage]:
    return (BadPage(f"{path}, row {row}: {message}", hint),)
