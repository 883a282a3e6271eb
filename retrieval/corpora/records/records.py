"""Documents from the records of other programs: JSON objects, and rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as parts_of
from decimal import Decimal
from typing import Any

from retrieval.corpora.cleaning import clean, web_address
from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.page_ids import bad_id
from retrieval.corpora.passages import Block, passages
from retrieval.errors import BadSource


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys or columns that hold the parts of a document; those of title and url may lack."""

    id: str = "id"
    title: str = "title"
    text: str = "text"
    url: str = "url"

    @classmethod
    def read(cls, written: str) -> Fields:
        """Return those that are written as ``id=_id,text=contents``; "" names the usual ones.

        Raises:
            BadSource: it is not written like this.
        """
        pairs = [pair.partition("=") for pair in written.split(",") if written]
        named = {part.strip(): name.strip() for part, _, name in pairs}
        known = [part.name for part in parts_of(cls)]
        if len(named) < len(pairs) or not all(named.values()) or not set(named) <= set(known):
            raise BadSource(
                "source_unknown",
                f"--fields {written!r} cannot be used.",
                f"Name keys or columns for {', '.join(known)}: --fields id=_id,text=contents.",
            )
        return cls(**named)

    def names(self) -> tuple[str, ...]:
        """Return the four names."""
        return self.id, self.title, self.text, self.url

    def digest(self) -> bytes:
        """Return what makes the fingerprint of a corpus another one; nothing for usual names."""
        return b"" if self == USUAL else repr(self).encode("utf-8", "surrogatepass")


USUAL = Fields()


def pages_of(
    record: Mapping[str, Any],
    fields: Fields,
    where: str,
    blocks: Callable[[str], Iterable[Block]],
) -> Iterator[Page | BadPage]:
    """Yield the document of a record, a long one in passages, or why it cannot be read.

    ``where``: its place, for messages. ``blocks`` divides the text. An id may be a number. Without
    a title the id is the title.
    """
    page_id = _written(record.get(fields.id))
    title = _written(record.get(fields.title) or "")
    text = record.get(fields.text)
    if page_id is None:
        yield _lacks(record, where, "id", fields.id)
    elif title is None:
        yield _lacks(record, where, "title", fields.title)
    elif not isinstance(text, str):
        yield _lacks(record, where, "text", fields.text)
    elif bad := bad_id(page_id, where):
        yield bad
    else:
        url = web_address(record.get(fields.url))
        yield from passages(page_id, title or page_id, url, blocks(text))


def _written(value: object) -> str | None:
    """Return a text or a number as text; some tables hold whole numbers as 7.0."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(int(value)) if value % 1 == 0 else str(value)
    return None


def _lacks(record: Mapping[str, Any], where: str, part: str, name: str) -> BadPage:
    hint = "Correct that record."
    if name not in record:
        names = ", ".join(map(repr, list(record)[:20]))
        hint = f"If one of {names} holds it, add: --fields {part}=NAME." if names else hint
    return BadPage(f"{where}: no text under {name!r}.", hint)
