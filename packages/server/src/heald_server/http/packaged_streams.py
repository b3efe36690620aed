"""Streams that the package sse_starlette writes, for MCP and A2A clients."""

import asyncio
import sys

from heald_server.context import ServerContext

_CHECK_SECONDS = 0.1
_QUIET_CHECKS = 3
"""Checks without a response after which none is left to write."""


def end_packaged_streams(context: ServerContext, until: float, quiet: int = 0) -> None:
    """End the streams of MCP and A2A clients once no response is being sent, or when the time is over.

    The package that writes them would cut all of them off at the signal, in the middle of a response.
    """
    package = sys.modules.get("sse_starlette.sse")
    if package is None:
        return
    package.AppStatus.disable_automatic_graceful_drain()
    loop = asyncio.get_running_loop()
    quiet = 0 if context.is_responding else quiet + 1
    if quiet > _QUIET_CHECKS or loop.time() >= until:
        package.AppStatus.should_exit = True
    else:
        loop.call_later(_CHECK_SECONDS, end_packaged_streams, context, until, quiet)
