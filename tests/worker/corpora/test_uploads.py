"""What is taken of an upload, and which uploads are refused."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path
from threading import Thread

import pytest

from tests.worker.corpora.conftest import MOST, index, upload
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused


def zipped(
    *files: tuple[str, bytes], mode: int = 0, packed_by: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, said in files:
            member = zipfile.ZipInfo(name, (2024, 3, 5, 12, 0, 0))
            member.external_attr = mode << 16
            archive.writestr(member, said, packed_by)
    return content.getvalue()


def misplaced() -> bytes:
    """A zip whose directory is said to be later than it is, so that its file begins before it."""
    whole = bytearray(zipped(("x.txt", b"Ships go.")))
    whole[-6:-2] = (whole.index(b"PK\x01\x02") + 40).to_bytes(4, "little")
    return bytes(whole)


def damaged(packed_by: int) -> bytes:
    """A zip whose directory is whole, but not the data of its file."""
    name = "x.txt"
    whole = bytearray(zipped((name, bytes(range(256)) * 20), packed_by=packed_by))
    data = 30 + len(name)  # after the header of the file
    whole[data + 8 : data + 40] = b"\xff" * 32
    return bytes(whole)


def test_a_zip_is_unpacked_with_its_folders_and_dates_and_says_what_it_leaves_out(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    packed = zipped(
        ("2024/a.txt", b"Ships go."), ("2024/b.exe", b"MZ"), ("__MACOSX/2024/._a.txt", b"x")
    )
    upload(store, name, papers_zip=packed)
    index(store, name)
    found = store.get(name)
    assert [one.name for one in found.files] == ["2024/a.txt"]
    assert found.left_out == ("“2024/b.exe” is not of a format that is read.",)
    assert found.text_date == "2024-03-05"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (zipped(("../../etc/cron.d/x.txt", b"Ships go.")), "zip_path"),
        (zipped(("/etc/x.txt", b"Ships go.")), "zip_path"),
        (zipped(("..\\x.txt", b"Ships go.")), "zip_path"),
        (zipped(("x.txt", bytes(11 * MOST))), "zip_too_large"),
        (b"PK\x03\x04 and no more", "bad_zip"),
        (misplaced(), "bad_zip"),
        (damaged(zipfile.ZIP_DEFLATED), "bad_zip"),
        (damaged(zipfile.ZIP_LZMA), "bad_zip"),
        (damaged(zipfile.ZIP_BZIP2), "bad_zip"),
        (zipped(("x.txt", b"Ships go."), ("x.txt/y.txt", b"Ships come.")), "name_taken"),
        (zipped(("a.txt", b"Ships go."), (("d" * 99 + "/") * 60 + "x.txt", b"A")), "path_too_long"),
        (zipped(("a.txt", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), "no_document"),
        (zipped(), "no_document"),
    ],
)
def test_a_hostile_zip_is_refused_and_nothing_is_taken(
    store: CorpusStore, tmp_path: Path, content: bytes, code: str
) -> None:
    name = store.make("Papers")
    with pytest.raises(CorpusRefused) as refused:
        upload(store, name, papers_zip=content)
    assert refused.value.code == code
    assert store.get(name).files == ()
    assert sorted(path.name for path in (tmp_path / "documents").iterdir()) == [name]


def test_an_upload_above_the_limit_is_refused(store: CorpusStore) -> None:
    name = store.make("Papers")
    with pytest.raises(CorpusRefused, match="larger than 1 MB"):
        upload(store, name, a_txt=bytes(600_000), b_txt=bytes(600_000))
    assert store.get(name).files == ()


def test_several_zips_of_one_upload_have_one_limit_of_bytes_and_of_files(
    store: CorpusStore,
) -> None:
    name = store.make("Papers")
    large = zipped(("a.txt", bytes(6 * MOST)))
    many = zipped(*((f"{number}.txt", b"") for number in range(1100)))
    for packed in (large, many):
        with pytest.raises(CorpusRefused) as refused:
            upload(store, name, first_zip=packed, second_zip=packed)
        assert refused.value.code == "zip_too_large"
    upload(store, name, first_zip=large)
    assert [one.name for one in store.get(name).files] == ["a.txt"]


def test_an_upload_that_a_file_of_before_forbids_changes_nothing(store: CorpusStore) -> None:
    name = store.make("Papers")
    upload(store, name, x_txt="Ships go.")
    with pytest.raises(CorpusRefused, match="one name"):
        upload(store, name, a_zip=zipped(("a.txt", b"A"), ("x.txt/y.txt", b"B")))
    assert [one.name for one in store.get(name).files] == ["x.txt"]


def test_uploads_at_the_same_time_are_all_kept(store: CorpusStore) -> None:
    name = store.make("Papers")
    threads = [
        Thread(target=upload, args=[store, name], kwargs={f"n{number}_txt": "Ships go."})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.name for one in store.get(name).files] == [f"n{n}.txt" for n in range(8)]
