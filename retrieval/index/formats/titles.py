"""The titles of an index: the keys by which they are compared, and names looked up in them.

All of them are kept as a prefix tree (``generators.title_trie``), in memory-mapped files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.batches import batched
from retrieval.index.interface import MOST_OF_A_NAME
from retrieval.models.title_trie import TitleRun, TitleTokenizer, build_run
from retrieval.system.files import write_array
from retrieval.text.word_forms import nfkd, without_marks
from retrieval.types import TitleMatch

_ARTICLE = re.compile(r"^(?:the|an|a)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")  # noqa: RUF001 - the curly one is meant
_PARENTHESES = re.compile(r"^(?P<name>.+?)\s*\((?P<words>[^()]+)\)$")
_SPACE = re.compile(r"\s+")
NAMES = ("title_tokens.npy", "title_starts.npy", "title_documents.npy")
_AT_ONCE = 10_000


def title_key(title: str) -> str:
    """Return the key by which titles are compared.

    Case, accents, a leading article and a possessive ending are ignored:
    ``The Beatles'`` and ``beatles`` have the same key.
    """
    plain = without_marks(nfkd(title.casefold()))
    plain = _SPACE.sub(" ", plain.replace("_", " ")).strip()
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain))


def split_disambiguation(title: str) -> tuple[str, str | None]:
    """Return a title without its words in parentheses, and those words.

    ``Savages (2012 film)`` is ``("Savages", "2012 film")`` (Nie et al. 2018, as
    in the report, 3.3.1); a title without any, or with nothing else, stays whole.
    """
    match = _PARENTHESES.match(title)
    return (match["name"], match["words"]) if match else (title, None)


class NamedTitles:
    """Documents by the keys of their titles, with and without words in parentheses."""

    def __init__(self, titled: Iterable[tuple[str, str]]) -> None:
        """Read the ids and titles of documents; of several titles of one the first is shown."""
        self._exact: dict[str, dict[str, str]] = {}
        self._plain: dict[str, dict[str, tuple[str, str]]] = {}
        for document_id, title in titled:
            self._exact.setdefault(title_key(title), {}).setdefault(document_id, title)
            shorter, words = split_disambiguation(title)
            if words is not None:
                named = self._plain.setdefault(title_key(shorter), {})
                named.setdefault(document_id, (title, words))

    def matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """Return the result of ``DocumentStore.title_matches``."""
        return [
            match
            for name in dict.fromkeys(names)
            for match in list(self._of(name))[:MOST_OF_A_NAME]
        ]

    def _of(self, name: str) -> Iterator[TitleMatch]:
        key = title_key(name)
        if not key:  # an empty name matches nothing
            return
        exact = self._exact.get(key, {})
        for document_id, title in sorted(exact.items()):
            yield TitleMatch(document_id, title, name, None)
        for document_id, (title, words) in sorted(self._plain.get(key, {}).items()):
            if document_id not in exact:
                yield TitleMatch(document_id, title, name, words)


def read_titles(folder: Path) -> TitleRun:
    """Return the titles in a folder.

    Raises:
        OSError, ValueError: a file is missing or damaged.
    """
    # As plain arrays: single elements of a memmap take many times as long to read.
    tokens, starts, documents = (np.asarray(np.load(folder / n, mmap_mode="r")) for n in NAMES)
    return TitleRun(tokens, starts, documents)


def write_titles(folder: Path, run: TitleRun) -> None:
    """Write titles into a folder.

    Raises:
        OSError: the folder cannot be written.
    """
    arrays: list[NDArray[Any]] = [run.tokens, run.starts, run.documents]
    for name, array in zip(NAMES, arrays, strict=True):
        write_array(folder / name, array)


def run_of(titled: Iterable[tuple[int, str]]) -> TitleRun:
    """Return the prefix tree of titles, each with the number of its document."""
    return build_run(_tokens(titled))


def _tokens(titled: Iterable[tuple[int, str]]) -> Iterator[tuple[Sequence[int], int]]:
    tokenizer = TitleTokenizer()
    for some in batched(titled, _AT_ONCE):
        tokens = tokenizer.tokens([title for _, title in some])
        yield from zip(tokens, (number for number, _ in some), strict=True)
