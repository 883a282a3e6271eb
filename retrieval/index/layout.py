"""Which files an embedded index consists of, and how the current version is found.

index/
  current -> versions/<name>       swapped in one rename when a build is complete
  versions/<time>-<checksum>/      never written again, memory-mapped
    meta.json                      written last: what is here, each file's size and digest
    deleted.npy                    for each document whether it is gone or replaced, bool
    bad_pages.txt                  pages of the source that could not be read
    lexical/                       tantivy, over the documents of all segments; locked for the
                                   moment of opening, so that the folder must be writable
  segments/<time>-<checksum>/      see ``segment``; several versions may share one, and many
                                   small ones become one (``merging``)
  vectors/<time>-<checksum>/       see ``vectors``; those of one segment, likewise
  building-<plan>/                 what an unfinished build has done so far
  gone-building-<plan>/            what is left of one that ended; the next one removes it
  lock                             held while a build runs

A document's number is its number in its segment plus the documents of the segments before.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from retrieval.encoders.document_encoders import DEFAULT_ENCODER, DPR_ENCODER, choice_of
from retrieval.errors import IndexUnavailable
from retrieval.files import digest_of
from retrieval.fixes import esoteric_command
from retrieval.index.versions import FORMAT, META

BUILDING = "building-"
GONE = "gone-"
DELETED = "deleted.npy"
LEXICAL = "lexical"
LOCK = "lock"
SEGMENTS = "segments"
VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Meta:
    """What ``meta.json`` of a version says.

    Attributes:
        encoder: whose vectors there are, "" for an index without vectors.
        meets: the text encoder whose vectors these are compared with, likewise.
        documents: those that are to be found, and ``sentences`` theirs.
        made_by: the name of the work that made it (``building.Begun``).
        segments: their folders' names in order, with how many documents each holds, the
            deleted ones too, and a digest of these.
        vectors: the folders' names of the first segments' vectors, with their digests; of all
            segments in an index that serves, of none if it has no vectors.
        files: bytes and SHA-256 of each file, by its path: ``segments/…`` and ``vectors/…`` below
            the index, any other below the version.
        changed: whether pages were added or removed, which its source alone does not bring back.
    """

    name: str
    source: str
    encoder: str
    meets: str
    documents: int
    sentences: int
    bad_pages: int
    superseded: int
    built_at: str
    made_by: str
    checksum: str
    segments: tuple[tuple[str, int, str], ...]
    vectors: tuple[tuple[str, str], ...]
    files: Mapping[str, tuple[int, str]]
    changed: bool = False

    def needed(self) -> dict[str, list[str]]:
        """Return the names of the folders that the version consists of, by their kind."""
        return {
            SEGMENTS: [name for name, _, _ in self.segments],
            VECTORS: [name for name, _ in self.vectors],
        }

    def mend(self) -> str:
        """Return the hint that names the command which builds the like of this index anew."""
        return rebuild(self.source, self.encoder, self.changed)

    def verify(self, index: Path, version: Path, below: str = "") -> None:
        """Read the ``files`` whose paths begin with ``below`` and compare their digests.

        Raises:
            IndexUnavailable: a file is not what was built.
        """
        for name, (_, digest) in self.files.items():
            if name.startswith(below) and digest_of(file_of(index, version, name)) != digest:
                raise damaged(self.mend(), name)

    def to_json(self) -> bytes:
        """Return what ``read_meta`` reads."""
        return json.dumps({"format": FORMAT} | asdict(self), indent=1).encode("utf-8")


def rebuild(source: str = "vital", encoder: str | None = None, changed: bool = False) -> str:
    """Return the hint that ends with the command which builds an index.

    ``encoder`` and ``changed`` are those of the ``Meta`` of the index that is to be built anew;
    an encoder that is not known is taken for the default one.
    """
    choice = DEFAULT_ENCODER if encoder is None else choice_of(encoder)
    vectors = "" if choice == DEFAULT_ENCODER else f" --vectors {choice}"
    command = esoteric_command(f"index build --source {shlex.quote(source)}{vectors}")
    then = ", and then add and remove again what was added and removed since" if changed else ""
    return f"Run{then}: {command}"


def damaged(mend: str, what: str = "") -> IndexUnavailable:
    """Return the error that says so, with the hint ``mend``; ``what`` names a file."""
    where = f": {Path(what).name} is not whole" if what else ""
    return IndexUnavailable("index_damaged", f"The index is damaged{where}.", mend)


def not_opened(error: Exception, version: Path, mend: str) -> IndexUnavailable:
    """Return the error that says why a version could not be opened."""
    number = error.errno if isinstance(error, OSError) else None
    if number in {errno.EMFILE, errno.ENFILE}:
        return IndexUnavailable(
            "index_many_files",
            "The index needs more files open than the system allows.",
            "Allow more open files (ulimit -n).",
        )
    if number in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return IndexUnavailable(
            "index_forbidden",
            f"The index in {version} cannot be opened ({os.strerror(number)}).",
            "Let this user read and write there: what reads an index locks it for a moment.",
        )
    return damaged(mend)


def other_encoder(has: str, wanted: str) -> IndexUnavailable:
    """Return the error that says whose vectors an index has, where others are wanted."""
    vectors = f" --vectors {DPR_ENCODER}" if choice_of(wanted) == DPR_ENCODER else ""
    instead = "Use --recipe report, or run" if choice_of(has) == DPR_ENCODER else "Run"
    return IndexUnavailable(
        "index_encoder",
        f"The index has vectors of {has or 'no encoder'}, not of {wanted or 'none'}.",
        f"{instead}: {esoteric_command(f'index encode{vectors}')}",
    )


def no_vectors() -> IndexUnavailable:
    """Return the error that says so."""
    return IndexUnavailable(
        "index_vectors", "The index has no vectors.", f"Run: {esoteric_command('index encode')}"
    )


def described(folder: Path, below: Path) -> dict[str, tuple[int, str]]:
    """Return ``Meta.files`` of what lies in a folder; their paths begin behind ``below``."""
    return {
        path.relative_to(below).as_posix(): (path.stat().st_size, digest_of(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def file_of(index: Path, version: Path, name: str) -> Path:
    """Return where a file of ``Meta.files`` lies."""
    return (index if name.startswith((f"{SEGMENTS}/", f"{VECTORS}/")) else version) / name


def read_meta(index: Path, version: Path) -> Meta:
    """Return ``meta.json`` of a version of an index whose files are all there and whole.

    Raises:
        IndexUnavailable: it is missing, damaged, or of another format.
    """
    try:
        content: Any = json.loads((version / META).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexUnavailable("index_missing", "There is no index yet.", rebuild()) from error
    except (OSError, ValueError) as error:
        raise not_opened(error, version, rebuild()) from error
    content = content if isinstance(content, dict) else {}
    encoder = content.get("encoder")
    mend = rebuild(
        str(content.get("source", "vital")),
        encoder if isinstance(encoder, str) else None,
        bool(content.get("changed")),
    )
    if content.pop("format", None) != FORMAT:
        raise IndexUnavailable(
            "index_format", "The index was built by another version of ESOTERIC.", mend
        )
    try:
        meta = Meta(**content)
        sizes = {name: size for name, (size, _) in meta.files.items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise damaged(mend) from error
    for name, size in sizes.items():
        path = file_of(index, version, name)
        if not path.is_file() or path.stat().st_size != size:
            raise damaged(mend, name)
    return meta
