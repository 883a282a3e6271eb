"""What names a source: ``mediawiki:en``, ``mediawiki:URL``, ``zim-search:FILE``, and its own name.

Settings read this, so nothing heavy is imported.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit

from retrieval.errors import BadSource

Kind: TypeAlias = Literal["mediawiki", "zim-search"]
_KINDS = ("mediawiki", "zim-search")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")
_BEFORE = re.compile(r"@(\d{4}-\d\d-\d\d)$", re.ASCII)
_ENTRY = re.compile(r"(?:api|rest)\.php/?$")
_WIKIMEDIA = re.compile(
    r"(?:.*\.)?(?:wikipedia|wikimedia|wikinews|wikiquote|wikisource|wikiversity|wikivoyage"
    r"|wiktionary|wikibooks)\.org"
)
USE = "Use mediawiki:en, mediawiki:URL (the address of api.php) or zim-search:FILE"


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """Where a source is.

    ``name``: for programs. ``place``: of a wiki the address of its ``api.php`` without that name,
    of a file its path. ``before``: only text of before this day counts, ISO 8601; "" for today's.
    """

    name: str
    kind: Kind
    place: str
    before: str = ""

    @classmethod
    def read(cls, written: str, name: str = "") -> SourceAddress:
        """Read ``KIND:PLACE``; the name is what is written, if no other is given.

        Raises:
            ValueError: it is none; the message says why, and how to write it.
        """
        kind, _, place = written.partition(":")
        if kind not in _KINDS or not place:
            raise ValueError(f"{written!r} is no source. {USE}.")
        found = _wiki(place) if kind == "mediawiki" else _file(place)
        return cls(name or written, cast(Kind, kind), found)

    @property
    def host(self) -> str:
        """The host that is asked, "" for a file."""
        return urlsplit(self.place).hostname or "" if self.kind == "mediawiki" else ""

    @property
    def title(self) -> str:
        """What people call it."""
        if self.kind == "zim-search":
            what = Path(self.place).stem
        elif self.place == "https://en.wikipedia.org/w/":
            what = "Wikipedia"
        else:
            what = self.host
        return f"{what} before {self.before}" if self.before else what

    @property
    def of_wikimedia(self) -> bool:
        """Whether Wikimedia's rules for programs hold."""
        return bool(_WIKIMEDIA.fullmatch(self.host))

    @property
    def sent(self) -> str:
        """What is sent to whom, in a sentence; "" if nothing leaves this computer."""
        if not self.host:
            return ""
        return f"Words and names of the claim are sent to {self.host}."

    def check_contact(self, contact: str) -> None:
        """Check that there is a contact where one must be sent.

        Raises:
            BadSource: there is none.
        """
        if contact or not self.of_wikimedia:
            return
        raise BadSource(
            "no_contact",
            f"{self.host} wants to know whom to write to if a program asks too much.",
            "Set ESOTERIC_CONTACT to your mail address or the address of a page.",
        )

    def seen_before(self, day: str) -> SourceAddress:
        """Return the source as it was before a day.

        Raises:
            ValueError: it is no day, or the source does not keep what was there before.
        """
        check_day(day)
        if self.kind != "mediawiki":
            raise ValueError(f"{self.name} is a file of one day; only a wiki has older revisions.")
        return replace(self, name=f"{self.name}@{day}", before=day)


def check_day(written: str) -> None:
    """Check that a day is written as 2024-05-01; raises ``ValueError``."""
    try:
        date.fromisoformat(written)
    except ValueError:
        raise ValueError(f"{written!r} is no day; write it as 2024-05-01.") from None


def given_source(name: str, known: Mapping[str, SourceAddress]) -> SourceAddress | None:
    """Return the source that a claim names, ``None`` if it is none of ``known``.

    ``NAME@2024-05-01`` is a wiki as it was before that day.

    Raises:
        ValueError: its day is none, or the source does not keep what was there before.
    """
    base, day = _of_day(name)
    found = known.get(base)
    return found.seen_before(day) if found is not None and day else found


def written_source(written: str) -> SourceAddress | None:
    """Return the source of an address ``KIND:PLACE``, perhaps with ``@DAY``; ``None`` of a name.

    Only for what an operator writes: any file and any host can be named.

    Raises:
        ValueError: it is an address that cannot be used; the message says why.
    """
    base, day = _of_day(written)
    if base.partition(":")[0] not in _KINDS:
        return None
    found = SourceAddress.read(base)
    return found.seen_before(day) if day else found


def _of_day(written: str) -> tuple[str, str]:
    found = _BEFORE.search(written)
    return (written[: found.start()], found[1]) if found else (written, "")


def read_sources(text: str) -> dict[str, SourceAddress]:
    """Return the sources of a setting by their names: ``wikipedia=mediawiki:en …``.

    Raises:
        ValueError: one cannot be read; the message says why, and how to write it.
    """
    try:
        return dict(_named(shlex.split(text)))
    except ValueError as error:
        raise ValueError(f"cannot be used: {error}") from error


def _named(parts: list[str]) -> Iterator[tuple[str, SourceAddress]]:
    seen: set[str] = set()
    for part in parts:
        name, _, written = part.partition("=")
        if not _NAME.fullmatch(name) or name == "default" or name in seen:
            raise ValueError(
                f"{part!r} needs a name of its own, of small letters, digits and hyphens:"
                " wikipedia=mediawiki:en."
            )
        seen.add(name)
        yield name, SourceAddress.read(written, name)


def _wiki(place: str) -> str:
    if _LANGUAGE.fullmatch(place):
        return f"https://{place}.wikipedia.org/w/"
    parts = urlsplit(place)
    try:
        readable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        readable = None
    if not readable or parts.username or parts.query or parts.fragment or not place.isascii():
        raise ValueError(f"{place!r} is no address of a wiki. {USE}.")
    if _WIKIMEDIA.fullmatch(parts.hostname or "") and not _ENTRY.search(place):
        return f"{parts.scheme}://{parts.netloc}/w/"
    return _ENTRY.sub("", place).rstrip("/") + "/"


def _file(place: str) -> str:
    try:
        path = Path(place).expanduser().resolve()
    except (RuntimeError, OSError) as error:  # an unknown user's home, or a loop of links
        raise ValueError(f"{place!r} cannot be found ({error}).") from error
    if not path.is_file():
        raise ValueError(f"{str(path)!r} is not a file.")
    return str(path)
