"""The last frames of a stream, and the end of its connection."""

import asyncio

from starlette.types import Receive, Scope

from heald.core.json import JsonObject
from heald_server.dialects.dialect import Dialect
from heald_server.dialects.frame import Frame
from heald_server.dialects.texts import NOT_STORED
from heald_server.streams.event_stream import EndReason, EventStream


def closing_frames(dialect: Dialect, reason: EndReason | None) -> list[Frame]:
    """The frames that close what a dialect has open, with an error if the events could not be stored."""
    return dialect.close(NOT_STORED) if reason == "store" else dialect.close()


def goodbye_frame(session: str, reason: EndReason, seq: int) -> JsonObject:
    return {"type": "goodbye", "session": session, "reason": reason, "resume": seq}


async def abort_connection(scope: Scope) -> None:
    """Close a connection without sending what is buffered. Does nothing under servers that do not support it."""
    abort = scope.get("state", {}).get("abort_connection")
    if abort is not None:
        abort()
        await asyncio.sleep(0)  # lets the server process the close


async def wait_for_disconnect(receive: Receive, stream: EventStream) -> None:
    """Stop the stream when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.stop()
