"""Reads the settings of the fetcher."""

import tomllib
from dataclasses import dataclass

DEFAULT_TIMEOUT = 45
DEFAULT_RETRIES = 3


@dataclass
class FetcherSettings:
    timeout: int = DEFAULT_TIMEOUT
    retries: int = DEFAULT_RETRIES
    pause: int = 30


def read_settings(text):
    """Settings from the text of a TOML file."""
    table = tomllib.loads(text).get("fetcher", {})
    return FetcherSettings(
        timeout=table.get("timeout", 30),
        retries=table.get("retries", DEFAULT_RETRIES),
        pause=table.get("pause", 30),
    )
