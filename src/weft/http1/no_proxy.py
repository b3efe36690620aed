"""Decides by NO_PROXY which hosts are reached without a proxy.

Entries are separated by commas or spaces: `*`, a domain (with its subdomains; `.domain` is the same), `*.domain` (its
subdomains only), an address, a network such as `10.0.0.0/8` or `fd00::/8`. A host may have a port; an IPv6 address with
one stands in brackets.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


def is_excluded(no_proxy: str, host: str, port: int) -> bool:
    """Whether a list of entries names a host and port."""
    name = host.lower().strip("[]").rstrip(".")
    address = _parse_address(name)
    return any(_matches(entry, name, address, port) for entry in no_proxy.lower().replace(",", " ").split())


def _matches(entry: str, name: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return address is not None and _is_in_network(address, entry)
    host, wanted = _split_port(entry)
    if wanted is not None and wanted != port:
        return False
    if address is not None:
        return _parse_address(host) == address
    if host.startswith("*."):
        return name.endswith(host[1:])
    host = host.strip(".")
    return bool(host) and (name == host or name.endswith(f".{host}"))


def _split_port(entry: str) -> tuple[str, int | None]:
    """The host of an entry, without brackets, and its port."""
    host, colon, port = entry.rpartition(":")
    if entry.startswith("["):
        inside, _, rest = entry[1:].partition("]")
        return inside, int(rest[1:]) if rest[1:].isdecimal() else None
    if not colon or ":" in host or not port.isdecimal():  # no port, or a bare IPv6 address
        return entry, None
    return host, int(port)


def _is_in_network(address: IPv4Address | IPv6Address, entry: str) -> bool:
    try:
        network = ip_network(entry, strict=False)
    except ValueError:
        return False
    return address.version == network.version and address in network


def _parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
