"""The description that each version of an index has, wherever it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from retrieval.index.errors import other_encoder, rebuild
from retrieval.index.interface import IndexInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What all stores say of a version; see ``IndexInfo`` for the names that both have.

    Attributes:
        meets: the query encoder, whose vectors those of ``encoder`` are compared with (the name in
            the files of existing indexes).
        changed: whether pages were added or removed, which its source alone does not bring back.
    """

    name: str
    source: str
    encoder: str = ""
    meets: str = ""
    date: str = ""
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    bad_pages: int = 0
    superseded: int = 0
    built_at: str = ""
    checksum: str = ""
    changed: bool = False

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return the description that has these values; those of other names are ignored.

        Raises:
            TypeError: one is missing.
        """
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    def info(self, size: int) -> IndexInfo:
        """Return what an index of this version contains, with its size on the disk."""
        named = {f.name: getattr(self, f.name) for f in fields(IndexInfo) if f.name != "bytes"}
        return IndexInfo(bytes=size, **named)

    def fix(self) -> str:
        """Return the hint with the command that builds such an index again."""
        return rebuild(self.source, self.encoder, self.changed)

    def check_query_encoder(self, encoder: str | None) -> None:
        """Check that the vectors, if there are some, can be compared with a text encoder's.

        Raises:
            IndexUnavailable: they are made for another.
        """
        if self.encoder and encoder is not None and self.meets != encoder:
            raise other_encoder(self.encoder, encoder)
