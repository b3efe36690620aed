"""The environment of the programs that Heald starts: what each of them needs, and no key that it does not need."""

import os
import re

from heald.core.lazy import lazy_pattern
from heald.tools.secret_values import is_secret_name

_KEY = lazy_pattern(r"(?:^|_)API_?KEYS?(?:_\w+)?$|^HEALD_(?:\w+_)?(?:TOKEN|KEY|SECRET|PASSWORD)\w*$", re.IGNORECASE)


def environment_of(*names: str) -> dict[str, str]:
    """Return the search path and the named variables, where they are set."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", *names) if name in os.environ}


def environment_without_keys() -> dict[str, str]:
    """Return the environment without the keys of models and of Heald: for programs that the user chose."""
    return {name: value for name, value in os.environ.items() if not _KEY.search(name)}


def environment_without_secrets() -> dict[str, str]:
    """Return the environment without variables whose names mark them as secrets. Paths stay: SSH_AUTH_SOCK is one."""
    return {
        name: value
        for name, value in environment_without_keys().items()
        if value.startswith("/") or not is_secret_name(name)
    }
