"""openai: clients of the Chat Completions API, of text completion and of embeddings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.openai.dialect import OpenAIDialect
from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.protocols.protocol import ServerRoute


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from heald_server.protocols.openai.embedding_routes import EmbeddingRoutes
    from heald_server.protocols.openai.routes import OpenAIRoutes
    from heald_server.protocols.openai.text_routes import TextRoutes

    sources = (OpenAIRoutes(context), TextRoutes(context), EmbeddingRoutes(context))
    return [route for source in sources for route in source.routes()]


PROTOCOL = ClientProtocol(name="openai", dialect=OpenAIDialect, routes=_routes)
