"""The routes that are no operations, as the OpenAPI document shows them: streams, sockets, pages, guests' endpoints.

A route of the server without an entry here fails a test. The routes of the studio are described where they are made.
"""

from functools import partial

import msgspec

from weft.core.json import JsonObject
from weft.server import guest_shapes, stream_frames
from weft.server.openapi import EventType, RouteDescription
from weft.server.views import Empty, HealthView, LoginBody, ReadyView, StreamQuery


class SocketQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: str = "native"
    after: str | None = None


_SOCKET_FRAMES = (
    EventType,
    stream_frames.SocketEvents,
    stream_frames.SocketSubscribed,
    stream_frames.StreamReset,
    stream_frames.StreamGoodbye,
    stream_frames.SocketReply,
    stream_frames.SocketError,
    stream_frames.SocketHeartbeat,
)
_native = partial(RouteDescription, tag="streams")
_about = partial(RouteDescription, tag="about", is_public=True)
_chat = partial(RouteDescription, tag="chat pages")
_v1 = partial(RouteDescription, tag="v1", error_body=guest_shapes.V1ErrorBody)

STREAMS = (
    _native(
        "GET",
        "/sessions/{session}/events",
        "The events of a session as server-sent events, after `after` or the header Last-Event-ID, then live.",
        query=StreamQuery,
        events=(EventType, stream_frames.StreamReset, stream_frames.StreamGoodbye),
        errors=("not_found", "invalid_cursor", "too_many"),
    ),
    _native(
        "WS",
        "/sessions/{session}/ws",
        "One session: its events in any dialect, and commands.",
        query=SocketQuery,
        body=stream_frames.AnyCommand,
        events=_SOCKET_FRAMES,
    ),
    _native(
        "WS",
        "/ws",
        "Many sessions and projects: events and commands.",
        body=stream_frames.AnyCommand,
        events=(*_SOCKET_FRAMES, stream_frames.SocketProject, stream_frames.SocketProjectDeleted),
    ),
)

ABOUT = (
    _about("GET", "/openapi.json", "This document.", response=JsonObject, is_public=False),
    _about("GET", "/health", "Whether the server runs; with a token, its version and state too.", response=HealthView),
    _about(
        "GET",
        "/ready",
        "For balancers: whether requests may be sent here. 503 while nothing can be stored, or the server stops.",
        response=ReadyView,
        errors=("unavailable",),
    ),
    _about("GET", "/metrics", "Metrics for Prometheus.", media_type="text/plain", is_public=False),
    _about("POST", "/login", "Exchange the token for a cookie.", response=Empty, body=LoginBody),
    _about("DELETE", "/login", "Remove the cookie.", response=Empty),
    _about("GET", "/", "The page.", media_type="text/html"),
    _about("GET", "/assets/{name}", "A file of the page.", media_type="*/*", errors=("not_found",)),
    _about("GET", "/favicon.ico", "The icon of the page.", media_type="image/svg+xml", more={204: "There is none."}),
)

GUESTS = (
    _chat(
        "POST",
        "/api/chat",
        "A message of a chat page or of `useChat`; the answer streams.",
        body=guest_shapes.ChatBody,
        query=guest_shapes.ChatPageQuery,
        events=(guest_shapes.LoopFrame, guest_shapes.UIMessageChunk),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    _chat(
        "WS",
        "/api/chat/ws",
        "The WebSocket transport of the Vercel AI SDK.",
        body=guest_shapes.ChatSocketRequest,
        events=(guest_shapes.ChatSocketFrame,),
    ),
    _chat("GET", "/api/chat/{name}", "A chat as UI messages.", response=guest_shapes.ChatView, errors=("not_found",)),
    _chat(
        "GET",
        "/api/chat/{name}/stream",
        "The running answer of a chat.",
        events=(guest_shapes.UIMessageChunk,),
        more={204: "Nothing runs."},
        errors=("too_many",),
    ),
    _chat("POST", "/api/chat/{name}/stop", "Cancel what runs in a chat.", response=guest_shapes.Stopped),
    RouteDescription(
        "POST",
        "/agui",
        "A run of an AG-UI client; its events stream.",
        "ag-ui",
        body=guest_shapes.AGUIBody,
        events=(guest_shapes.AGUIEvent,),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    RouteDescription(
        "POST", "/agui/{name}/stop", "Cancel what runs in a thread.", "ag-ui", response=guest_shapes.Stopped
    ),
    _v1(
        "POST",
        "/v1/chat/completions",
        "A chat completion, whole or as a stream.",
        response=guest_shapes.Completion,
        body=guest_shapes.CompletionBody,
        events=(guest_shapes.CompletionChunk,),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    _v1("GET", "/v1/models", "The models.", response=guest_shapes.V1Models),
    _v1("GET", "/v1/models/{name}", "A model.", response=guest_shapes.V1Model, errors=("not_found",)),
    _v1(
        "POST",
        "/v1/responses",
        "A response, whole, as a stream or in the background.",
        response=guest_shapes.ResponseView,
        body=guest_shapes.ResponseBody,
        events=(guest_shapes.ResponseEvent,),
        errors=("not_found", "conflict", "too_many", "budget"),
    ),
    _v1(
        "GET",
        "/v1/responses/{response_id}",
        "A stored response, or its events after `starting_after`.",
        response=guest_shapes.ResponseView,
        query=guest_shapes.RetrieveQuery,
        events=(guest_shapes.ResponseEvent,),
        errors=("not_found", "too_many"),
    ),
    _v1(
        "DELETE", "/v1/responses/{response_id}", "Delete.", response=guest_shapes.DeletedResponse, errors=("not_found",)
    ),
    _v1(
        "POST",
        "/v1/responses/{response_id}/cancel",
        "Cancel.",
        response=guest_shapes.ResponseView,
        errors=("not_found",),
    ),
    _v1(
        "GET",
        "/v1/responses/{response_id}/input_items",
        "The input of a response, page by page.",
        response=guest_shapes.InputItems,
        query=guest_shapes.InputItemsQuery,
        errors=("not_found",),
    ),
)

DESCRIPTIONS = (*STREAMS, *ABOUT, *GUESTS)
