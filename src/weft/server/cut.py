"""Cutting a connection whose client takes nothing any more: what it was still to get is thrown away."""

import asyncio

from starlette.types import Scope


async def cut(scope: Scope) -> None:
    """Nothing more is sent and nothing kept. Servers that cannot do it close the connection when they like."""
    abort = scope.get("state", {}).get("cut")
    if abort is not None:
        abort()
        await asyncio.sleep(0)  # the server hears of it before we return
