"""WordNet's database, read from its own files (Miller 1995; their format: wndb(5WN)).

Debian's package ``wordnet-base`` has them in ``/usr/share/wordnet``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from retrieval.errors import BadSource

_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
DATABASE = tuple(f"{file}.{part}" for part in _PARTS.values() for file in ("index", "data"))
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # marks of the positions of an adjective

SynsetId: TypeAlias = tuple[str, str]
"""A part of speech, one of ``n``, ``v``, ``a`` and ``r``, and an offset in its file."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """From ``source``, a word's place in its synset, to another synset's word ``target``.

    Places count from 1; both are 0 for a pointer between whole synsets.
    """

    symbol: str
    to: SynsetId
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Synset:
    """Words with the same meaning, in small letters with spaces, and their pointers."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """The synsets of all words."""

    def __init__(self, folder: Path) -> None:
        """Read ``index.*`` and ``data.*`` of all four parts of speech.

        Raises:
            BadSource: a file is missing.
        """
        self._senses: dict[tuple[str, str], list[str]] = {}
        self._lines: dict[SynsetId, str] = {}
        for part, name in _PARTS.items():
            for line in _lines(folder / f"index.{name}"):
                fields = line.split()
                count = int(fields[2])
                self._senses[part, fields[0].replace("_", " ")] = fields[-count:]
            for line in _lines(folder / f"data.{name}"):
                self._lines[part, line[:8]] = line
        self.synset = cache(self._read)

    def senses(self, word: str, part: str) -> list[SynsetId]:
        """Return the synsets of a word in small letters, the most frequent one first."""
        return [(part, offset) for offset in self._senses.get((part, word), ())]

    def _read(self, synset: SynsetId) -> Synset:
        """Return a synset that ``senses`` or a pointer names."""
        fields = self._lines[synset].partition("|")[0].split()
        end = 4 + 2 * int(fields[3], 16)
        words = tuple(_MARKER.sub("", word).replace("_", " ").lower() for word in fields[4:end:2])
        count = int(fields[end])
        pointers = []
        for start in range(end + 1, end + 1 + 4 * count, 4):
            symbol, offset, part, places = fields[start : start + 4]
            # A satellite (s) of an adjective is in the adjectives' file.
            to = ("a" if part == "s" else part, offset)
            pointers.append(Pointer(symbol, to, int(places[:2], 16), int(places[2:], 16)))
        return Synset(words, tuple(pointers))


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines after the licence, whose lines begin with spaces."""
    try:
        with path.open(encoding="utf-8") as stream:
            yield from (line for line in stream if not line.startswith(" "))
    except OSError as error:
        raise BadSource(
            "bad_data",
            f"{path} cannot be read.",
            "Point --wordnet at WordNet's database, such as /usr/share/wordnet of Debian's"
            " wordnet-base.",
        ) from error
