"""The protocols that are installed, as the entry points `heald.protocols` name them."""

import logging
from collections.abc import Collection

from heald.core.errors import ConfigurationError
from heald.plugins import PluginFailed, load_plugin, plugin_names, record_failure
from heald_server.protocols.protocol import ClientProtocol

_GROUP = "protocols"
_log = logging.getLogger("heald_server.protocols")


def find_protocols(names: Collection[str] | None = None) -> list[ClientProtocol]:
    """Return the protocols of these names, or all whose packages are installed.

    A protocol that cannot be loaded is left out and logged. Raises `ConfigurationError` for a name that is not
    installed, and for a named protocol whose packages are missing.
    """
    if names is None:
        protocols = [protocol for name in plugin_names(_GROUP) if (protocol := load_protocol(name)) is not None]
        return [protocol for protocol in protocols if not protocol.missing_packages]
    for name in names:
        require_protocol(name).require_packages()
    return [require_protocol(name) for name in plugin_names(_GROUP) if name in names]


def require_protocol(name: str) -> ClientProtocol:
    """Return a protocol. Raises `ConfigurationError` if it is not installed or cannot be loaded."""
    try:
        protocol = load_plugin(_GROUP, name)
    except KeyError:
        installed = ", ".join(plugin_names(_GROUP))
        raise ConfigurationError(f"There is no protocol named {name[:40]!r}; installed: {installed}.") from None
    if not isinstance(protocol, ClientProtocol):
        error = TypeError(f"{type(protocol).__name__} is not a ClientProtocol")
        raise ConfigurationError(record_failure(_GROUP, name, error))
    return protocol


def load_protocol(name: str) -> ClientProtocol | None:
    """Return a protocol, or None for one that cannot be loaded, which is logged."""
    try:
        return require_protocol(name)
    except (ConfigurationError, PluginFailed) as error:
        _log.error("%s", error)
        return None


def log_failed_routes(name: str, error: Exception) -> None:
    """Log that the routes of a protocol cannot be loaded, and list it among the problems of plugins."""
    _log.error("%s", record_failure(_GROUP, name, error), exc_info=error)
