"""Identifiers: a readable prefix and 80 random bits. They are unique, also after a fork."""

from os import urandom


def new_id(prefix: str) -> str:
    return f"{prefix}_{urandom(10).hex()}"
