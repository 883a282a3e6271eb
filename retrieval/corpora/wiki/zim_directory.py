"""Reads the directory of a ZIM file: its articles, in the order of their content, and redirects.

libzim reads one entry at a time, in the order of the paths. Articles that follow each other in that
order are in different clusters, each of which would be unpacked again for every article in it. The
order of the clusters is not in libzim's Python interface, so the directory is read here, with
NumPy. The format: https://wiki.openzim.org/wiki/ZIM_file_format
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.json_lines import opened
from retrieval.errors import BadSource

Numbers: TypeAlias = NDArray[np.uint32]

_MAGIC = 72173914
# Magic number, version, UUID, entries, clusters; positions of the table of entries, of titles, of
# clusters, of the MIME types; main page, layout page; position of the checksum.
_HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
_FIXED = 16  # bytes of an entry before its path
_REDIRECT = 0xFFFF  # in place of a MIME type
_BLOCK = 1 << 18  # entries that are looked at together
_MOST_TYPES = 65_536  # bytes of the list of MIME types
_LONGEST_CHAIN = 16  # redirects that lead to each other
_CHECKSUM = 16  # bytes


@dataclass(frozen=True, slots=True)
class Directory:
    """The articles of a file, in the order of their content, and the redirects to them.

    ``articles`` and ``redirects`` are the numbers of entries, the latter sorted by the articles
    that they lead to, ``targets``.
    """

    articles: Numbers
    redirects: Numbers
    targets: Numbers

    def leading_to(self, article: int) -> tuple[int, ...]:
        """Return the entries that redirect to an article."""
        # Numbers of another type would make NumPy convert all targets for each article.
        bounds = np.array([article, article + 1], self.targets.dtype)
        begin, end = np.searchsorted(self.targets, bounds)
        return tuple(self.redirects[begin:end].tolist())


class ZimFile:
    """A ZIM file as it is on the disk, whole or in parts."""

    def __init__(self, place: Path) -> None:
        """Find the file, or all of its parts, and read its header.

        Args:
            place: the file; of a file in parts, the first part or the name without its last two
                letters (``X.zimaa`` or ``X.zim``).

        Raises:
            BadSource: there is none, or it is not a ZIM file.
        """
        self.path, parts = _parts(place)
        self._paths = [path for path in parts if path.stat().st_size]  # others cannot be mapped
        sizes = [path.stat().st_size for path in self._paths]
        header = b"".join(map(_first_bytes, self._paths))
        self.bytes = sum(sizes)
        self._starts = np.cumsum([0, *sizes[:-1]])
        if len(header) < _HEADER.size or struct.unpack_from("<I", header)[0] != _MAGIC:
            hint = "Name a file of Kiwix, whose name ends with .zim."
            raise BadSource("source_damaged", f"{place} is not a ZIM file.", hint)
        read = _HEADER.unpack_from(header)
        version: tuple[int, int] = read[1:3]
        self.old_layout = version < (6, 1)  # the paths of articles have a namespace, ``A``
        self.uuid: bytes = read[3]
        self._entries: int = read[4]
        self._table, self._types, self._main, self._checksum = read[6], read[9], read[10], read[12]
        if self._table + 8 * self._entries > self.bytes or self._types >= self.bytes:
            raise self.damaged("its directory is not in the file")

    def checksum(self) -> bytes:
        """Return the MD5 that the file has of itself; empty if it has none."""
        if self._checksum + _CHECKSUM > self.bytes:
            return b""
        return self._read(self._checksum, _CHECKSUM)

    def directory(self) -> Directory:
        """Find the articles and the redirects to them.

        About 12 bytes of memory for each entry: 250 MB for 18 million, as the English Wikipedia
        has. Entries outside of the file are among the articles: reading them says what is wrong.
        """
        kinds = (kind.partition(";")[0].strip().lower() for kind in self._mime_types())
        html = [number for number, kind in enumerate(kinds) if kind == "text/html"]
        target = np.arange(self._entries, dtype=np.uint32)
        found: list[Numbers] = [np.empty(0, np.uint32)]
        places: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
        leading: list[Numbers] = [np.empty(0, np.uint32)]
        namespace = ord("A" if self.old_layout else "C")
        for begin in range(0, self._entries, _BLOCK):
            numbers = np.arange(begin, min(begin + _BLOCK, self._entries), dtype=np.uint32)
            at = self._gathered(self._table + 8 * numbers.astype(np.uint64), 8)
            inside = at <= max(self.bytes - _FIXED, 0)
            at[~inside] = 0
            kind = self._gathered(at, 2)
            here = self._gathered(at + np.uint64(3), 1) == namespace
            article = ~inside | (here & np.isin(kind, html))
            # A cluster and a place in it, or where a redirect leads to.
            low, high = self._gathered(at + np.uint64(8), 4), self._gathered(at + np.uint64(12), 4)
            found.append(numbers[article])
            places.append(((low << np.uint64(32)) | high)[article])
            leads = inside & here & (kind == _REDIRECT) & (low < self._entries)
            target[numbers[leads]] = low[leads].astype(np.uint32)
            leading.append(numbers[leads])
            if self._main < self._entries and begin <= self._main < begin + _BLOCK:
                main = self._main - begin  # in newer files a redirect in a namespace of its own
                if kind[main] == _REDIRECT and low[main] < self._entries:
                    target[self._main] = low[main]
        for _ in range(_LONGEST_CHAIN.bit_length()):
            target = target[target]
        articles = np.concatenate(found)
        is_article = np.zeros(self._entries, dtype=bool)
        is_article[articles] = True
        if self._main < self._entries:
            is_article[target[self._main]] = False
        articles = articles[np.argsort(np.concatenate(places), kind="stable")]
        redirects = np.concatenate(leading)
        redirects = redirects[is_article[target[redirects]]]
        redirects = redirects[np.argsort(target[redirects], kind="stable")]
        return Directory(articles[is_article[articles]], redirects, target[redirects])

    def damaged(self, why: str) -> BadSource:
        """Return the error of a file that is not as it should be."""
        message = f"{self.path} is damaged or cut off: {why}."
        return BadSource("source_damaged", message, "Fetch it again.")

    def _mime_types(self) -> list[str]:
        content = self._read(self._types, min(_MOST_TYPES, self.bytes - self._types))
        listed, ended, _ = content.partition(b"\0\0")
        if not ended:
            raise self.damaged("its list of MIME types does not end")
        return [kind.decode("ascii", "replace") for kind in listed.split(b"\0")]

    def _read(self, at: int, count: int) -> bytes:
        return self._bytes(np.arange(at, at + count, dtype=np.uint64)).tobytes()

    def _gathered(self, at: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
        """Return the numbers of ``width`` bytes at these places of the file."""
        value = np.zeros(len(at), dtype=np.uint64)
        for byte in range(width):
            value |= self._bytes(at + np.uint64(byte)).astype(np.uint64) << np.uint64(8 * byte)
        return value

    @cached_property
    def _contents(self) -> list[NDArray[np.uint8]]:
        return [np.memmap(path, np.uint8, "r") for path in self._paths]

    def _bytes(self, at: NDArray[np.uint64]) -> NDArray[np.uint8]:
        if len(self._contents) == 1:
            return np.asarray(self._contents[0][at])
        value = np.empty(len(at), dtype=np.uint8)
        which = np.searchsorted(self._starts, at, side="right") - 1
        for number, (part, start) in enumerate(zip(self._contents, self._starts, strict=True)):
            here = which == number
            value[here] = part[at[here] - np.uint64(start)]
        return value


def _parts(place: Path) -> tuple[Path, list[Path]]:
    """Return the name that libzim opens a file by, and its parts in order."""
    if split := re.fullmatch(r"(.*\.zim)[a-z]{2}", place.name):
        place = place.with_name(split[1])
    if place.is_file():
        return place, [place]
    beside = place.parent.iterdir() if place.parent.is_dir() else ()
    name = re.compile(re.escape(place.name) + "[a-z]{2}")
    parts = sorted(path for path in beside if name.fullmatch(path.name))
    if not parts or not place.name.endswith(".zim"):
        if place.is_dir():
            raise BadSource("source_missing", f"{place} is a folder.", "Give a file: zim:FILE.")
        raise BadSource("source_missing", f"{place} does not exist.", "Check the path.")
    for number, path in enumerate(parts):
        expected = f"{place.name}{chr(97 + number // 26)}{chr(97 + number % 26)}"
        if path.name != expected:
            message = f"{place.with_name(expected)} is missing, and {parts[-1].name} is there."
            raise BadSource("source_missing", message, "Put all parts of the file into one folder.")
    return place, parts


def _first_bytes(path: Path) -> bytes:
    with opened(path) as stream:
        return stream.read(_HEADER.size)
