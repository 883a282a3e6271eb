"""Folders and files that only this user can read: they hold claims, or the ids that open them."""

from __future__ import annotations

from pathlib import Path

_FOLDER, _FILE = 0o700, 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents for this user alone; one that exists is left as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(_FOLDER, exist_ok=True)


def make_private_file(file: Path) -> None:
    """Make an empty file for this user alone; one that exists is left as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not file.exists():
        file.touch(_FILE)
