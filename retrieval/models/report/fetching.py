"""Fetches the report's models from a hub, and records or compares their files.

This project contains no revision and no digest of these models. The first fetch records the commit
of the branch on the hub and the SHA-256 of each file in ``models.lock.json``. From then on every
fetch and every load requires the same commit and the same files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from retrieval.errors import ModelUnavailable
from retrieval.models.report.models import REPORT_MODELS, PublishedModel
from retrieval.models.report.pinned_files import (
    FETCHED,
    LOCK,
    WEIGHTS,
    LockedModel,
    files_of,
    read_lock,
    verify,
    write_lock,
)
from retrieval.models.weights import fetch_from_hub, hub_commit

_BY_HAND = (
    "Check the connection, or copy the folders from a computer that can reach it"
    " (docs/report-models.md), and run the command again."
)


def fetch(models: Path, shared: Path | None, on_model: Callable[[str], None]) -> None:
    """Fetch all models into the folder ``models`` and compare them with the lock.

    A folder that exists but is not in the lock was placed by hand; its files are recorded as they
    are. After an interruption, the same call keeps the complete files and fetches the rest.

    Args:
        models: the folder of the report's models; it is created if missing.
        shared: a lock file to use, which is copied into the folder.
        on_model: called with the name of each model before the work on it.

    Raises:
        ModelUnavailable: the hub cannot be reached or lacks a file, or a file differs from the
            lock.
        OSError: the folder cannot be written.
    """
    models.mkdir(parents=True, exist_ok=True)
    if shared is not None:
        if not shared.is_file():
            raise ModelUnavailable(
                "lock_missing",
                f"There is no lock file {shared}.",
                "Name the file, or leave it out.",
            )
        write_lock(models / LOCK, read_lock(shared))
    for published in REPORT_MODELS:
        on_model(published.name)
        bring(models, published)


def bring(models: Path, published: PublishedModel) -> None:
    """Fetch one model into the folder ``models``, which exists, and compare it with the lock.

    Raises what ``fetch`` raises.
    """
    name, folder = published.name, models / published.name
    locked = read_lock(models / LOCK).get(name)
    found = files_of(folder)
    if locked is None and WEIGHTS in found:
        _record(models, name, LockedModel("", "", found))
        return
    if locked is not None and locked.files:
        added_or_changed = found.items() - locked.files.items()
        complete = found.keys() == locked.files.keys()
        if added_or_changed or complete:
            verify(models, name)
            return
    if locked is None or not locked.revision:
        commit = hub_commit(published.repository, published.branch, _BY_HAND)
        files = {} if locked is None else locked.files
        locked = LockedModel(published.repository, commit, files)
        _record(models, name, locked)
    fetch_from_hub(published.repository, locked.revision, folder, FETCHED, _BY_HAND)
    found = files_of(folder)
    if WEIGHTS not in found:
        if not locked.files:  # so that files which are put there later count as placed by hand
            entries = read_lock(models / LOCK)
            del entries[name]
            write_lock(models / LOCK, entries)
        raise ModelUnavailable(
            "model_pickled",
            f"{published.repository} contains no {WEIGHTS} at {locked.revision}; weights in other"
            " formats are not read, because they can contain code.",
            f"If you trust them, convert them to {folder / WEIGHTS} (docs/report-models.md), and"
            " run the command again.",
        )
    if not locked.files:
        _record(models, name, LockedModel(locked.repository, locked.revision, found))
    verify(models, name)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # temporary files of the download


def record_own(models: Path, published: PublishedModel) -> None:
    """Lock the files of a model's folder as they are, like those of a folder placed by hand."""
    _record(models, published.name, LockedModel("", "", files_of(models / published.name)))


def _record(models: Path, name: str, entry: LockedModel) -> None:
    entries: Mapping[str, LockedModel] = read_lock(models / LOCK)
    write_lock(models / LOCK, {**entries, name: entry})
