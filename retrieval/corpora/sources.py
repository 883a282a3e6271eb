"""From what a user writes after ``--source`` to a corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from retrieval.corpora.corpus import Corpus
from retrieval.corpora.fever import FeverCorpus
from retrieval.corpora.folder import FolderCorpus
from retrieval.corpora.jsonl import JsonlCorpus
from retrieval.corpora.vital import VitalCorpus
from retrieval.errors import BadSource

_BY_PATH: dict[str, Callable[[Path], Corpus]] = {
    "fever": FeverCorpus,
    "jsonl": JsonlCorpus,
    "folder": FolderCorpus,
}


def open_corpus(source: str) -> Corpus:
    """Return the corpus that ``vital``, ``fever:DIR``, ``jsonl:FILE`` or ``folder:DIR`` names.

    Raises:
        BadSource: it is none of these, or what it names is not there.
    """
    if source == "vital":
        return VitalCorpus()
    kind, colon, path = source.partition(":")
    if kind in _BY_PATH and colon and path:
        return _BY_PATH[kind](_place(path))
    raise BadSource(
        "source_unknown",
        f"{source!r} is not a source.",
        "Use vital, fever:DIR, jsonl:FILE or folder:DIR.",
    )


def written_out(source: str) -> str:
    """Return a source as a corpus calls itself: its path from the root on.

    Raises:
        BadSource: the path begins with the home of somebody who has none.
    """
    kind, colon, path = source.partition(":")
    return f"{kind}:{_place(path).resolve()}" if kind in _BY_PATH and colon and path else source


def _place(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # ~somebody, who has no home here
        raise BadSource("source_unknown", f"{error}.", "Write the path out.") from error
