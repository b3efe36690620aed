"""ai-sdk: chat pages and the Vercel AI SDK."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.ai_sdk.dialect import AISDKDialect
from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from heald_server.protocols.ai_sdk.routes import ChatRoutes

    return ChatRoutes(context).routes()


PROTOCOL = ClientProtocol(name="ai-sdk", dialect=AISDKDialect, routes=_routes)
