"""The route of the protocol: all messages of a session as text."""

from starlette.responses import PlainTextResponse

from heald_plugin_example.protocol import render_line
from heald_server import ApiCall, Operation


async def read_transcript(call: ApiCall) -> PlainTextResponse:
    info = await call.session()
    events = await call.context.sessions.store.read(info.id)
    return PlainTextResponse("\n".join(filter(None, map(render_line, events))))


TRANSCRIPT = Operation(
    "GET", "/transcript/{session}", read_transcript, "Transcript of a session", media_type="text/plain"
)
