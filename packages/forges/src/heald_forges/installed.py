"""The kinds of forges that are installed, as the entry points `heald.forges` name them."""

from heald.plugins import load_plugins, record_failure
from heald_forges.kind import ForgeHost, ForgeKind

GROUP = "forges"


def installed_kinds() -> dict[str, ForgeKind]:
    """Return the kinds by name. One that cannot be used is listed by `heald.plugins.plugin_problems`."""
    kinds: dict[str, ForgeKind] = {}
    for name, plugin in load_plugins(GROUP).items():
        if isinstance(plugin, ForgeKind):
            kinds[name] = plugin
        else:
            record_failure(GROUP, name, TypeError(f"{type(plugin).__name__} is not a ForgeKind"))
    return kinds


def find_host(name: str) -> tuple[ForgeKind, ForgeHost] | None:
    """Return the public server of a host name, and its kind. The first kind that names it counts."""
    hosts = ((kind, host) for kind in installed_kinds().values() for host in kind.hosts)
    return next(((kind, host) for kind, host in hosts if host.host == name), None)


def usual_token_variables() -> tuple[str, ...]:
    """Return the usual variables with tokens of all public servers."""
    hosts = (host for kind in installed_kinds().values() for host in kind.hosts)
    return tuple(variable for host in hosts for variable in host.token_variables)
