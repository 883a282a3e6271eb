"""A wiki that runs MediaWiki, such as Wikipedia, asked by its own interfaces for programs.

One request finds titles and words together (``api.php``, ``action=query``); each article is one
more (``rest.php/v1``), unless its newest revision is kept. No extension of MediaWiki is needed.
Wikimedia's rules are kept: https://www.mediawiki.org/wiki/API:Etiquette.
"""

from __future__ import annotations

import fcntl
import json
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from threading import Lock
from typing import IO, Any
from urllib.parse import quote, urlencode

import httpcore2
import httpx2

from retrieval.corpora.child_process import ChildEnded, ChildProcess
from retrieval.corpora.cleaning import clean
from retrieval.corpora.wiki import article as article_reader
from retrieval.corpora.wiki.article import LARGEST, ArticleText
from retrieval.errors import InvalidText
from retrieval.sources.address import SourceAddress
from retrieval.sources.interface import About, Article, Found, Source, SourceAway
from retrieval.sources.kept import KeptArticles
from retrieval.web.fetching import (
    Answer,
    CheckedNetwork,
    Reach,
    asked,
    may_be_asked,
    resolve,
    user_agent,
)
from retrieval.words import NOT_SEARCHED

AT_ONCE = 3  # requests of all processes that share a home, as Wikimedia asks
MOST_NAMES = 50  # of one request, as MediaWiki allows
_LOOKS = 0.01  # seconds between two looks for a place
_MAXLAG = 5  # seconds that a wiki's copies may be behind
_TRIES = 3
_LONGEST_WAIT = 10.0  # seconds before another try
_PAUSE = 30.0  # seconds after a failure in which nothing is asked
_READING = 30.0  # seconds that the HTML of an article may take
_MEMORY = 600 << 20  # bytes
_MOST_REDIRECTS = 2
_NO_TITLE = set("#<>[]{}|")
_LONGEST_NAME = 200  # characters; titles have at most 255 bytes


class _Busy(Exception):
    """The wiki asks to wait for so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class WikiClient:
    """Sends requests to one wiki; safe to share between threads.

    Whoever named the wiki is its operator's to trust, so its address may be a private one; what it
    redirects to must be itself.
    """

    def __init__(self, address: SourceAddress, contact: str, folder: Path, seconds: float) -> None:
        """``contact``: how the operator of this program can be reached, for the wiki's.

        ``folder``: of the processes that share the ``AT_ONCE`` requests. ``seconds``: that an
        answer may take.
        """
        self._folder, self._seconds = folder, seconds
        self._base = httpx2.URL(address.place)
        host = "" if address.title == address.host else f" ({address.host})"
        self._name = f"{address.title}{host}"
        # The servers of Wikimedia are public; a name that leads elsewhere is not theirs.
        allows = may_be_asked if address.of_wikimedia else lambda _: True
        port = self._base.port or {"http": 80, "https": 443}[self._base.scheme]
        self._reach = Reach(frozenset((port,)), allows)
        self._tls = httpx2.create_ssl_context()
        self._agent = user_agent("; ".join(filter(None, ("fact checking", contact))))
        self._rests_until = 0.0
        self._sent = 0
        self._lock = Lock()

    @property
    def sent(self) -> int:
        """How many requests were sent."""
        return self._sent

    def ask(self, path: str, values: Mapping[str, str | int]) -> dict[str, Any] | None:
        """Return the JSON at a path below the wiki's, ``None`` where it has nothing there.

        Raises:
            SourceAway: it does not answer, or with what is no answer of MediaWiki's.
        """
        url = self._base.join(f"{path}?{urlencode(values)}" if values else path)
        for tries in range(1, _TRIES + 1):
            if time.monotonic() < self._rests_until:
                raise self._away("it did not answer a moment ago")
            try:
                with self._place():
                    return self._answer(url)
            except _Busy as busy:
                if tries == _TRIES or busy.seconds > _LONGEST_WAIT:
                    raise self._rests("it is busy", busy.seconds) from busy
                time.sleep(busy.seconds)
            except (httpcore2.TimeoutException, InvalidText, OSError) as error:
                reason = error.message if isinstance(error, InvalidText) else "it is too slow"
                raise self._rests(reason.rstrip("."), _PAUSE) from error
            except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
                raise self._rests("it cannot be reached", _PAUSE) from error
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Wait for one of the places for requests; a process that ends leaves its own."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            places = [
                stack.enter_context((self._folder / f"request.{n}.lock").open("w"))
                for n in range(AT_ONCE)
            ]
            while not any(map(_is_locked, places)):
                time.sleep(_LOOKS)
            yield

    def _answer(self, url: httpx2.URL) -> dict[str, Any] | None:
        network = CheckedNetwork(self._reach, resolve, time.monotonic() + self._seconds)
        headers = {"User-Agent": self._agent, "Accept": "application/json"}
        with httpcore2.ConnectionPool(
            ssl_context=self._tls, network_backend=network, max_keepalive_connections=0
        ) as pool:
            for _ in range(1 + _MOST_REDIRECTS):
                with self._lock:
                    self._sent += 1
                with asked(pool, url, headers) as answer:
                    location = answer.fields["Location"]
                    if answer.status in (301, 302, 307, 308) and location:
                        url = self._own(url.join(location))
                        continue
                    return self._document(answer)
        raise self._away("it redirects without an end")

    def _own(self, url: httpx2.URL) -> httpx2.URL:
        if (url.scheme, url.host, url.port) != (
            *(self._base.scheme, self._base.host, self._base.port),
        ):
            raise self._away(f"it leads to {url.host}, which nobody named")
        return url

    def _document(self, answer: Answer) -> dict[str, Any] | None:
        waits = answer.fields["Retry-After"] or ""
        seconds = float(waits) if waits.isascii() and waits.isdigit() else 1.0
        if answer.status in (429, 503):
            raise _Busy(seconds)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise self._away(f"it answered with {answer.status}")
        try:
            document = json.loads(answer.content(LARGEST))
        except InvalidText as error:
            if error.code == "page_too_large":
                return None
            raise
        except (ValueError, RecursionError) as error:
            raise self.no_wiki() from error
        if not isinstance(document, dict):
            raise self.no_wiki()
        failed = document.get("error")
        if failed is not None:
            if isinstance(failed, dict) and failed.get("code") in ("maxlag", "ratelimited"):
                raise _Busy(seconds)
            raise self._away("it refused the request")
        return document

    def no_wiki(self) -> SourceAway:
        """Return the error of an answer that is none of MediaWiki."""
        return self._away("its answer is not from MediaWiki")

    def _rests(self, reason: str, seconds: float) -> SourceAway:
        self._rests_until = time.monotonic() + seconds
        return self._away(reason)

    def _away(self, reason: str) -> SourceAway:
        return SourceAway(
            "source_away",
            f"{self._name} {NOT_SEARCHED}: {reason}.",
            "Check the network and the wiki's address, or try again later.",
        )


class MediaWiki(Source):
    """A wiki; an article's title is its id."""

    def __init__(
        self, address: SourceAddress, kept: KeptArticles, contact: str, seconds: float = 20
    ) -> None:
        """Ask nothing yet; ``seconds``: that an answer may take.

        Raises:
            BadSource: it is Wikimedia's, and there is no contact.
        """
        address.check_contact(contact)
        self._address, self._kept = address, kept
        self._place = f"{address.place} {address.before}".rstrip()  # what is kept of another day
        self._client = WikiClient(address, contact, kept.folder, seconds)
        self._child = ChildProcess(article_reader.__name__, _MEMORY)
        weakref.finalize(self, self._child.end)
        self._reading = Lock()  # one article at a time is in the process that reads
        # Of the last search, by articles: the names that found them, and what says which revision
        # is the newest: its number, or its time.
        self._called: dict[str, list[str]] = {}
        self._newest: dict[str, str] = {}
        self._about: About | None = None

    @property
    def requests(self) -> int:
        return self._client.sent

    def about(self) -> About:
        if self._about is None:
            self._about = self._kept.about(self._place)
        if self._about is None:
            try:
                self._about = self._asked_about()
            except (SourceAway, KeyError, TypeError, ValueError):
                return About(self._address.title)
            self._kept.keep_about(self._place, self._about)
        return self._about

    def _asked_about(self) -> About:
        said = self._query({"meta": "siteinfo", "siprop": "general|statistics"})
        name = clean(str(said["general"]["sitename"])) or self._address.title
        return About(name, int(said["statistics"]["articles"]))

    def search(self, names: Sequence[str], words: str, limit: int) -> Found:
        titles = {name: written for name in names if (written := _title(name))}
        asked_for = list(dict.fromkeys(titles.values()))[:MOST_NAMES]
        values: dict[str, str | int] = {}
        if asked_for:
            values |= {"titles": "|".join(asked_for), "redirects": 1, "prop": "info"}
        if words:
            values |= {"list": "search", "srsearch": words, "srlimit": limit, "srnamespace": 0}
            values |= {"srwhat": "text", "srprop": "timestamp", "srinfo": ""}
        if not values:
            return Found()
        try:
            said = self._query(values)
            found = self._found(said, titles)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._client.no_wiki() from error
        except SourceAway as error:
            kept = self._kept.named(self._place, list(titles)) if titles else {}
            if not kept:
                raise
            return Found(kept, problem=error.message)
        self._called = {}
        for name, title in found.named.items():
            self._called.setdefault(title, []).append(name)
        return found

    def _found(self, said: Mapping[str, Any], titles: Mapping[str, str]) -> Found:
        leads = {
            one["from"]: one["to"]
            for kind in ("normalized", "redirects")
            for one in said.get(kind, ())
        }
        there = {}
        for page in said.get("pages", ()):
            if "lastrevid" in page and page.get("ns") == 0:
                there[page["title"]] = str(page["lastrevid"])
        by_words = {one["title"]: one["timestamp"] for one in said.get("search", ())}
        self._newest = by_words | there  # a number says more than a time
        named = {}
        for name, written in titles.items():
            title = written
            for _ in range(2 + len(leads)):  # normalised, and redirected, perhaps twice
                title = leads.get(title, title)
            if title in there:
                named[name] = title
        return Found(named, tuple(by_words))

    def articles(self, ids: Sequence[str]) -> list[Article]:
        away: list[SourceAway] = []

        def read(title: str) -> Article | None:
            try:
                return self._article(title)
            except SourceAway as error:
                away.append(error)
                return self._kept.article(self._place, title)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = [one for one in pool.map(read, ids) if one is not None]
        for one in found:
            self._kept.keep_names(self._place, one.id, self._called.get(one.id, ()))
        if away and not found:
            raise away[0]
        return found

    def _article(self, title: str, redirects: int = 1) -> Article | None:
        """Return the newest revision of an article, or the last before a day."""
        newest = self._newest.get(title, "")
        if (kept := self._kept_as_new(title, newest)) is not None:
            return kept
        if self._address.before and not (newest := self._revision_before(title)):
            return None
        of = f"revision/{newest}" if self._address.before else f"page/{quote(title, safe='')}"
        said = self._client.ask(f"rest.php/v1/{of}/with_html", {})
        if said is None:
            return None
        try:
            older = bool(self._address.before)
            revision, page = (said, said["page"]) if older else (said["latest"], said)
            name, number = str(page["title"]), str(revision["id"])
            day = date.fromisoformat(revision["timestamp"][:10])
            content = str(said["html"]).encode()
        except (KeyError, TypeError, ValueError) as error:
            raise self._client.no_wiki() from error
        text = self._read(name, content)
        if text is None:
            return None
        if text.redirect and redirects:
            return self._article(text.redirect, redirects - 1)
        found = self._made(name, number, day, text)
        self._kept.keep(self._place, found)
        return found

    def _kept_as_new(self, title: str, newest: str) -> Article | None:
        """Return the kept article if it is the newest, which a number or a day says.

        What a day in the past began with stays the same.
        """
        if newest.isdigit() and not self._address.before:
            return self._kept.article(self._place, title, newest)
        kept = self._kept.article(self._place, title)
        is_new = kept is not None and (self._address.before or kept.date == newest[:10])
        return kept if is_new else None

    def _revision_before(self, title: str) -> str:
        values: dict[str, str | int] = {
            "titles": title,
            "redirects": 1,
            "prop": "revisions",
            "rvlimit": 1,
        }
        values |= {"rvstart": f"{self._address.before}T00:00:00Z", "rvprop": "ids"}
        for page in self._query(values).get("pages", ()):
            for revision in page.get("revisions", ()):
                return str(revision["revid"])
        return ""

    def _made(self, title: str, revision: str, day: date, text: ArticleText) -> Article:
        page = f"{self._address.place}index.php?title={quote(title.replace(' ', '_'))}"
        return Article(
            id=title,
            revision=revision,
            title=title,
            url=f"{page}&oldid={revision}",
            credit=f"{self.about().name}, revision of {day.day} {day:%B %Y}",
            date=day.isoformat(),
            blocks=text.blocks,
            links=text.links,
            leads_to=text.leads_to,
        )

    def _read(self, title: str, content: bytes) -> ArticleText | None:
        with self._reading:
            try:
                self._child.send((title, content))
                text: ArticleText | None = self._child.receive(_READING)
            except ChildEnded:  # it took too much time or memory
                return None
        return text

    def _query(self, values: Mapping[str, str | int]) -> dict[str, Any]:
        """Ask ``action=query``.

        Raises:
            SourceAway: it does not answer, or its answer is none of MediaWiki.
        """
        always: dict[str, str | int] = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
            "maxlag": _MAXLAG,
        }
        said = self._client.ask("api.php", always | dict(values))
        found = (said or {}).get("query")
        if not isinstance(found, dict):
            raise self._client.no_wiki()
        return found


def _is_locked(file: IO[str]) -> bool:
    """Lock a file, unless somebody else has; return whether it is."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _title(name: str) -> str:
    """Return a name as titles are written, "" if it cannot be one."""
    written = clean(name).replace("_", " ").strip(" :")
    if not written or _NO_TITLE & set(written) or len(written) > _LONGEST_NAME:
        return ""
    return written[0].upper() + written[1:]
