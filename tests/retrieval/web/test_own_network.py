"""Addresses of this computer and of the networks that it is in."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from retrieval.errors import InvalidText
from retrieval.web import fetching
from retrieval.web.fetching import Fetcher, Reach, may_be_asked
from retrieval.web.own_network import is_near, share_a_network
from tests.support.web_server import web_server


def test_this_computer_is_near() -> None:
    assert is_near(ip_address("127.0.0.1"))
    assert is_near(ip_address("::ffff:127.0.0.1"))
    assert not is_near(ip_address("127.0.0.2"))  # asked from 127.0.0.1


@pytest.mark.parametrize(
    ("address", "own", "near"),
    [
        ("2a02:ec80:300:ed1a::1", "2a02:ec80:300:ed1a::1", True),
        ("2a02:ec80:300:ed1a::1", "2a02:ec80:300:ed1a:99::7", True),
        ("2a02:ec80:300:ed1b::1", "2a02:ec80:300:ed1a::1", False),
        ("8.8.8.8", "8.8.8.8", True),
        ("8.8.8.8", "8.8.8.9", False),
    ],
)
def test_a_network_of_ipv6_has_one_beginning(address: str, own: str, near: bool) -> None:
    assert share_a_network(ip_address(address), ip_address(own)) is near


def test_a_public_address_that_is_near_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the loopback had a public address.
    monkeypatch.setattr(fetching, "is_public", lambda address: True)
    with web_server() as server:
        fetcher = Fetcher(Reach(frozenset((server.port,))), lambda *_: [ip_address("127.0.0.1")])
        with pytest.raises(InvalidText) as refused:
            fetcher.fetch(f"http://mill.example:{server.port}/mill")
    assert refused.value.code == "page_not_public"
    assert server.asked == []
    assert not may_be_asked(ip_address("127.0.0.1"))
