"""Public is what may be dialled; everything else is not, however it is wrapped."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.tools.web.urls import is_public, parse_address

NOT_PUBLIC = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254
    169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1
    198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe
    64:ff9b:1::1 64:ff9b:1::808:808 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1
    2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fd20:ce::254
    fe80::1 fec0::1 ff02::1 ff0e::1 2606:4700::5efe:7f00:1 2606:4700::200:5efe:10.0.0.1 4000::1
"""
PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.32.0.1 192.0.1.1 198.17.0.1 223.255.255.254
    2606:4700:4700::1111 2a00:1450:4001::8a ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 2606:4700::5efe:808:808
"""


@pytest.mark.parametrize("text", NOT_PUBLIC.split())
def test_what_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.split())
def test_what_is_public(text: str) -> None:
    assert is_public(ip_address(text))


def test_an_address_of_one_interface_only_is_not_public() -> None:
    assert not is_public(IPv6Address("2606:4700:4700::1111%eth0"))


@given(st.ip_addresses(v=4))
def test_wrapping_changes_nothing(inside: IPv4Address) -> None:
    number = int(inside)
    mapped = IPv6Address(0xFFFF << 32 | number)
    nat64 = IPv6Address(0x64FF9B << 96 | number)
    six_to_four = IPv6Address(0x2002 << 112 | number << 80)
    assert is_public(mapped) is is_public(nat64) is is_public(six_to_four) is is_public(inside)


@given(st.ip_addresses())
def test_public_is_never_more_than_the_standard_library_states(address: IPv4Address | IPv6Address) -> None:
    if is_public(address) and isinstance(address, IPv4Address):
        assert address.is_global
        assert not address.is_multicast
    if is_public(address):
        wrong = (address.is_loopback, address.is_link_local, address.is_multicast, address.is_unspecified)
        assert not any(wrong)


def test_only_the_usual_spelling_is_an_address() -> None:
    assert parse_address("127.0.0.1") == IPv4Address("127.0.0.1")
    for odd in ("127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "127.0.0.01", "", "localhost"):
        assert parse_address(odd) is None
