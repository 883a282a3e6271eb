"""Takes files that somebody uploads: their names, their sizes, and what is in a zip.

What they say is read later, by the indexing; here only what could harm the disk is refused.
"""

from __future__ import annotations

import errno
import lzma
import os
import stat
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from retrieval.corpora.folder.document import BY_SUFFIX
from retrieval.system.fixes import install_service_command
from retrieval.text.word_forms import nfc
from retrieval.words import counted
from worker.corpora.errors import CorpusRefused

SUFFIXES = (*BY_SUFFIX, ".zip")
_MOST_FILES = 2000  # of an upload, with those in zips
_UNPACKS_TO = 10  # times the largest upload
# In a zip, those of zips in it too. ``zipfile`` keeps a kilobyte for each entry of its directory.
_MOST_ENTRIES = 50_000
_ENTRY = b"PK\x01\x02"  # an entry of a directory begins so
_LONGEST_NAME = 120  # characters; those of UTF-8 may have four bytes, and a file system allows 255
_BLOCK = 1 << 20
_MOST_NAMED = 20  # files that were not taken
_BAD_ZIP = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError),
    IndexError,  # a member has no name
)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as a browser sends it; ``modified``: when it was last modified, if it says so."""

    name: str
    content: IO[bytes]
    modified: float | None = None


@dataclass(slots=True)
class Received:
    """The files that were taken, with the names that they shall have, and a line on each other."""

    files: list[tuple[str, Path]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Unpacked:
    """How many files and bytes an upload has so far, its zips unpacked; ``most``: bytes allowed."""

    most: int
    files: int = 0
    size: int = 0

    def add(self, files: int, size: int) -> None:
        self.files += files
        self.size += size
        if self.files > _MOST_FILES or self.size > self.most:
            raise CorpusRefused(
                "zip_too_large",
                f"Unpacked, the upload has at least {counted(self.files, 'file')} and"
                f" {_megabytes(self.size)} in all; at most {_MOST_FILES:,} files and"
                f" {_megabytes(self.most)} are taken. Nothing was kept.",
                "Upload it in parts, and leave out a file that unpacks to very much.",
            )


def receive(uploads: Iterable[Upload], into: Path, most: int) -> Received:
    """Write the files of an upload into a folder, those of a zip one by one.

    ``most``: the largest upload in bytes.

    Raises:
        CorpusRefused: it is too large, is no zip, or has no file that can be taken.
        OSError: the disk is full or cannot be written.
    """
    received = Received()
    room, unpacked = most, _Unpacked(_UNPACKS_TO * most)
    for upload in uploads:
        name = _plain(upload.name.replace("\\", "/").rpartition("/")[2])
        path = into / f"{len(received.files)}-upload"
        size = _copy(upload.content, path, room, most)
        room -= size
        if name.lower().endswith(".zip"):
            _unpack(name, path, into, unpacked, received)
            path.unlink()
            continue
        unpacked.add(1, size)
        if _is_taken(name, received):
            _date(path, upload.modified)
            received.files.append((name, path))
        else:
            path.unlink()
    _name_once(received)
    if not received.files:
        what = received.left_out[0] if received.left_out else "No file was chosen."
        raise CorpusRefused("no_document", what, f"Choose files of these kinds: {formats()}.")
    more = len(received.left_out) - _MOST_NAMED
    if more > 0:
        received.left_out[_MOST_NAMED:] = [f"{more} more files were left out."]
    return received


def formats() -> str:
    """Return the endings of files that are read, as people list them."""
    return ", ".join(SUFFIXES)


def _name_once(received: Received) -> None:
    """Keep the last of the files that would have one name, and say so."""
    last = dict(received.files)
    for name, path in received.files:
        if last[name] != path:
            received.left_out.append(f"“{name}” came more than once; the last one is taken.")
            path.unlink()
    received.files[:] = [(name, path) for name, path in received.files if last[name] == path]


def _unpack(name: str, path: Path, into: Path, unpacked: _Unpacked, received: Received) -> None:
    damaged = CorpusRefused(
        "bad_zip", f"“{name}” is damaged, or is no zip.", "Pack its files again, or upload them."
    )
    if _entries(path) > _MOST_ENTRIES:
        raise CorpusRefused(
            "zip_too_large", f"“{name}” has more than {_MOST_ENTRIES:,} files.", "Divide it."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            # ``zipfile`` reads no more of a member than it declares.
            unpacked.add(len(members), sum(one.file_size for one in members))
            for member in members:
                _unpack_one(name, archive, member, into, received)
    except _BAD_ZIP as error:
        raise damaged from error
    except OSError as error:
        # Damaged data of bzip2 have no number; a wrong place of a file is an invalid argument.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise damaged from error


def _entries(path: Path) -> int:
    """Return how many entries the directory of a zip has at most."""
    found, before = 0, b""
    with path.open("rb") as content:
        while block := content.read(_BLOCK):
            found += (before + block).count(_ENTRY)
            before = block[1 - len(_ENTRY) :]
    return found


def _unpack_one(
    name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, into: Path, received: Received
) -> None:
    written = member.filename.replace("\\", "/")
    parts = PurePosixPath(written).parts
    if written.startswith("/") or ".." in parts or any(":" in part for part in parts[:1]):
        raise CorpusRefused(
            "zip_path",
            f"“{name}” has a file whose name leads out of its folder: “{_plain(written)[:80]}”.",
            "Pack its files again, with names below one folder.",
        )
    if any(part.startswith((".", "__MACOSX")) for part in parts):
        return  # what a system adds
    inside = "/".join(_plain(part) for part in parts)
    if stat.S_ISLNK(member.external_attr >> 16):
        received.left_out.append(f"“{inside}” is a link.")
    elif member.flag_bits & 1:
        received.left_out.append(f"“{inside}” is encrypted with a password.")
    elif _is_taken(inside, received):
        path = into / f"{len(received.files)}-file"
        with archive.open(member) as content:
            _copy(content, path, member.file_size, member.file_size)
        _date(path, time.mktime((*member.date_time, 0, 0, -1)))
        received.files.append((inside, path))


def _is_taken(name: str, received: Received) -> bool:
    """Return whether a file is of a format that can be read here; if not, say so."""
    kind = BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        received.left_out.append(f"“{name}” is not of a format that is read.")
    elif not kind.installed:
        received.left_out.append(
            f"“{name}” cannot be read, because {kind.library} is not installed. The operator can"
            f" run: {install_service_command()}"
        )
    return kind is not None and kind.installed


def _plain(name: str) -> str:
    """Return a name that every file system can store, without characters that are not seen."""
    seen = "".join(c for c in nfc(name) if unicodedata.category(c)[0] != "C")
    seen = " ".join(seen.replace("/", "_").split()).lstrip(". ") or "file"
    if len(seen) <= _LONGEST_NAME and len(seen.encode()) <= 2 * _LONGEST_NAME:
        return seen
    suffix = PurePosixPath(seen).suffix[:12]
    stem = seen.removesuffix(suffix)
    while len(stem) + len(suffix) > _LONGEST_NAME or len((stem + suffix).encode()) > 240:
        stem = stem[:-1]
    return stem + suffix


def _copy(content: IO[bytes], path: Path, room: int, most: int) -> int:
    """Write a file of at most ``room`` bytes and return its size."""
    size = 0
    with path.open("wb") as stream:
        while block := content.read(_BLOCK):
            size += len(block)
            if size > room:
                raise too_large(most)
            stream.write(block)
        stream.flush()
        os.fsync(stream.fileno())
    return size


def too_large(most: int) -> CorpusRefused:
    """Return the error of an upload that has more bytes than are allowed."""
    return CorpusRefused(
        "upload_too_large",
        f"The upload is larger than {_megabytes(most)}.",
        "Upload fewer files at once; the operator sets the limit with ESOTERIC_MOST_UPLOAD_MB.",
    )


def _date(path: Path, modified: float | None) -> None:
    """Let a file have the time of its last change, unless that cannot be."""
    if modified is not None and 0 < modified <= time.time():
        os.utime(path, (modified, modified))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
