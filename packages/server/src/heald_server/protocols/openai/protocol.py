"""openai: clients of the Chat Completions API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.openai.dialect import OpenAIDialect
from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from heald_server.protocols.openai.routes import OpenAIRoutes

    return OpenAIRoutes(context).routes()


PROTOCOL = ClientProtocol(name="openai", dialect=OpenAIDialect, routes=_routes)
