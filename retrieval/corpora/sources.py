"""Opens the corpus that a user names with ``--source``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from retrieval.corpora.corpus import Corpus
from retrieval.corpora.folder.folder_corpus import FolderCorpus
from retrieval.corpora.parquet import ParquetCorpus
from retrieval.corpora.records import USUAL, Fields, JsonlCorpus
from retrieval.corpora.wiki.cirrus import CirrusCorpus
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.corpora.wiki.zim import ZimCorpus
from retrieval.errors import BadSource

_OF_RECORDS: dict[str, Callable[[Path, Fields], Corpus]]
_OF_RECORDS = {"jsonl": JsonlCorpus, "parquet": ParquetCorpus}
_BY_PATH: dict[str, Callable[[Path], Corpus]] = {
    "fever": FeverCorpus,
    "folder": FolderCorpus,
    "zim": ZimCorpus,
    "zim-whole": partial(ZimCorpus, whole=True),
    "cirrus": CirrusCorpus,
    "cirrus-whole": partial(CirrusCorpus, whole=True),
}
_KINDS = _BY_PATH.keys() | _OF_RECORDS.keys()
_BY_SUFFIX = {".zim": "zim", ".zimaa": "zim", ".jsonl": "jsonl", ".gz": "cirrus"}
_BY_SUFFIX |= {".bz2": "cirrus", ".parquet": "parquet", ".arrow": "parquet"}
# For help texts and errors.
KNOWN = "vital, fever:DIR, jsonl:FILE, folder:DIR, zim:FILE, cirrus:PATH or parquet:PATH"


def open_corpus(source: str, fields: Fields = USUAL, password: str | None = None) -> Corpus:
    """Return the corpus that ``vital``, ``fever:DIR`` or another of ``KNOWN`` names.

    ``fields``: the keys or columns of its records, if they have other names than usual.
    ``password`` opens the encrypted files of ``folder:DIR``.

    Raises:
        BadSource: it is none of these, or the file or folder does not exist.
    """
    kind, colon, path = source.partition(":")
    if fields != USUAL and kind not in _OF_RECORDS:
        hint = f"Leave --fields out; it is for {' and '.join(_OF_RECORDS)}."
        raise BadSource("source_unknown", f"{kind}: has no fields to name.", hint)
    if password is not None and kind != "folder":
        hint = "Leave --password out; it is for folder."
        raise BadSource("source_unknown", f"{kind}: has no encrypted files.", hint)
    if source == "vital":
        return VitalCorpus()
    if kind not in _KINDS or not colon or not path:
        raise BadSource("source_unknown", f"{source!r} is not a source.", f"Use {_meant(source)}.")
    place = _place(path)
    # A ZIM file in parts has a name that no file has.
    if not kind.startswith("zim") and not place.exists():
        raise BadSource("source_missing", f"{place} does not exist.", "Check the path.")
    if kind in _OF_RECORDS:
        return _OF_RECORDS[kind](place, fields)
    return FolderCorpus(place, password) if kind == "folder" else _BY_PATH[kind](place)


def of_whole_articles(source: str) -> str:
    """Return the source which reads whole articles where this one reads introductions.

    Raises:
        BadSource: there is none.
    """
    kind, colon, path = source.partition(":")
    if f"{kind}-whole" not in _KINDS:
        message = f"--whole does not apply to {kind}: this source is always read whole."
        raise BadSource("source_unknown", message, "Leave out --whole: it is for zim and cirrus.")
    return f"{kind}-whole{colon}{path}"


def written_out(source: str) -> str:
    """Return the source in the form that a corpus reports, with an absolute path.

    Raises:
        BadSource: the path begins with ``~NAME``, and this user has no home here.
    """
    kind, colon, path = source.partition(":")
    return f"{kind}:{_place(path).resolve()}" if kind in _KINDS and colon and path else source


def _meant(source: str) -> str:
    """Return the sources that may be meant: the right one for a path without its kind."""
    if source in _KINDS or not source:
        return KNOWN
    if Path(source).is_dir():
        return f"folder:{source}"
    suffix = next((suffix for suffix in Path(source).suffixes if suffix in _BY_SUFFIX), "")
    return f"{_BY_SUFFIX[suffix]}:{source}" if suffix else KNOWN


def _place(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # ~NAME of a user without a home here
        raise BadSource("source_unknown", f"{error}.", "Write the full path.") from error
