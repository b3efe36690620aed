"""a2a: agents for A2A (Agent2Agent) clients, at `/a2a`. Needs the extra `a2a`.

The package is large, so the first request loads it.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from heald_server.context import ServerContext
    from heald_server.protocols.a2a.endpoint import A2AEndpoint
    from heald_server.protocols.protocol import ServerRoute

PATH = "/a2a"
AGENT_CARD = "/.well-known/agent-card.json"
"""Describes the agent to A2A clients, which read it before they have a token."""


def _routes(context: "ServerContext") -> "Sequence[ServerRoute]":
    from starlette.routing import Route

    from heald.core.json import JsonObject
    from heald_server.http.lazy_endpoint import LazyEndpoint
    from heald_server.http.route_description import RouteDescription
    from heald_server.protocols.a2a.http_routes import HTTP_ROUTES
    from heald_server.protocols.shared.json_rpc import JsonRpcMessage

    def open_endpoint() -> "A2AEndpoint":
        from heald_server.protocols.a2a.endpoint import A2AEndpoint

        return A2AEndpoint(context, PATH)

    async def card(request: "Request") -> "Response":
        return (await endpoint.open()).card(request)

    endpoint = LazyEndpoint(open_endpoint)
    describe = partial(RouteDescription, tag="a2a")
    rest = [
        describe(method, f"{PATH}{path}", summary, **shapes, error_body=JsonObject)
        for method, path, summary, shapes in HTTP_ROUTES
    ]
    return [
        Route(AGENT_CARD, card, methods=["GET"]),
        Route(PATH, endpoint, methods=["POST"]),
        *(Route(description.path, endpoint, methods=[description.method]) for description in rest),
        describe("GET", AGENT_CARD, "The card of the agent for A2A clients.", response=JsonObject, is_public=True),
        describe(
            "POST",
            PATH,
            "A request of an A2A client: JSON-RPC as the protocol defines it.",
            body=JsonRpcMessage,
            response=JsonRpcMessage,
            events=(JsonRpcMessage,),
            error_body=JsonObject,
        ),
        *rest,
    ]


PROTOCOL = ClientProtocol(name="a2a", routes=_routes, packages=("a2a",), extra="a2a", public_paths=(AGENT_CARD,))
