"""Addresses of the static files, with a digest of their content in them.

A browser may keep such a file for a year: a file with new content has a new address.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from flask import url_for


class Assets:
    """The static files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._digests = {
            path.name: sha256(path.read_bytes()).hexdigest()[:12]
            for path in sorted(folder.iterdir())
            if path.is_file()
        }

    def address(self, name: str) -> str:
        """Return the address of a file.

        Raises:
            KeyError: there is no such file.
        """
        return url_for("static", filename=name, v=self._digests[name])
