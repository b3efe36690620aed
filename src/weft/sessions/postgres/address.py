"""The address of a PostgreSQL database: its password comes from the environment, and is never printed."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from weft.core.errors import ConfigurationError

PASSWORD = "WEFT_STORE_PASSWORD"
PASSWORD_FILE = "WEFT_STORE_PASSWORD_FILE"


def is_postgres(url: str) -> bool:
    return url.partition(":")[0].lower() in ("postgresql", "postgres")


def with_password(url: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address with the password of the environment, if it has none itself.

    Without either, the database driver looks into `PGPASSWORD` and `PGPASSFILE`.
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if ":" in user:
        return url
    password = environment.get(PASSWORD) or _read_password(environment.get(PASSWORD_FILE))
    if not password:
        return url
    if not at:
        raise ConfigurationError(f"{PASSWORD} needs a user in the address of the store, as in postgresql://weft@host/.")
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))


def without_password(url: str) -> str:
    """Return the address for messages and logs."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}{at}{host}", query="", fragment=""))


def password_of(url: str) -> str:
    """Return the password in an address, so that logs can hide it."""
    user = urlsplit(url).netloc.rpartition("@")[0]
    return unquote(user.partition(":")[2])


def _read_password(file: str | None) -> str:
    if not file:
        return ""
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"{PASSWORD_FILE} names a file that cannot be read ({error.strerror}).") from None
