"""Connects to the endpoint of a model before a request is sent: the first token then does not wait for a handshake."""

import asyncio
from contextlib import suppress

from heald.core.errors import HealdError
from heald.providers.base import CustomModel
from heald.providers.defaults import batches_of_context, tape_of_context
from heald.providers.model import Model
from heald.providers.resolve import find
from heald.providers.transport import Transport

_running: set["asyncio.Task[None]"] = set()


def connect_early(model: str | Model | CustomModel) -> None:
    """Open a connection to the endpoint of a model in the background. The next request uses it; none is sent here.

    Nothing happens if there is an idle connection, if one is being opened, or if the endpoint could not be reached a
    moment ago. Endpoints without TLS, such as most local servers, need no handshake and are left alone. Errors are not
    reported: the request itself reports them.
    """
    if tape_of_context.get() is not None or batches_of_context.get() is not None:
        return
    try:
        resolved = find(model) if isinstance(model, str) else model
        url = resolved.url if isinstance(resolved, Model) else ""
    except HealdError:
        return
    if not url.startswith("https:"):
        return
    task = asyncio.get_running_loop().create_task(_connect(url))
    _running.add(task)
    task.add_done_callback(_running.discard)


async def _connect(url: str) -> None:
    with suppress(HealdError):
        await (await Transport.for_running_loop()).connect_early(url)
