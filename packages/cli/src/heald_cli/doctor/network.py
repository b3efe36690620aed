"""Rows about the connections to providers."""

import asyncio

from heald.commands.finding import DoctorFinding, Findings, missing, ok
from heald.providers.keys import has_key
from heald_cli.doctor.providers import list_endpoints

_TIMEOUT_SECONDS = 10.0
_DEFAULT_PROVIDERS = ("anthropic", "openai", "gemini")


def skip_network() -> Findings:
    yield DoctorFinding("network", "skipped", "was not checked", "heald doctor --network checks it.")


async def check_network() -> Findings:
    """Connect to the providers that have a key, or to the best known ones. No key is sent."""
    endpoints = {name: point for name, point in list_endpoints().items() if point.base_url.startswith("https://")}
    with_key = {name: endpoint for name, endpoint in endpoints.items() if has_key(endpoint.key_envs)}
    chosen = with_key or {name: endpoints[name] for name in _DEFAULT_PROVIDERS if name in endpoints}
    return await asyncio.gather(*(_check_address(name, endpoint.base_url) for name, endpoint in chosen.items()))


async def _check_address(provider: str, url: str) -> DoctorFinding:
    from heald.http1 import pool
    from heald.http1.errors import NetworkError
    from heald.http1.proxy import proxy_for
    from heald.http1.request import RequestTarget
    from heald.http1.tls import tls_context
    from heald.providers.network_errors import describe_os_error

    name, limit = f"network {provider}", _TIMEOUT_SECONDS
    try:
        target = RequestTarget.parse(url, proxy_for(url))
        request = pool.get_once(target, {"User-Agent": "heald"}, tls=tls_context(), connect_timeout=limit)
        async with asyncio.timeout(limit), request as answer:
            return ok(name, f"{url} answers ({answer.status})")
    except (NetworkError, OSError, ValueError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else describe_os_error(error)
        return missing(name, f"{url} cannot be reached ({reason})", "Check the connection, HTTPS_PROXY and firewalls.")
