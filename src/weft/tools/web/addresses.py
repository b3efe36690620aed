"""Which addresses may be dialled: public ones only, also when they are wrapped in another address.

`is_global` of the standard library differs between Python versions and lets some private ranges through, so the
special ranges of IANA's registries are listed here as well. What carries an IPv4 address inside (mapped, 6to4, NAT64,
ISATAP) is public only if that address is.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; a cloud's metadata too
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's host agent, at a public address
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata too
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_6TO4 = IPv6Network("2002::/16")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def parse_address(text: str) -> Address | None:
    """The address that the text is in its one usual spelling, None if it is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether it may be dialled on behalf of strangers."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64 or address.ipv4_mapped is not None:
        return all(map(is_public, _inside(address)))
    if address not in _GLOBAL_UNICAST or any(address in network for network in _NOT_PUBLIC_V6):
        return False
    if not address.is_global and address not in _6TO4:
        return False
    return all(map(is_public, _inside(address)))


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that packets to this one may end up at."""
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address in _6TO4:
        yield IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _NAT64 or (int(address) >> 32 & 0xFFFFFFFF) in _ISATAP:
        yield low
