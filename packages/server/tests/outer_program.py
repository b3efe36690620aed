"""A Starlette program under plain uvicorn that the tests mount a server in."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp


@asynccontextmanager
async def outer_program(app: ASGIApp, prefix: str = "/assistant", **options: Any) -> AsyncGenerator[str]:
    """Serve a program with `app` below a prefix. Yields its address without the prefix."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    outer = Starlette(routes=[Mount(prefix, app)], **options) if prefix else app
    server = uvicorn.Server(uvicorn.Config(outer, log_config=None, timeout_graceful_shutdown=1, ws="websockets-sansio"))
    task = asyncio.create_task(server.serve([bound]))
    while not server.started:
        assert not task.done(), task.exception()
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        bound.close()
