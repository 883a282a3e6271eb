"""Addresses of the public internet, of this computer, and of the networks that it is in."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from retrieval.errors import InvalidText
from retrieval.web import fetching
from retrieval.web.addresses import is_near, is_public, share_a_network
from retrieval.web.fetching import Fetcher, Reach, may_be_asked
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


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "185.15.59.224", "2a02:ec80:300:ed1a::1"),
        *("::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"),  # 8.8.8.8, wrapped
    ],
)
def test_what_is_public_may_be_asked(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1"),
        *("169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200"),  # of clouds
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.1"),
        *("::1", "::", "fe80::1", "fe80::1%1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"),
        *("::7f00:1", "2001:db8::1", "2001::1", "100::1", "64:ff9b:1::7f00:1"),
        # 127.0.0.1, 10.0.0.1 and 169.254.169.254, wrapped
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:a00:1::1"),
    ],
)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))
