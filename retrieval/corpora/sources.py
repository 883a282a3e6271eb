"""Opens the corpus that a user names with ``--source``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from retrieval.corpora.cirrus import CirrusCorpus
from retrieval.corpora.corpus import Corpus
from retrieval.corpora.fever import FeverCorpus
from retrieval.corpora.folder.folder_corpus import FolderCorpus
from retrieval.corpora.jsonl import JsonlCorpus
from retrieval.corpora.parquet import ParquetCorpus
from retrieval.corpora.vital import VitalCorpus
from retrieval.corpora.zim.zim_corpus import ZimCorpus
from retrieval.errors import BadSource

_BY_PATH: dict[str, Callable[[Path], Corpus]] = {
    "fever": FeverCorpus,
    "jsonl": JsonlCorpus,
    "folder": FolderCorpus,
    "zim": ZimCorpus,
    "cirrus": CirrusCorpus,
    "parquet": ParquetCorpus,
}
_BY_SUFFIX = {".zim": "zim", ".zimaa": "zim", ".jsonl": "jsonl", ".parquet": "parquet"} | {
    ".gz": "cirrus",
    ".bz2": "cirrus",
}
# For help texts and errors.
KNOWN = "vital, fever:DIR, jsonl:FILE, folder:DIR, zim:FILE, cirrus:PATH or parquet:PATH"


def open_corpus(source: str, password: str | None = None) -> Corpus:
    """Return the corpus that ``vital``, ``fever:DIR`` or another of ``KNOWN`` names.

    ``password`` opens the encrypted files of ``folder:DIR``.

    Raises:
        BadSource: it is none of these, or the file or folder does not exist.
    """
    if source == "vital":
        return VitalCorpus()
    kind, colon, path = source.partition(":")
    if kind not in _BY_PATH or not colon or not path:
        raise BadSource("source_unknown", f"{source!r} is not a source.", f"Use {_meant(source)}.")
    place = _place(path)
    # A ZIM file in parts has a name that no file has.
    if kind != "zim" and not place.exists():
        raise BadSource("source_missing", f"{place} does not exist.", "Check the path.")
    return FolderCorpus(place, password) if kind == "folder" else _BY_PATH[kind](place)


def written_out(source: str) -> str:
    """Return the source in the form that a corpus reports, with an absolute path.

    Raises:
        BadSource: the path begins with ``~NAME``, and this user has no home here.
    """
    kind, colon, path = source.partition(":")
    return f"{kind}:{_place(path).resolve()}" if kind in _BY_PATH and colon and path else source


def _meant(source: str) -> str:
    """Return the sources that may be meant: the right one for a path without its kind."""
    if source in _BY_PATH or not source:
        return KNOWN
    if Path(source).is_dir():
        return f"folder:{source}"
    kind = _BY_SUFFIX.get(Path(source).suffix)
    return f"{kind}:{source}" if kind else KNOWN


def _place(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # ~NAME of a user without a home here
        raise BadSource("source_unknown", f"{error}.", "Write the full path.") from error
