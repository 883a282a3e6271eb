"""Fetches a web page that a user names, but nothing that only this computer can reach.

Whoever names an address could ask for a service inside of the operator's network. So the name of a
host is resolved once, all its addresses are checked, and the connection is made to one that was
checked. Redirects are followed here, and each is checked like the first address. No cookie is sent
or kept, and no proxy of the environment is used.

A page on the public internet is everybody's to read. With IPv6 a computer inside of a network has a
public address, even where a firewall keeps others out.
"""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from ssl import SSLContext
from threading import Thread
from typing import Any, TypeAlias

import httpcore2
import httpx2

from retrieval.errors import InvalidText
from retrieval.result import esoteric_version
from retrieval.words import counted

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], list[Address]]

KINDS = ("text/html", "application/xhtml+xml", "text/plain")
MOST_REDIRECTS = 5
_LONGEST_ADDRESS = 4000  # characters
_REDIRECTS = (301, 302, 303, 307, 308)
_MEMBER, _MOST_MEMBERS = b"\x1f\x8b\x08", 100  # of gzip begin so; servers send one
_CONNECTING = 5  # seconds for one of several addresses
_UNICAST = ip_network("2000::/3")  # all that is given out of IPv6
_NAT64 = ip_network("64:ff9b::/96")
# Public by their numbers, but answered by the network or the cloud that this computer is in.
_WITHIN = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
_ONE_NETWORK = 64  # bits that the addresses of a network of IPv6 begin with
_PORT = 9  # nothing is sent to it
_PASTE = "Open the page in a browser, and paste its text."


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host; raises ``OSError`` or ``UnicodeError``."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(one[4][0]) for one in found))


def is_public(address: Address) -> bool:
    """Return whether an address leads to the public internet.

    Of an address of IPv6 that stands for one of IPv4, that one decides.
    """
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST:
            return False
    elif any(address in network for network in _WITHIN):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the address of IPv4 that a translator or a tunnel would connect to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def is_near(address: Address) -> bool:
    """Return whether an address is this computer's own, or of IPv6 and of a network that it is in.

    The system says from which of its addresses it would ask: of itself, from the same one; in a
    network that it is in, from its own address there. Nothing is sent for this.
    """
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((str(address), _PORT))
            source = ip_address(asking.getsockname()[0].partition("%")[0])
    except OSError:  # no way leads there
        return False
    return share_a_network(address, source)


def share_a_network(address: Address, own: Address) -> bool:
    """Return whether two addresses are one, or of IPv6 and of one network."""
    if address.version == own.version == 6:
        return address in ip_network((int(own), _ONE_NETWORK), strict=False)
    return address == own


def may_be_asked(address: Address) -> bool:
    """Return whether an address is on the public internet, and not of this computer's networks."""
    return is_public(address) and not is_near(address)


@dataclass(frozen=True, slots=True)
class Reach:
    """Which servers may be asked: on which ports, at which addresses."""

    ports: frozenset[int] = frozenset((80, 443))
    allows: Callable[[Address], bool] = may_be_asked


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What a server answered: after redirects, of which of ``KINDS``, in which encoding.

    ``charset``: "" if the server does not say it.
    """

    address: str
    kind: str
    charset: str
    content: bytes


class Fetcher:
    """Fetches pages; safe to share between threads."""

    def __init__(
        self,
        reach: Reach = Reach(),
        resolve: Resolve = resolve,
        seconds: float = 15,
        most_bytes: int = 5_000_000,
    ) -> None:
        """``seconds``: for all of it. ``most_bytes``: of a page, after it is unpacked."""
        self._reach = reach
        self._resolve = resolve
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._tls = httpx2.create_ssl_context()

    def fetch(self, address: str) -> FetchedPage:
        """Return a page.

        Raises:
            InvalidText: it cannot be fetched, or must not be; the hint says how to go on.
        """
        url = self._checked(address)
        network = CheckedNetwork(self._reach, self._resolve, time.monotonic() + self._seconds)
        try:
            # Each connection is for one request, so that each is checked.
            with httpcore2.ConnectionPool(
                ssl_context=self._tls, network_backend=network, max_keepalive_connections=0
            ) as pool:
                for _ in range(1 + MOST_REDIRECTS):
                    found = self._asked(pool, url)
                    if isinstance(found, FetchedPage):
                        return found
                    url = self._checked(found, url)
        except httpcore2.TimeoutException as error:
            message = f"The page did not arrive within {counted(round(self._seconds), 'second')}."
            raise InvalidText("page_too_slow", message, f"Try it again. {_PASTE}") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise InvalidText(
                "page_unreachable",
                f"{url.host} could not be reached, or its answer could not be read.",
                f"Check the address. {_PASTE}",
            ) from error
        raise InvalidText(
            "page_redirects",
            f"This address leads to more than {MOST_REDIRECTS} others, one after the other.",
            _PASTE,
        )

    def _checked(self, address: str, base: httpx2.URL | None = None) -> httpx2.URL:
        """Return an address, which a redirect may have given from ``base``, if it may be asked."""
        try:
            url = httpx2.URL(address) if base is None else base.join(address)
            default = {"http": 80, "https": 443}.get(url.scheme)
        except (httpx2.InvalidURL, ValueError) as error:
            raise InvalidText(
                "page_address", "This address cannot be read.", "Copy it again from the browser."
            ) from error
        if len(str(url)) > _LONGEST_ADDRESS:
            raise InvalidText(
                "page_address",
                f"The address has more than {_LONGEST_ADDRESS:,} characters.",
                f"Leave out what it does not need, often all after a question mark. {_PASTE}",
            )
        if default is None or not url.host:
            raise InvalidText(
                "page_address", "Only addresses with http:// or https:// are opened.", _PASTE
            )
        if url.userinfo:
            raise InvalidText(
                "page_password",
                "The address has a user name or a password in it, which is not sent.",
                "Leave out what stands before the @, or paste the text of the page.",
            )
        if (url.port or default) not in self._reach.ports:
            ports = " and ".join(map(str, sorted(self._reach.ports)))
            raise InvalidText("page_port", f"Only the ports {ports} of a server are asked.", _PASTE)
        return url

    def _asked(self, pool: httpcore2.ConnectionPool, url: httpx2.URL) -> FetchedPage | str:
        """Return the page at an address, or the address that it leads to."""
        headers = {
            "User-Agent": user_agent("fact checking; a user asked for this page"),
            "Accept": ", ".join(KINDS),
            "Accept-Language": "en",
        }
        with asked(pool, url, headers) as answer:
            fields = answer.fields
            location = fields["Location"]
            if answer.status in _REDIRECTS and location:
                return str(location)
            if answer.status != 200:
                raise InvalidText(
                    "page_status",
                    f"{url.host} does not give this page to ESOTERIC: it answered {answer.status}.",
                    f"Check the address. {_PASTE}",
                )
            kind = fields.get_content_type() if fields["Content-Type"] else ""
            if kind not in KINDS:
                raise InvalidText(
                    "page_kind",
                    f"This is no web page but {kind or 'of an unknown kind'}.",
                    "Only HTML and plain text are read. Paste its text, or upload the file under"
                    " Documents.",
                )
            content = answer.content(self._most_bytes)
        charset = fields.get_content_charset() or ""
        return FetchedPage(str(url.copy_with(fragment=None)), kind, charset, content)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answers; the body is yet to come."""

    status: int
    fields: Message
    chunks: Iterable[bytes]

    def content(self, most_bytes: int) -> bytes:
        """Return the whole body; neither it nor what it unpacks to may be longer than that.

        Raises:
            InvalidText: it is longer, or cannot be unpacked.
        """
        encoding = (self.fields["Content-Encoding"] or "identity").strip().lower()
        if encoding not in ("identity", "gzip", "x-gzip"):
            raise _damaged()
        content = bytearray()
        for chunk in self.chunks:
            content += chunk
            _check_size(content, most_bytes)
        if encoding == "identity":
            return bytes(content)
        if content.count(_MEMBER) > _MOST_MEMBERS:  # each takes a while, even if it has no content
            raise _damaged()
        try:
            with gzip.open(BytesIO(content)) as packed:
                unpacked = packed.read(most_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged() from error
        _check_size(unpacked, most_bytes)
        return unpacked


@contextmanager
def asked(
    pool: httpcore2.ConnectionPool, url: httpx2.URL, headers: Mapping[str, str]
) -> Iterator[Answer]:
    """Ask for an address, with these headers and gzip."""
    target = httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
    sent = {"Host": url.netloc.decode("ascii"), "Accept-Encoding": "gzip", **headers}
    with pool.stream("GET", target, headers=[*sent.items()]) as answer:
        fields = Message()
        for name, value in answer.headers:
            fields[name.decode("latin-1")] = value.decode("utf-8", "replace")
        yield Answer(answer.status, fields, answer.iter_stream())


def _check_size(content: bytes | bytearray, most_bytes: int) -> None:
    if len(content) > most_bytes:
        raise InvalidText(
            "page_too_large",
            f"The page is larger than {most_bytes / 1e6:g} MB.",
            "Open it in a browser, and paste the part that you mean.",
        )


def _damaged() -> InvalidText:
    return InvalidText("page_damaged", "What the server sent cannot be unpacked.", _PASTE)


def user_agent(purpose: str) -> str:
    """Return how requests name this program, with what it asks for."""
    number = esoteric_version()
    named = f"ESOTERIC/{number}" if number else "ESOTERIC"
    return f"{named} ({purpose})"


class CheckedNetwork(httpcore2.NetworkBackend):
    """Connects to addresses that were checked, until a point in time."""

    def __init__(self, reach: Reach, resolve: Resolve, end: float) -> None:
        self._reach = reach
        self._resolve = resolve
        self._end = end
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *_: Any, **__: Any
    ) -> httpcore2.NetworkStream:
        """Resolve a host once, and connect to one of its addresses if all may be asked."""
        failed: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in self._resolved(host, port):
            seconds = min(_CONNECTING, _left(self._end))
            try:
                stream = self._sockets.connect_tcp(str(address), port, seconds)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
            else:
                return _Timed(stream, self._end)
        raise failed

    def _resolved(self, host: str, port: int) -> list[Address]:
        # Unknown and private hosts get one answer, so that a client cannot find out the names
        # of the operator's network.
        refused = InvalidText(
            "page_not_public",
            f"{host} is not on the public internet: it is unknown, or within a private network.",
            f"Check the address. {_PASTE}",
        )
        try:
            found = _within(_left(self._end), lambda: self._resolve(host, port))
        except (OSError, ValueError) as error:
            raise refused from error
        if not all(map(self._reach.allows, found)):
            raise refused
        return found


class _Timed(httpcore2.NetworkStream):
    """A connection that ends at a point in time, however slowly the server sends."""

    def __init__(self, stream: httpcore2.NetworkStream, end: float) -> None:
        self._stream = stream
        self._end = end

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._end))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._end))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _left(self._end))
        return _Timed(stream, self._end)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(end: float) -> float:
    """Return how many seconds there are to a point in time, more than none."""
    left = end - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout
    return left


def _within(seconds: float, resolved: Callable[[], list[Address]]) -> list[Address]:
    """Return what a resolver finds; the one of the system takes as long as it wants."""
    found: Future[list[Address]] = Future()

    def run() -> None:
        try:
            found.set_result(resolved())
        except BaseException as error:
            found.set_exception(error)

    Thread(target=run, name="resolve", daemon=True).start()
    try:
        return found.result(seconds)
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout from error
