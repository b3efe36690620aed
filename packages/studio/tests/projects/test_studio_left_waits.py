"""A caller that stops waiting for a variant leaves no error in the log."""

import asyncio
import gc
from typing import Any, cast

import pytest

from heald.sessions.store_errors import HandedOver
from heald_studio.projects.exchange_result import await_result


class _Lost:
    """An exchange whose session is handed over while somebody waits for it."""

    def __init__(self) -> None:
        self.is_handed_over = asyncio.Event()

    async def result(self) -> None:
        await self.is_handed_over.wait()
        raise HandedOver("Another process continues it.")


async def test_an_error_after_the_caller_was_cancelled_is_not_logged() -> None:
    logged: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
    exchange = _Lost()
    caller = asyncio.create_task(await_result(cast("Any", exchange)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    exchange.is_handed_over.set()
    await asyncio.sleep(0.01)
    gc.collect()
    assert logged == []
