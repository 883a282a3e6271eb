"""Converted networks are kept, checked when they are opened, and replaced when they are old."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.networks import converted_layers, converted_words
from settings import CHECKOUT
from tests.retrieval.models.networks.tiny import PLACES, TinyBase

_CONVERT = """
import sys
from pathlib import Path
from retrieval.models import runtime
from retrieval.models.networks import converted_layers
from tests.retrieval.models.networks.tiny import PLACES, TinyBase
runtime.keep_in(Path(sys.argv[1]))
base = TinyBase()
print(converted_layers("relevance", base, base.weights, "1", PLACES, first_only=False))
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "networks"
    monkeypatch.setattr(runtime, "_kept", folder)
    return folder


def converted(base: TinyBase, name: str = "relevance", key: str = "1") -> Path:
    return converted_layers(name, base, base.weights, key, PLACES, first_only=False)


def test_a_network_is_converted_once_and_read_again(kept: Path) -> None:
    base = TinyBase()
    first = converted(base)
    assert first.parent == kept
    assert base.read == 1
    assert converted(base) == first
    assert base.read == 1


def test_a_damaged_file_is_converted_anew(kept: Path) -> None:
    base = TinyBase()
    path = converted(base)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:100] + b"!" + whole[101:]):
        path.write_bytes(damaged)
        assert converted(base) == path
        assert path.read_bytes() == whole
    assert base.read == 4


def test_a_file_of_another_version_is_kept_until_nothing_opened_it_for_a_month(
    kept: Path,
) -> None:
    base = TinyBase()
    other = converted(base, name="path")
    first, second = converted(base, key="1"), converted(base, key="2")
    assert sorted(kept.glob("*.onnx")) == sorted([other, first, second])
    month_ago = time.time() - 31 * 24 * 3600
    for path in (other, first, second):
        os.utime(path, (month_ago, month_ago))
    assert converted(base, key="1") == first  # which is a use
    third = converted(base, key="3")
    assert sorted(kept.glob("*.onnx")) == sorted([other, first, third])


@pytest.mark.server
def test_processes_that_convert_the_same_at_once_all_get_whole_files(kept: Path) -> None:
    command = [sys.executable, "-c", _CONVERT, str(kept)]
    running = [subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE) for _ in range(2)]
    paths = {process.communicate(timeout=120)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0]
    (path,) = paths
    assert [str(kept_path) for kept_path in kept.glob("*.onnx")] == [path.decode().strip()]


@pytest.mark.parametrize(
    ("base", "places", "first_only"),
    [
        (TinyBase(sha256="6" * 64), PLACES, False),
        (TinyBase(), 8, False),
        (TinyBase(), PLACES, True),
    ],
)
def test_of_other_base_weights_places_or_states_it_is_another_network(
    kept: Path, base: TinyBase, places: int, first_only: bool
) -> None:
    before = converted(TinyBase())
    after = converted_layers("relevance", base, base.weights, "1", places, first_only)
    assert sorted(kept.glob("*.onnx")) == sorted([before, after])
    assert before != after


def test_word_embeddings_are_kept_as_the_base_has_them(kept: Path) -> None:
    base = TinyBase()
    path = converted_words(base)
    expected = base.weights()["embeddings.word_embeddings.weight"]
    assert np.array_equal(np.load(path, mmap_mode="r"), expected)
    read = base.read
    assert converted_words(base) == path
    assert base.read == read
    assert list(kept.glob("*.npy")) == [path]


def test_where_no_folder_is_named_a_process_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_kept", None)
    base = TinyBase(name="nowhere")
    path = converted(base, name="nowhere")
    assert path.is_file()
    assert converted(base, name="nowhere") == path
    assert base.read == 1


def test_a_folder_that_cannot_be_written_is_named_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file and no folder")
    monkeypatch.setattr(runtime, "_kept", tmp_path / "home" / "networks")
    with pytest.raises(ModelUnavailable, match="cannot be written into") as refused:
        converted(TinyBase())
    assert refused.value.hint.startswith("Make that folder writable")
    assert "ESOTERIC_HOME" in refused.value.hint


def test_a_full_disk_is_named_with_a_hint(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        path.with_name(f"{path.name}.partial").write_bytes(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runtime, "write_whole", full)
    with pytest.raises(ModelUnavailable, match="No space left on device") as refused:
        converted(TinyBase())
    assert refused.value.hint.startswith("Make room")
    assert [path.name for path in kept.iterdir()] == ["relevance.lock"]
