"""The URL of a store: its scheme, and its password, which comes from the environment and is never printed."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from heald.core.errors import ConfigurationError

PASSWORD = "HEALD_STORE_PASSWORD"
PASSWORD_FILE = "HEALD_STORE_PASSWORD_FILE"
_NEXT_URL = re.compile(r",\s*(?=postgres(?:ql)?://)", re.IGNORECASE)


def scheme_of(url: str) -> str:
    """Return the scheme of a URL in lower case; an empty text if it has none."""
    scheme, colon, _ = url.partition(":")
    return scheme.lower() if colon else ""


def is_postgres(url: str) -> bool:
    return scheme_of(url) in ("postgresql", "postgres")


def split_urls(url: str) -> list[str]:
    """Return the URLs of a list, as `postgresql://one/heald,postgresql://two/heald`. A comma between the hosts of one
    URL does not divide it."""
    return _NEXT_URL.split(url)


def with_password(url: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL with the password of the environment, if it has none itself.

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
        raise ConfigurationError(
            f"{PASSWORD} needs a user in the address of the store, as in postgresql://heald@host/."
        )
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))


def without_password(url: str) -> str:
    """Return the URL, or a list of them, for messages and logs."""
    if len(urls := split_urls(url)) > 1:
        return ",".join(map(without_password, urls))
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}{at}{host}", query="", fragment=""))


def password_of(url: str) -> str:
    """Return the password in a URL, so that logs can hide it."""
    user = urlsplit(url).netloc.rpartition("@")[0]
    return unquote(user.partition(":")[2])


def store_secrets(*urls: str | None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the passwords in URLs and in the environment, which no log may show."""
    passwords = [password_of(url) for several in urls if several for url in split_urls(several)]
    passwords += [environment.get(name, "") for name in (PASSWORD, "PGPASSWORD")]
    with suppress(ConfigurationError):  # opening the store reports it
        passwords.append(_read_password(environment.get(PASSWORD_FILE)))
    return [password for password in passwords if password]


def _read_password(file: str | None) -> str:
    if not file:
        return ""
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"{PASSWORD_FILE} names a file that cannot be read ({error.strerror}).") from None
