"""The name of a server among its nodes, and the token that the environment gives it."""

import os
from pathlib import Path

from heald.core.errors import ConfigurationError
from heald.core.ids import new_id


def new_node_name(name: str | None) -> str:
    """Return a name of this process among the nodes. Another process of the same name is another node: the one before
    it may have died, and its work is claimed."""
    return new_id(name.replace("/", "-") if name else "node")


def environment_token() -> str:
    """Return the token of the environment: HEALD_TOKEN, or the content of the file that HEALD_TOKEN_FILE names."""
    file = os.environ.get("HEALD_TOKEN_FILE")
    if os.environ.get("HEALD_TOKEN") or not file:
        return os.environ.get("HEALD_TOKEN", "")
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"HEALD_TOKEN_FILE names a file that cannot be read ({error.strerror}).") from None
