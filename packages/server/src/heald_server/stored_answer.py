"""Waits until what a client decided or sent is in the log, so that no crash loses what it was told is accepted."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager, suppress

from heald.core.envelope import Event
from heald.sessions.session import Session

_PATIENCE = 5.0
"""Seconds to wait for the event. It comes at once, but behind hooks that look at a result."""


@asynccontextmanager
async def storing_answer(session: Session, types: Collection[str], answered: str) -> AsyncGenerator[None]:
    """Give the answer in the body. At its end the log has an event of these types for `answered`: an approval, a
    question or a call."""
    published = asyncio.Event()

    def look(event: Event) -> None:
        data = event.data
        names = (getattr(data, name, None) for name in ("approval", "question", "id"))
        if answered in names:
            published.set()

    subscription = session.subscribe(look, types=types)
    try:
        yield
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await published.wait()
    finally:
        subscription.close()
    await session.flush()
