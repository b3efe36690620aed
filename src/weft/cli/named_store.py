"""The store that the options of a command name: a file in the data folder, or a database."""

import argparse
import os
from pathlib import Path

from weft.config.paths import DATABASE, data_folder
from weft.core.errors import ConfigurationError
from weft.core.ids import new_id
from weft.sessions.open import open_store
from weft.sessions.postgres.address import password_of, with_password
from weft.sessions.sqlite import SqliteStore
from weft.sessions.store import Store


def open_named_store(data: str | None, url: str | None, *, node: str = "", news: str = "") -> Store:
    """Open the store at a URL, or that of a data folder."""
    if url:
        return open_store(url, node=node, news=news)
    if news:
        return open_store("sqlite:///", news=news)  # raises the error that explains what is missing
    return SqliteStore(data_folder(data) / DATABASE)


def new_node_name(name: str | None) -> str:
    """Return a name of this process among the nodes. Another process of the same name is another node: the one before
    it may have died, and its work is claimed."""
    return new_id(name.replace("/", "-") if name else "node")


def given_token() -> str:
    """Return the token of the environment: WEFT_TOKEN, or the content of the file that WEFT_TOKEN_FILE names."""
    file = os.environ.get("WEFT_TOKEN_FILE")
    if os.environ.get("WEFT_TOKEN") or not file:
        return os.environ.get("WEFT_TOKEN", "")
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"WEFT_TOKEN_FILE names a file that cannot be read ({error.strerror}).") from None


def store_secrets(options: argparse.Namespace) -> list[str]:
    """Return the passwords in the options, which no log may show."""
    urls = [with_password(options.store) if options.store else "", options.news or ""]
    return [secret for url in urls if (secret := password_of(url))] + [
        os.environ[name] for name in ("PGPASSWORD",) if os.environ.get(name)
    ]
