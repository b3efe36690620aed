"""Identifiers: a readable prefix and 80 random bits."""

from secrets import token_hex


def new_id(prefix: str) -> str:
    return f"{prefix}_{token_hex(10)}"
