"""Where Weft keeps things on this machine: one folder for the sessions of all commands."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from weft.core.errors import ConfigurationError
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore

DATA_HELP = "where sessions are kept (WEFT_DATA, else ~/.local/share/weft)"
FILE = "sessions.db"


def data_place(named: str | None = None) -> Path:
    """The folder that is meant, whether it is there or not."""
    named = named or os.environ.get("WEFT_DATA")
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(named).expanduser() if named else Path(home).expanduser() / "weft"


def data_folder(named: str | None = None) -> Path:
    """The same, made if need be: for its owner alone."""
    folder = data_place(named)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be made: {error.strerror}; name another with --data.") from None
    return folder


@asynccontextmanager
async def kept_sessions(named: str | None = None) -> AsyncGenerator[Sessions]:
    """All sessions of the folder, for as long as the block lasts."""
    store = SqliteStore(data_folder(named) / FILE)
    try:
        yield Sessions(store)
    finally:
        await store.close()
