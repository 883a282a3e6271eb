"""The one way to get weights: from an installed package, a folder, or a hub.

Whatever cannot be had, or is not what it should be, is a ``ModelUnavailable`` that names the file
and says how to get it.
"""

from __future__ import annotations

import errno
import fcntl
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypeVar

from retrieval.errors import ModelUnavailable
from retrieval.system.files import digest_of

Made = TypeVar("Made")

_FULL = (errno.ENOSPC, errno.EDQUOT)


def missing(what: str, fix: str) -> ModelUnavailable:
    """Return the error of weights that are not there."""
    return ModelUnavailable("model_missing", what, fix)


def damaged(what: str, fix: str) -> ModelUnavailable:
    """Return the error of weights that are not the expected ones."""
    return ModelUnavailable("model_damaged", what, fix)


def packaged_file(package: str, name: str, fix: str) -> Path:
    """Return the file of an installed package whose name begins with ``name``.

    Raises:
        ModelUnavailable: the package is not installed, or has no such file.
    """
    try:
        files = distribution(package).files or []
    except PackageNotFoundError as error:
        raise missing(f"The package {package} is not installed.", fix) from error
    paths = (Path(str(file.locate())) for file in files if file.name.startswith(name))
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise missing(f"The package {package} contains no {name}.", fix)
    return path


def checked(path: Path, digest: str, fix: str) -> Path:
    """Return the file if it has this SHA-256.

    Raises:
        ModelUnavailable: it is missing or another one.
    """
    try:
        found = digest_of(path)
    except OSError as error:
        raise missing(f"The model file {path} is missing.", fix) from error
    if found != digest:
        raise damaged(f"The model file {path} is not the expected one.", fix)
    return path


def made_once(kept: Callable[[], Made | None], make: Callable[[], Made], lock: Path) -> Made:
    """Return ``kept()`` if it exists, otherwise what ``make`` makes; one process makes it."""
    found = kept()
    if found is None:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            found = kept() or make()  # another process may have been faster
    return found


@contextmanager
def storing(what: str, folder: Path, room: str) -> Iterator[None]:
    """Turn the errors of a disk in this block into one.

    ``what`` begins its message, as "X cannot be unpacked".

    Raises:
        ModelUnavailable: the folder is full or cannot be written; ``room`` is what it needs.
    """
    try:
        yield
    except OSError as error:
        raise missing(
            f"{what} into {folder}: {error.strerror}.",
            f"Make room for {room} there, or set ESOTERIC_HOME to a folder with room."
            if error.errno in _FULL
            else "Make that folder writable, or set ESOTERIC_HOME to one that is.",
        ) from error


def hub_commit(repository: str, branch: str, fix: str) -> str:
    """Return the commit that a branch of the hub is at now.

    Raises:
        ModelUnavailable: the hub cannot be reached, or does not have it.
    """
    import huggingface_hub

    with _reaching(repository, fix):
        return str(huggingface_hub.HfApi().model_info(repository, revision=branch).sha)


def fetch_from_hub(
    repository: str, commit: str, folder: Path, files: Sequence[str], fix: str
) -> None:
    """Fetch those of these files that the folder lacks, as they are at this commit.

    Raises what ``hub_commit`` raises, and ``OSError`` if the folder cannot be written.
    """
    import huggingface_hub

    with _reaching(repository, fix):
        huggingface_hub.snapshot_download(
            repository, revision=commit, local_dir=folder, allow_patterns=list(files)
        )


def named_on_hub(repository: str, files: Sequence[str]) -> Path | None:
    """Return the folder with these files of a repository, ``None`` if it cannot be had.

    What is in the hub's cache is used without a request.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    patterns = list(files)
    try:
        try:
            return Path(
                snapshot_download(repository, allow_patterns=patterns, local_files_only=True)
            )
        except LocalEntryNotFoundError:
            return Path(snapshot_download(repository, allow_patterns=patterns))
    except Exception:  # no network, no such model, no space, ...
        return None


@contextmanager
def _reaching(repository: str, fix: str) -> Iterator[None]:
    """Turn the errors of the hub's client in this block into one."""
    import httpx2
    from huggingface_hub import constants
    from huggingface_hub.utils import logging
    from huggingface_hub.utils.tqdm import disable_progress_bars

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        yield
    except (httpx2.HTTPError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # an error of the disk
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelUnavailable(
            "hub_unreachable",
            f"{repository} cannot be fetched from {constants.ENDPOINT} ({reason}).",
            fix,
        ) from error
