"""Opens stores by URL. A plugin of the group `heald.stores` opens the URLs of one scheme."""

from collections.abc import Callable

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.plugin_loader import has_plugin, load_plugin, plugin_names
from heald.sessions.store import Store
from heald.sessions.store_url import is_postgres, scheme_of, without_password

StoreOpener = Callable[..., Store]
"""An entry of `heald.stores`: `open(url, *, node="", news="")`. It raises ConfigurationError for a URL that is not
valid, and for `news` if its nodes need none."""


def open_store(url: str, *, node: str = "", news: str = "") -> Store:
    """Open the store that a URL names: `sqlite:///path/to/file.db`, `postgresql://user@host/database` for a store that
    several nodes share, `memory:` for one that ends with the process, or a URL of another scheme that a plugin opens.

    As in SQLAlchemy, three slashes begin a relative path and four an absolute one. `node` is the name of this process
    among the nodes of a database; `news` is the URL of a NATS server (`nats://host:4222`) that carries the news between
    them instead of the database.
    """
    scheme = scheme_of(url)
    if has_plugin("stores", scheme):
        opener: StoreOpener = load_plugin("stores", scheme)
        return opener(url, node=node, news=news)
    if is_postgres(url):
        raise ConfigurationError(f"A store in PostgreSQL needs heald-nodes; install it: {install_advice('postgres')}.")
    schemes = ", ".join(f"{name}:" for name in sorted(plugin_names("stores")))
    raise ConfigurationError(
        f"There is no store {without_password(url)[:200]!r}; the URL of a store begins with one of {schemes}, for "
        "example sqlite:///app.db, or sqlite:////srv/app.db for an absolute path."
    )


def refuse_news(news: str) -> None:
    """Raise ConfigurationError if a server for news is named, for a store whose nodes need none."""
    if news:
        raise ConfigurationError("News by NATS are for nodes that share a PostgreSQL database; name one with --store.")


def bad_store_url(url: str, example: str) -> ConfigurationError:
    """Return the error for a URL that a store cannot open."""
    return ConfigurationError(f"There is no store {without_password(url)[:200]!r}; write {example}.")
