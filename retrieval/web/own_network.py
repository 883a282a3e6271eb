"""Which public addresses are this computer's own, or of the networks that it is in.

With IPv6 a computer inside of a network has a public address, even where a firewall keeps others
out.
"""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address, ip_network

from retrieval.web.public_addresses import Address

_ONE_NETWORK = 64  # bits that the addresses of a network of IPv6 begin with
_PORT = 9  # nothing is sent to it


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
