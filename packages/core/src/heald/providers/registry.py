"""The installed providers by name: an entry of `heald.providers` is an `Endpoint`, or a sequence of them."""

from collections.abc import Sequence
from functools import cache
from typing import cast

from heald.plugin_loader import load_plugins, record_failure
from heald.providers.endpoint import Endpoint


@cache
def installed_providers() -> dict[str, Endpoint]:
    """Load all installed providers. Those of `heald.toml` are not among them."""
    providers: dict[str, Endpoint] = {}
    for name, plugin in load_plugins("providers").items():
        endpoints = _read_endpoints(plugin)
        if endpoints is None:
            record_failure("providers", name, TypeError("it must be a heald.plugins.Endpoint or a sequence of them"))
            continue
        for endpoint in endpoints:
            providers.setdefault(endpoint.provider, endpoint)
    return providers


def _read_endpoints(plugin: object) -> Sequence[Endpoint] | None:
    if isinstance(plugin, Endpoint):
        return [plugin]
    if not isinstance(plugin, Sequence):
        return None
    endpoints = cast("Sequence[object]", plugin)
    return [endpoint for endpoint in endpoints if isinstance(endpoint, Endpoint)] or None
