"""Converted networks are kept, checked when they are opened, and replaced when they are old."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.networks import conversion, runtime
from retrieval.networks.conversion import converted_layers, converted_words
from tests.networks.tiny import PLACES, TinyBase


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "networks"
    monkeypatch.setattr(runtime, "_kept", folder)
    return folder


def converted(base: TinyBase, name: str = "reader", key: str = "1") -> Path:
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


def test_a_network_of_another_key_replaces_the_one_before(kept: Path) -> None:
    base = TinyBase()
    other = converted(base, name="path")
    before, after = converted(base, key="1"), converted(base, key="2")
    assert before != after
    assert sorted(kept.iterdir()) == sorted([other, after])


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
    after = converted_layers("reader", base, base.weights, "1", places, first_only)
    assert list(kept.iterdir()) == [after]
    assert before != after


def test_word_embeddings_are_kept_as_the_base_has_them(kept: Path) -> None:
    base = TinyBase()
    path = converted_words(base)
    expected = base.weights()["embeddings.word_embeddings.weight"]
    assert np.array_equal(np.load(path, mmap_mode="r"), expected)
    read = base.read
    assert converted_words(base) == path
    assert base.read == read
    assert list(kept.iterdir()) == [path]


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
    with pytest.raises(ModelUnavailable, match="cannot be kept in") as refused:
        converted(TinyBase())
    assert refused.value.hint.startswith("Make that folder writable")
    assert "ESOTERIC_HOME" in refused.value.hint


def test_a_full_disk_is_named_with_a_hint(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(conversion, "write_whole", full)
    with pytest.raises(ModelUnavailable, match="No space left on device") as refused:
        converted(TinyBase())
    assert refused.value.hint.startswith("Make room")
