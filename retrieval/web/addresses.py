"""Which addresses are on the public internet, and which are of this computer's own networks.

A page on the public internet is everybody's to read. With IPv6 a computer inside of a network has a
public address, even where a firewall keeps others out.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_UNICAST = ip_network("2000::/3")  # all that is given out of IPv6
_NAT64 = ip_network("64:ff9b::/96")
# Public by their numbers, but answered by the network or the cloud that this computer is in.
_WITHIN = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
_ONE_NETWORK = 64  # bits that the addresses of a network of IPv6 begin with
_PORT = 9  # nothing is sent to it


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
