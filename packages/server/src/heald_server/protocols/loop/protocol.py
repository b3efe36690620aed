"""loop: the events of a plain tool loop over server-sent events. `/api/chat` serves it."""

from heald_server.protocols.loop.dialect import LoopDialect
from heald_server.protocols.protocol import ClientProtocol

PROTOCOL = ClientProtocol(name="loop", dialect=LoopDialect)
