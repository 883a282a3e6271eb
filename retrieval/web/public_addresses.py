"""Which addresses are on the public internet, so that a page there is everybody's to read."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_UNICAST = ip_network("2000::/3")  # all that is given out of IPv6
_NAT64 = ip_network("64:ff9b::/96")
# Public by their numbers, but answered by the network or the cloud that this computer is in.
_WITHIN = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))


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
