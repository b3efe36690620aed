"""Applies the options on requests, to models and to the web, while a command runs."""

import argparse
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from heald.commands.request_settings import request_settings
from heald.core.errors import ConfigurationError


@contextmanager
def request_options(options: argparse.Namespace) -> Generator[None]:
    """Make the options on requests, to models and to the web, the defaults of all requests while a command runs."""
    with _model_request_options(options), _web_request_options(getattr(options, "web_allow_hosts", None) or []):
        yield


def _web_request_options(hosts: list[str]) -> AbstractContextManager[None]:
    if not hosts:
        return nullcontext()
    from heald.tools.tool_fault import ToolFault
    from heald.tools.web.fetcher import allow_hosts
    from heald.tools.web.urls import parse_host

    try:
        return allow_hosts([parse_host(host) for host in hosts])
    except ToolFault as fault:
        raise ConfigurationError(f"--allow-host: {fault}") from None


def _model_request_options(options: argparse.Namespace) -> AbstractContextManager[None]:
    if not hasattr(options, "retry_attempts"):
        return nullcontext()
    from heald.core.retry import Retry
    from heald.providers.defaults import request_defaults
    from heald.providers.watchdog import Timeouts

    retry = {name: getattr(options, f"retry_{name}") for name in Retry.__struct_fields__}
    timeouts = {name: getattr(options, f"timeouts_{name}") for name in Timeouts.__struct_fields__}
    return request_defaults(Retry(**retry), Timeouts(**timeouts), request_settings(options))
