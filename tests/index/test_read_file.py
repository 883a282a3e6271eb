from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.read_file import ReadFile


# Of 600 kB; and of so few bytes that the file is read when it is opened.
@pytest.mark.parametrize("size", [600_000, 1000])
def test_ranges_of_a_file_come_back_in_their_order(tmp_path: Path, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    path = tmp_path / "file"
    path.write_bytes(content)
    file = ReadFile(path)
    assert file.between(10, 20) == content[10:20]
    ranges = [(size - 7, size), (0, 5), (500, 500), (3, 900)]
    assert file.each_between(ranges) == [content[a:b] for a, b in ranges]
    path.unlink()
    assert file.between(size - 3, size) == content[-3:]


def test_many_small_files_keep_no_handle(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"alder birch cedar")
    before = len(list(Path("/dev/fd").iterdir()))
    files = [ReadFile(path) for _ in range(50)]
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert {file.between(6, 11) for file in files} == {b"birch"}


def test_a_file_that_is_missing_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ReadFile(tmp_path / "none")
