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
        try:
            return _BY_PATH[kind](Path(path).expanduser())
        except RuntimeError as error:  # ~somebody, who has no home here
            raise BadSource("source_unknown", f"{error}.", "Write the path out.") from error
    raise BadSource(
        "source_unknown",
        f"{source!r} is not a source.",
        "Use vital, fever:DIR, jsonl:FILE or folder:DIR.",
    )
