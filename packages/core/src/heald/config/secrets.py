"""Recognises API keys and passwords, which no settings file may hold."""

import re
from collections.abc import Iterator
from typing import Any, cast

from heald.core.lazy import lazy_pattern

_SECRET_NAME = lazy_pattern(
    r"(?:^|[_-])(?:api[_-]?key|key|secret|token|password|passwd|authorization|credential|cookie)s?$", re.I
)
_NOT_SECRET = ("no_token", "cache_key", "prompt_cache_key")
_REFERENCE = lazy_pattern(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
"""A variable in the values of an MCP server."""
_SECRET_VALUE = lazy_pattern(
    r"sk-[A-Za-z0-9_-]{12,}|AIza[0-9A-Za-z_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}"
    r"|gsk_\w{20,}|xai-\w{20,}|hf_\w{20,}|r8_\w{20,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.|Bearer\s+\S{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_URL_PASSWORD = lazy_pattern(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.I)


def is_secret(text: str) -> bool:
    """Whether a text contains something like an API key, or a password in an address."""
    return _SECRET_VALUE.search(text) is not None or _URL_PASSWORD.search(text) is not None


def find_secrets(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of values that are named like a secret or look like one."""
    for key, value in table.items():
        place = (*path, key)
        if isinstance(value, dict):
            yield from find_secrets(cast("dict[str, Any]", value), place)
        elif isinstance(value, list):
            texts = [text for text in cast("list[Any]", value) if isinstance(text, str)]
            if any(is_secret(_REFERENCE.sub("", text)) for text in texts):
                yield place
        elif isinstance(value, str) and (_is_secret_value(key, value)):
            yield place


def _is_secret_value(key: str, value: str) -> bool:
    """Whether a value is named like a secret or looks like one. A reference to a variable is none."""
    bare = _REFERENCE.sub("", value)
    if is_secret(bare):
        return True
    return bool(bare == value and value and _SECRET_NAME.search(key) and key not in _NOT_SECRET)
