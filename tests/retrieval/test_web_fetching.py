"""Fetching pages from a real server, and all addresses that must not be asked."""

import gzip
import socket
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from retrieval.errors import InvalidText
from retrieval.web import fetching
from retrieval.web.fetching import Address, Fetcher, Reach, is_near, is_public, share_a_network
from tests.support.cases import cases, rules
from tests.support.web_server import (
    PAGE,
    WebServer,
    bomb,
    endless,
    leads_to,
    page,
    slow_headers,
    web_server,
)

_LOOK_UP = socket.getaddrinfo  # before the tests' own guard


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    # Only numbers and names of this computer are resolved here, so that no server is asked.
    monkeypatch.setattr(socket, "getaddrinfo", _LOOK_UP)
    with web_server() as server:
        yield server


def refused(fetcher: Fetcher, address: str) -> str:
    """Return the code of the error."""
    with pytest.raises(InvalidText) as caught:
        fetcher.fetch(address)
    assert caught.value.message
    assert caught.value.hint
    return caught.value.code


def test_a_page_is_fetched_and_unpacked(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.pages["/old"] = leads_to(f"{server.address}/older", 301)
    server.pages["/older"] = leads_to("mill#now", 307)
    found = Fetcher(server.reach).fetch(f"{server.address}/old")
    kind = ("text/html", "utf-8")
    assert (found.address, (found.kind, found.charset)) == (f"{server.address}/mill", kind)
    assert found.content.decode() == PAGE
    assert len(server.asked) == 3
    for asked in server.asked:
        assert asked["User-Agent"].startswith("ESOTERIC")
        assert not {"Cookie", "Authorization", "Referer"} & set(asked)
    half = len(PAGE) // 2
    members = b"".join(gzip.compress(part.encode()) for part in (PAGE[:half], "", PAGE[half:]))
    for packed in (gzip.compress(PAGE.encode()), members, members + bytes(512)):
        server.pages["/packed"] = page(packed, Content_Encoding="gzip")
        assert Fetcher(server.reach).fetch(f"{server.address}/packed").content.decode() == PAGE


@cases("addresses", "host")
def test_no_form_of_the_address_of_this_computer_is_asked(server: WebServer, host: str) -> None:
    only_public = Fetcher(Reach(frozenset((server.port,))))
    code = refused(only_public, f"http://{host}:{server.port}/mill")
    assert code in ("page_not_public", "page_address")
    assert server.asked == []


@cases("addresses", "redirect", "code")
def test_a_redirect_is_checked_like_an_address(server: WebServer, redirect: str, code: str) -> None:
    address = redirect.replace("PORT", str(server.port))
    server.pages["/again"] = leads_to(address)
    server.pages["/missing"] = page("gone", status=404)
    fetcher = Fetcher(server.reach)
    assert refused(fetcher, f"{server.address}/again") == code
    if "://" in address:
        assert refused(fetcher, address) == code
    assert {asked["At"] for asked in server.asked} == {"127.0.0.1"}
    assert len(server.asked) <= 6
    assert refused(fetcher, f"{server.address}/mill?{'a' * 4000}") == "page_address"


def test_a_name_is_resolved_once_and_only_what_was_checked_is_asked(server: WebServer) -> None:
    answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]
    resolved: list[str] = []

    def changing(host: str, port: int) -> list[Address]:
        resolved.append(host)
        return [ip_address(one) for one in answers[len(resolved) - 1]]

    fetcher = Fetcher(server.reach, changing)
    found = fetcher.fetch(f"http://mill.example:{server.port}/mill")
    assert found.address == f"http://mill.example:{server.port}/mill"
    assert resolved == ["mill.example"]
    assert [asked["At"] for asked in server.asked] == ["127.0.0.1"]
    assert server.asked[0]["Host"] == f"mill.example:{server.port}"
    # Now the same name leads elsewhere.
    assert refused(fetcher, f"http://mill.example:{server.port}/mill") == "page_not_public"
    answers[:] = [["127.0.0.1"], ["127.0.0.2"]]
    resolved.clear()
    server.pages["/here"] = leads_to("/mill")
    assert refused(fetcher, f"http://mill.example:{server.port}/here") == "page_not_public"
    assert {asked["At"] for asked in server.asked} == {"127.0.0.1"}

    # A name with one private address and an unknown one are refused alike.
    def mixed(host: str, port: int) -> list[Address]:
        if host == "unknown.example":
            raise OSError("unknown")
        return [ip_address("127.0.0.1"), ip_address("10.0.0.1")]

    server.asked.clear()
    for host in ("mixed.example", "unknown.example"):
        fetcher = Fetcher(server.reach, mixed)
        assert refused(fetcher, f"http://{host}:{server.port}/mill") == "page_not_public"
    assert server.asked == []


def test_nothing_takes_longer_than_allowed(server: WebServer) -> None:
    server.pages["/headers"] = slow_headers
    server.pages["/body"] = endless(b"x", pause=0.05)

    def slow(host: str, port: int) -> list[Address]:
        time.sleep(30)
        return []

    began = time.monotonic()
    for fetcher, path in (
        (Fetcher(server.reach, seconds=0.2), "/headers"),
        (Fetcher(server.reach, seconds=0.2), "/body"),
        (Fetcher(server.reach, slow, seconds=0.2), "/mill"),
    ):
        assert refused(fetcher, f"{server.address}{path}") == "page_too_slow"
    assert time.monotonic() - began < 25


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (bomb(50), "page_too_large"),
        (endless(b"x" * 65536), "page_too_large"),
        # After a complete file of gzip nothing more is unpacked, but it is received.
        (page(gzip.compress(b"x") + bytes(2_000_000), Content_Encoding="gzip"), "page_too_large"),
        (page(b"no gzip", Content_Encoding="gzip"), "page_damaged"),
        (page(gzip.compress(b"x" * 99)[:-9], Content_Encoding="gzip"), "page_damaged"),
        (page(gzip.compress(b"x") + b"no gzip", Content_Encoding="gzip"), "page_damaged"),
        (page(gzip.compress(b"") * 101, Content_Encoding="gzip"), "page_damaged"),
        (page(b"x", Content_Encoding="br"), "page_damaged"),
        (page(b"x", Content_Encoding="gzip, gzip"), "page_damaged"),
        (page("%PDF-1.7", "application/pdf"), "page_kind"),
        (page("x", ""), "page_kind"),
        (page("no", status=403), "page_status"),
        (lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n"), "page_unreachable"),
        (lambda handler: None, "page_unreachable"),
    ],
)
def test_what_is_no_page_is_refused(server: WebServer, sent: object, code: str) -> None:
    server.pages["/page"] = sent  # type: ignore[assignment]
    fetcher = Fetcher(server.reach, most_bytes=1_000_000)
    assert refused(fetcher, f"{server.address}/page") == code


@rules(
    # Only what is on the public internet may be asked; a network of IPv6 has one beginning.
    ("addresses", "address", "public", lambda one: is_public(ip_address(one))),
    ("addresses", "address own", "near", lambda *both: share_a_network(*map(ip_address, both))),
)
def test_an_address_is_public_or_near(rule: Any, given: list[str], expected: bool) -> None:
    assert rule(*given) is expected


def test_a_public_address_of_this_computer_is_near_and_not_asked_nor_one_without_a_certificate(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure = server.address.replace("http:", "https:")
    assert refused(Fetcher(server.reach), f"{secure}/mill") == "page_unreachable"
    assert is_near(ip_address("127.0.0.1"))
    assert is_near(ip_address("::ffff:127.0.0.1"))
    assert not is_near(ip_address("127.0.0.2"))  # asked from 127.0.0.1
    # As if the loopback had a public address.
    monkeypatch.setattr(fetching, "is_public", lambda address: True)
    fetcher = Fetcher(Reach(frozenset((server.port,))), lambda *_: [ip_address("127.0.0.1")])
    assert refused(fetcher, f"http://mill.example:{server.port}/mill") == "page_not_public"
    assert server.asked == []
