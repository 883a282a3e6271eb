"""Addresses of the public internet, and all others."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from retrieval.web.public_addresses import is_public


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
