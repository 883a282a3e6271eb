"""``models.lock.json``: the files of the report's models with their SHA-256.

    {"models": {NAME: {"repository": str, "revision": str, "files": {FILE: SHA-256}}}}

``repository`` and ``revision`` (a commit of the hub) are empty for a folder that was placed by
hand. ``files`` is empty while the first download has not ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.system.files import digest_of, write_whole
from retrieval.system.fixes import esoteric_command

LOCK = "models.lock.json"
WEIGHTS = "model.safetensors"
TOKENIZER, SENTENCE_PIECES = "tokenizer.json", "spiece.model"
# All files that are fetched. Weights are safetensors and the rest is data: no file contains code.
FETCHED = (
    "config.json",
    "generation_config.json",
    WEIGHTS,
    TOKENIZER,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    SENTENCE_PIECES,
)


@dataclass(frozen=True, slots=True)
class LockedModel:
    """One model's entry in the lock."""

    repository: str
    revision: str
    files: dict[str, str] = field(default_factory=dict)


def read_lock(path: Path) -> dict[str, LockedModel]:
    """Return the entries of a lock by the names of their models; none if there is no file.

    Raises:
        ModelUnavailable: it is not a lock.
    """
    try:
        models = json.loads(path.read_bytes())["models"]
        return {name: _entry(**entry) for name, entry in models.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(
            "lock_damaged",
            f"{path} is not a lock of models.",
            "Restore it, or delete it to accept the files as they are.",
        ) from error


def _entry(repository: Any, revision: Any, files: Any) -> LockedModel:
    """Return the entry; raises ``TypeError`` if a value has another type."""
    if not all(isinstance(text, str) for text in (repository, revision, *files, *files.values())):
        raise TypeError("an entry contains texts")
    return LockedModel(repository, revision, files)


def write_lock(path: Path, entries: Mapping[str, LockedModel]) -> None:
    """Write a lock atomically.

    Raises:
        OSError: it cannot be written.
    """
    models = {name: asdict(entry) for name, entry in sorted(entries.items())}
    write_whole(path, (json.dumps({"models": models}, indent=1) + "\n").encode())


def files_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder; none if there is no folder.

    Subfolders and hidden files are left out: no model is read from them.
    """
    if not folder.is_dir():
        return {}
    files = (path for path in sorted(folder.iterdir()) if path.is_file())
    return {path.name: digest_of(path) for path in files if not path.name.startswith(".")}


def verify(models: Path, name: str) -> None:
    """Compare one model's files with the lock, byte by byte.

    Raises:
        ModelUnavailable: a file is missing, differs from the lock, or was added.
    """
    locked = read_lock(models / LOCK).get(name, LockedModel("", "")).files
    found = files_of(models / name)
    differing = sorted({file for file, _ in locked.items() ^ found.items()})
    if differing or not locked:
        raise ModelUnavailable(
            "model_damaged",
            f"The model in {models / name} is not the one that {models / LOCK} names:"
            f" {', '.join(differing) or 'there is none'}.",
            "Put the files of the lock back. Or delete the folder, or remove the model from the"
            " lock if the change is meant, and then run:"
            f" {esoteric_command('models fetch report')}",
        )
