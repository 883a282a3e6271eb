"""``parquet:PATH``: rows of files, and what is wrong with them."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from retrieval.corpora import child_process, corpus, parquet
from retrieval.corpora.child_process import ChildProcess
from retrieval.corpora.corpus import BadPage, Page, Passage
from retrieval.corpora.records import Fields
from retrieval.corpora.sources import open_corpus
from retrieval.errors import BadSource

pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow, which reads and writes Parquet")
files = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.server


def write(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    files.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return path


def row(number: int) -> dict[str, Any]:
    return {"id": str(number), "url": None, "title": f"Lamp {number}", "text": f"Lamp {number}."}


def read(path: Path) -> list[Page | BadPage]:
    return [page for chunk, _ in open_corpus(f"parquet:{path}").chunks() for page in chunk]


def complaints(path: Path) -> list[str]:
    return [page.message for page in read(path) if isinstance(page, BadPage)]


def ids(path: Path) -> list[str]:
    return [page.id for page in read(path) if isinstance(page, Page)]


def test_each_row_is_a_document(tmp_path: Path) -> None:
    text = "It is red.\nIt is old."
    lamp = {"id": "1", "url": "https://example.org/z", "title": "A\nlamp", "text": text, "more": 1}
    bare = {"id": "2", "url": "javascript:alert(1)", "title": "", "text": "", "more": 2}
    path = write(tmp_path / "lamps.parquet", [lamp, bare])
    assert open_corpus(f"parquet:{path}").name == "lamps"
    assert read(path) == [
        Page("1", "A lamp", "https://example.org/z", "It is red. It is old."),
        Page("2", "2", None, ""),
    ]


def test_lines_that_look_like_headings_make_sections(tmp_path: Path) -> None:
    lead = "It stands in the old town of Rowan, beside the harbour. " * 3
    later = "It was moved to the museum of the town in the year after. " * 3
    text = f"{lead}\n\nHistory \n\n{later}\n\nSee also\n Lamps of the far north\n"
    url = "https://example.org/lamp"
    path = write(tmp_path / "lamps.parquet", [row(1) | {"text": text, "url": url}])
    first, second = read(path)
    assert (first.id, first.passage) == ("1#1", Passage("1", 1))
    assert (second.id, second.passage) == ("1#2", Passage("1", 2, ("History",)))
    assert (first.url, second.url) == (url, f"{url}#History")
    assert second.sentences == (later[: len(later) // 3 - 1],) * 3


def test_a_folder_is_read_in_small_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS", 2)
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "1.parquet", [row(5)])
    write(tmp_path / "a.parquet", [row(n) for n in range(5)], row_group_size=3)
    corpus = open_corpus(f"parquet:{tmp_path}")
    chunks = list(corpus.chunks())
    assert [chunk.rows.num_rows for chunk, _ in chunks] == [2, 1, 2, 1]
    assert [chunk.first for chunk, _ in chunks] == [1, 3, 4, 1]
    assert sum(size for _, size in chunks) == corpus.size()
    assert chunks == list(open_corpus(f"parquet:{tmp_path}").chunks())
    assert ids(tmp_path) == ["0", "1", "2", "3", "4", "5"]


def test_bad_rows_and_other_columns_are_reported(tmp_path: Path) -> None:
    texts = pyarrow.array([b"Red.", None, b"Old.", b"New.", b"\xff"]).view(pyarrow.string())
    columns = {"id": ["", "2", None, "4", "5"], "title": list("ABCDE"), "text": texts}
    path = tmp_path / "lamps.parquet"
    files.write_table(pyarrow.table(columns), path)
    assert ids(path) == ["4"]
    assert complaints(path) == [
        f"{path}, row 1: the id is empty.",
        f"{path}, row 2: no text under 'text'.",
        f"{path}, row 3: no text under 'id'.",
        f"{path}, row 5: no text under 'text'.",
    ]
    path.unlink()
    write(tmp_path / "b.parquet", [row(1)])
    for more, complaint in (
        ({}, "no column 'text'"),
        ({"text": ["A"]}, "the column 'text' does not contain text"),
    ):
        path = write(tmp_path / "a.parquet", [{"id": "1", "title": "A", **more}])
        assert complaints(tmp_path) == [f"{path}: {complaint}."]
        assert ids(tmp_path) == ["1"]


def test_damaged_files_and_groups_of_rows_are_reported(tmp_path: Path) -> None:
    rows = [row(n) for n in range(6)]
    path = write(tmp_path / "a.parquet", rows, row_group_size=2, use_dictionary=False)
    write(tmp_path / "b.parquet", [row(7)])
    content = bytearray(path.read_bytes())
    column = files.read_metadata(path).row_group(1).column(3)
    begin = column.data_page_offset
    content[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    (complaint,) = complaints(tmp_path)
    assert complaint.startswith(f"{path}, row 3: damaged; the rows up to 4 are left out (")
    assert ids(tmp_path) == ["0", "1", "4", "5", "7"]
    path.write_bytes(content[:-20])
    (complaint,) = complaints(tmp_path)
    assert complaint.startswith(f"{path}, row 1: not a Parquet or Arrow file, or damaged (")
    assert ids(tmp_path) == ["7"]


def test_too_large_rows_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(1), row(2) | {"text": "o" * 64_000_000}, row(3)]
    path = write(tmp_path / "a.parquet", rows, compression="zstd")
    assert path.stat().st_size < 100_000
    assert complaints(path) == [f"{path}, row 2: the row has 64 MB; at most 64 MB are read."]
    assert ids(path) == ["1", "3"]
    # Rows that need too much memory are left out too.
    monkeypatch.setattr(child_process, "MEMORY", 300 << 20)
    long = "o" * 10_000_000  # 40 rows of it need 400 MB, and some kilobytes of the file
    rows = [row(n) | {"text": long if n in {2, 3} else "It is red."} for n in range(6)]
    table = pyarrow.Table.from_pylist(rows[:2] + rows[2:4] * 20 + rows[4:])
    path = tmp_path / "a.parquet"
    with files.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for begin, count in ((0, 2), (2, 40), (42, 2)):
            writer.write_table(table.slice(begin, count))
    assert path.stat().st_size < 50_000
    write(tmp_path / "b.parquet", [row(7)])
    (complaint,) = complaints(tmp_path)
    why = "because they need more than 300 MiB of memory."
    assert complaint == f"{path}, row 3: the rows up to 42 are left out, {why}"
    assert ids(tmp_path) == ["0", "1", "4", "5", "7"]


ENDED = {
    signal.SIGKILL: "the process that read it was ended, perhaps for lack of memory",
    signal.SIGSTOP: "reading it takes more than 0.3 seconds",
}


@pytest.mark.parametrize(("sent", "why"), ENDED.items())
def test_the_rest_of_a_file_is_left_out_if_its_process_ends_or_is_too_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals, why: str
) -> None:
    processes: list[ChildProcess] = []

    def noted(module: str) -> ChildProcess:
        processes.append(ChildProcess(module))
        return processes[-1]

    monkeypatch.setattr(parquet, "ChildProcess", noted)
    # More than a pipe holds, so that the process waits.
    path = write(tmp_path / "a.parquet", [row(n) | {"text": "red " * 300} for n in range(5000)])
    write(tmp_path / "b.parquet", [row(7)])
    found: list[Page | BadPage] = []
    for chunk, _ in open_corpus(f"parquet:{tmp_path}").chunks():
        found += chunk
        if len(found) == 128:
            os.kill(processes[0].pid, sent)
            monkeypatch.setattr(parquet, "_SECONDS", 0.3)
        if isinstance(found[-1], BadPage):
            monkeypatch.undo()
    (bad,) = (page for page in found if isinstance(page, BadPage))
    said = f"the rest of the file is left out, because {why}."
    assert bad.message == f"{path}, row {len(found) - 1}: {said}"
    assert found[-1].id == "7"


def arrow(path: Path, table: Any, *, stream: bool, rows: int = 3) -> Path:
    writing = pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file
    with writing(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("stream", [True, False])
def test_data_sets_that_hugging_face_has_saved_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setattr(parquet, "_ROWS", 2)
    (tmp_path / "train").mkdir()
    table = pyarrow.Table.from_pylist([row(number) for number in range(7)])
    path = arrow(tmp_path / "train" / "data-00000-of-00001.arrow", table, stream=stream)
    (tmp_path / "train" / "state.json").write_text("{}")
    assert ids(tmp_path) == [str(number) for number in range(7)]
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    (complaint,) = complaints(tmp_path)
    assert "damaged" in complaint
    path.write_bytes(b"nonsense")
    (complaint,) = complaints(tmp_path)
    assert "not a Parquet or Arrow file, or damaged" in complaint


def test_columns_may_have_dictionaries_numbers_gaps_and_other_names(tmp_path: Path) -> None:
    columns = {
        "_id": pyarrow.array([7.0, 8.0, None]),
        "title": pyarrow.array(["Lamp", None, "Lamp"]).dictionary_encode(),
        "body": pyarrow.array(["It is red.", "It is old.", "It is old."]).dictionary_encode(),
    }
    fields = Fields.read("id=_id,text=body")
    for path in (
        arrow(tmp_path / "a.arrow", pyarrow.table(columns), stream=True),
        tmp_path / "b.parquet",
    ):
        files.write_table(pyarrow.table(columns), tmp_path / "b.parquet")
        corpus = open_corpus(f"parquet:{path}", fields)
        first, second, third = (page for chunk, _ in corpus.chunks() for page in chunk)
        assert first == Page("7", "Lamp", None, "It is red.")
        assert second == Page("8", "8", None, "It is old.")
        assert third.message == f"{path}, row 3: no text under '_id'."
    (bad,) = read(tmp_path / "b.parquet")
    assert bad.hint.startswith("If others of '_id', 'title', 'body' hold them, add: --fields")


def test_without_pyarrow_an_error_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "find_spec", lambda _: None)
    with pytest.raises(BadSource, match=r"pyarrow, which .*requirements-corpora\.txt"):
        open_corpus(f"parquet:{tmp_path}")
