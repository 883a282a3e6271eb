"""Uploads: whatever files and zips are called and hold, they stay in their folder and are said."""

from __future__ import annotations

import io
import struct
import tempfile
import unicodedata
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.hostile.strategies import quickly, texts, whole
from tests.hostile.test_claims import assert_said
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused
from worker.corpora.uploads import Upload, receive

MOST = 200_000
SAID = b"Ships go."
NAMES = (
    *("../../x.txt", "/etc/passwd.txt", "..\\..\\x.txt", "C:\\x.txt", "\\\\host\\x.txt"),
    *("CON.txt", "nul.txt", "LPT1.txt", ".hidden.txt", ". ./x.txt", "\u200b../x.txt", "~/x.txt"),
    *("a.txt", "A.TXT", "å.txt", "a\u030a.txt", "a\u200b.txt", "\u202etxt.a.txt", "x.txt/y.txt"),
    *("x\0.txt", "\0", "a/" * 400 + "x.txt", "x" * 300 + ".txt", "é" * 300 + ".txt", "a.txt/"),
    *("corpus.json", "../corpus.json", "lock", "a.zip", "a.exe", "%2e%2e/x.txt", "x.txt\n"),
    *(" .txt", "a//b.txt"),
)
names = st.one_of(
    st.sampled_from(NAMES),
    texts.map(lambda text: f"{whole(text)[:400]}.txt"),
)


@contextmanager
def corpus() -> Iterator[tuple[CorpusStore, str, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        store = CorpusStore(Path(folder) / "documents", {})
        yield store, store.make("Papers"), Path(folder)


def zipped(files: list[tuple[str, bytes]]) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w") as archive:
        warnings.simplefilter("ignore")  # about names that come twice
        for name, said in files:
            member = zipfile.ZipInfo(name)
            member.filename = name  # NUL and what comes after it too
            archive.writestr(member, said, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def taken(uploads: list[Upload]) -> list[str] | None:
    """Upload files to a new corpus; return their names there, or ``None`` if they are refused."""
    with corpus() as (store, name, folder):
        try:
            with quickly(), store.receiving() as place:
                received = receive(uploads, place, MOST)
                store.add(name, received.files, received.left_out)
        except CorpusRefused as error:
            assert_said(error)
            assert store.get(name).files == ()
            return None
        finally:
            # Nothing is left beside the corpus, and nothing left its folder.
            assert [path.name for path in folder.iterdir()] == ["documents"]
            assert [path.name for path in (folder / "documents").iterdir()] == [name]
            kept = sorted(path.name for path in (folder / "documents" / name).iterdir())
            assert set(kept) <= {"corpus.json", "digests.json", "files", "lock"}
        found = [one.name for one in store.get(name).files]
        assert store.get(name).title == "Papers"
        for file in found:
            assert unicodedata.is_normalized("NFC", file)
            assert all(unicodedata.category(c)[0] != "C" for c in file)
            assert all(len(part.encode()) <= 255 for part in PurePosixPath(file).parts)
            store.remove_file(name, file)
        return found


@given(st.lists(names, min_size=1, max_size=6))
@example(["x.txt", "x.txt/y.txt"])
@example(["a\u030a.txt", "å.txt"])
def test_files_of_any_name_are_stored_below_their_corpus_or_refused(written: list[str]) -> None:
    taken([Upload(name, io.BytesIO(SAID)) for name in written])


@given(st.lists(st.tuples(names, st.binary(max_size=200)), max_size=6))
@example([("a.txt", b"1"), ("A.TXT", b"2"), ("å.txt", b"3"), ("a\u030a.txt", b"4")])
@example([("\0.txt", SAID)])
@example([("x.txt", SAID), ("inner.zip", zipped([("y.txt", SAID)]))])
def test_a_zip_of_files_of_any_name_is_unpacked_below_its_corpus_or_refused(
    files: list[tuple[str, bytes]],
) -> None:
    taken([Upload("papers.zip", io.BytesIO(zipped(files)))])


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_a_zip_with_other_bytes_anywhere_is_unpacked_or_refused(at: int, other: bytes) -> None:
    content = bytearray(zipped([("a.txt", SAID * 9), ("b/c.txt", bytes(range(99)))]))
    at %= len(content)
    content[at : at + len(other)] = other
    taken([Upload("papers.zip", io.BytesIO(bytes(content)))])


def test_a_zip_in_a_zip_is_not_unpacked() -> None:
    inner = zipped([("y.txt", SAID)])
    assert taken([Upload("a.zip", io.BytesIO(zipped([("x.txt", SAID), ("b.zip", inner)])))]) == [
        "x.txt"
    ]


def test_a_directory_of_a_million_files_is_refused_before_it_is_read() -> None:
    header = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0)
    one = b"PK\x03\x04" + header + b"a"
    entry = b"PK\x01\x02\x14\x00" + header + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a"
    directory = entry * 1_000_000
    end = struct.pack("<HHHHIIH", 0, 0, 65535, 65535, len(directory), len(one), 0)
    content = one + directory + b"PK\x05\x06" + end
    with (
        tempfile.TemporaryDirectory() as folder,
        quickly(),
        pytest.raises(CorpusRefused) as refused,
    ):
        receive([Upload("a.zip", io.BytesIO(content))], Path(folder), len(content))
    assert refused.value.code == "zip_too_large"


def test_a_zip_whose_files_share_their_bytes_is_refused() -> None:
    # As in David Fifield's bomb: many entries name one file, so that 40 kB unpack to gigabytes.
    said = zipped([("a.txt", bytes(MOST))])
    start = said.index(b"PK\x01\x02")
    directory = said[start : said.index(b"PK\x05\x06")] * 500
    end = struct.pack("<HHHHIIH", 0, 0, 500, 500, len(directory), start, 0)
    bomb = said[:start] + directory + b"PK\x05\x06" + end
    assert len(bomb) < 50_000
    assert taken([Upload("a.zip", io.BytesIO(bomb))]) is None
