"""Keys that somebody wrote into a file, where they do not belong."""

import re
from collections.abc import Iterator
from typing import Any, cast

_NAMED = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|key|secret|token|password|passwd|authorization|credential|cookie)s?$", re.I
)
_HARMLESS = ("no_token",)
_LOOKS = re.compile(
    r"sk-[A-Za-z0-9_-]{12,}|AIza[0-9A-Za-z_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}"
    r"|gsk_\w{20,}|xai-\w{20,}|hf_\w{20,}|r8_\w{20,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.|Bearer\s+\S{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_IN_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.I)


def is_secret(text: str) -> bool:
    """Whether a text holds what looks like a key, or a password in an address."""
    return _LOOKS.search(text) is not None or _IN_URL.search(text) is not None


def secrets_in(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys that are named like a secret, or hold what looks like one."""
    for key, value in table.items():
        place = (*path, key)
        if isinstance(value, dict):
            yield from secrets_in(cast("dict[str, Any]", value), place)
        elif isinstance(value, list):
            if any(isinstance(each, str) and is_secret(each) for each in cast("list[Any]", value)):
                yield place
        elif isinstance(value, str) and (is_secret(value) or (_NAMED.search(key) and key not in _HARMLESS and value)):
            yield place
