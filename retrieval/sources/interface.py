"""The interface of a source: what ``store`` asks of it.

A new kind is one class: ``about``, ``search`` and ``articles``, and a line in ``opening``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.corpora.passages import Block
from retrieval.errors import EsotericError


class SourceAway(EsotericError):
    """A source does not answer now; what was kept of it may."""


@dataclass(frozen=True, slots=True)
class About:
    """What a source says of itself.

    ``name``: what its texts are credited to. ``articles``: how many it has, 0 if that is not known.
    ``date``: the day of its newest text, ISO 8601, "" if it changes all the time. ``notice``: what
    users should know of its search, "" for nothing.
    """

    name: str
    articles: int = 0
    date: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, as ids of articles.

    ``named``: the articles with these names as titles, also those of redirects. ``by_words``: those
    with the words, best first. ``problem``: why only kept articles were searched, "" if all were.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    by_words: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """A whole article.

    ``revision``: names this text among those that the article had, "" where there is one alone.
    ``url``: leads to this text for good where there is such an address, ``None`` where there is no
    address at all. ``credit``: what it is credited to, with the day: "Wikipedia, revision of 12
    November 2026". ``date``: the day of the text, ISO 8601, "" if unknown. ``links``: the titles
    that words of the text link to. ``leads_to``: the titles that a disambiguation page lists, empty
    for any other.
    """

    id: str
    revision: str
    title: str
    url: str | None
    credit: str
    date: str
    blocks: tuple[Block, ...]
    links: Mapping[str, str]
    leads_to: tuple[str, ...] = ()


class Source(ABC):
    """A corpus that answers searches itself."""

    @abstractmethod
    def about(self) -> About:
        """Return what it says of itself, as far as that is known; this never fails."""

    @abstractmethod
    def search(self, names: Sequence[str], words: str, limit: int) -> Found:
        """Return which of ``names`` are titles, and up to ``limit`` articles with all ``words``.

        Without ``words`` no text is searched.

        Raises:
            SourceAway: it does not answer, and nothing kept of it has such a title.
        """

    @abstractmethod
    def articles(self, ids: Sequence[str]) -> list[Article]:
        """Return these articles, in this order, without those that are gone or cannot be read.

        Raises:
            SourceAway: it does not answer, and none of them was kept.
        """

    @property
    def requests(self) -> int:
        """How many requests were sent over a network so far."""
        return 0


class Unopened(Source):
    """A source that cannot be opened, as one of several: each search tries it again."""

    def __init__(self, name: str, again: Callable[[], Source]) -> None:
        """``again`` opens the source, or raises ``BadSource``."""
        self._name, self._again = name, again

    def about(self) -> About:
        return About(self._name)

    def search(self, names: Sequence[str], words: str, limit: int) -> Found:
        return self._again().search(names, words, limit)

    def articles(self, ids: Sequence[str]) -> list[Article]:
        return self._again().articles(ids)
