"""The dialects by name: those of the installed protocols."""

from collections.abc import Callable

from heald.core.errors import ConfigurationError
from heald.plugins import has_plugin, plugin_names
from heald_server.dialects.dialect import Dialect
from heald_server.protocols.installed import load_protocol


def load_dialects() -> dict[str, Callable[..., Dialect]]:
    """Return the class of each dialect. It follows the session whose id is its first argument, or that of the first
    event."""
    protocols = {name: load_protocol(name) for name in plugin_names("protocols")}
    return {
        name: protocol.dialect
        for name, protocol in protocols.items()
        if protocol is not None and protocol.dialect is not None
    }


def open_dialect(name: str, session: str | None = None) -> Dialect:
    """Create a dialect by its name, with default options."""
    protocol = load_protocol(name) if has_plugin("protocols", name) else None
    if protocol is None or protocol.dialect is None:
        raise ConfigurationError(f"There is no dialect named {name[:40]!r}; there are {', '.join(load_dialects())}.")
    return protocol.dialect(session)
