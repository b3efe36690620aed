"""Change notifications for MCP clients: `subscriptions/listen` since protocol 2026, else `resources/subscribe`."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourceUpdated,
    ServerEvent,
    event_matches,
    event_to_notification,
)
from pydantic import BaseModel

from heald.core.json import JsonObject, as_list
from heald_server.protocols.mcp.client_log import connection_of
from heald_server.protocols.mcp.tasks import ToolTask, require_tasks

MAX_STREAMS = 200
MAX_SUBSCRIPTIONS = 1000
_MAX_WAITING = 1000
CheckResource = Callable[[ServerRequestContext[Any, Any], str], Awaitable[object]]
"""Raises MCPError if the caller may not read a resource."""
FindTask = Callable[[ServerRequestContext[Any, Any], str], Awaitable[ToolTask]]


class TaskNotification(BaseModel):
    """`notifications/tasks`: the state of a task."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: JsonObject


@dataclass(slots=True)
class _Stream:
    """An open `subscriptions/listen`."""

    honored: types.SubscriptionFilter
    tasks: frozenset[tuple[str, str]]
    """The owners and ids of tasks."""
    waiting: asyncio.Queue[ServerEvent | ToolTask | None] = field(
        default_factory=lambda: asyncio.Queue[ServerEvent | ToolTask | None](_MAX_WAITING)
    )

    def put(self, event: ServerEvent | ToolTask | None) -> None:
        """Queue an event. The stream of a client that does not read ends: it lists anew when it is back."""
        if self.waiting.full():
            while not self.waiting.empty():
                self.waiting.get_nowait()
            event = None
        self.waiting.put_nowait(event)


class Subscriptions:
    """The subscriptions of a server's clients."""

    def __init__(self, check_resource: CheckResource, find_task: FindTask) -> None:
        self._check_resource = check_resource
        self._find_task = find_task
        self._streams: list[_Stream] = []
        self._subscribed: OrderedDict[tuple[str, str], ServerSession] = OrderedDict()
        self._sending: set[asyncio.Task[None]] = set()

    def serve(self, server: Server[Any]) -> None:
        """Add the requests to a server."""
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self._listen)
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)

    def publish(self, event: ServerEvent) -> None:
        """Inform the clients that subscribed to such events."""
        for stream in self._streams:
            if event_matches(stream.honored, frozenset(stream.honored.resource_subscriptions or ()), event):
                stream.put(event)
        if isinstance(event, ResourceUpdated):
            for (_, uri), session in self._subscribed.items():
                if uri == event.uri:
                    self._send(session, event)

    def on_task(self, task: ToolTask) -> None:
        """Inform the clients that subscribed to a task of its new state."""
        for stream in self._streams:
            if (task.owner, task.name) in stream.tasks:
                stream.put(task)

    def close(self) -> None:
        """End the streams."""
        for stream in self._streams:
            stream.put(None)

    async def _listen(
        self, request: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        asked = params.notifications
        names = [str(name) for name in as_list((asked.model_extra or {}).get("taskIds"))]
        if names:
            require_tasks(request)
        if len(self._streams) >= MAX_STREAMS:
            raise MCPError(types.INTERNAL_ERROR, f"{MAX_STREAMS} subscriptions are open already; close one.")
        tasks = [await self._find_task(request, name) for name in names[:MAX_SUBSCRIPTIONS]]
        uris: list[str] = []
        for uri in (asked.resource_subscriptions or [])[:MAX_SUBSCRIPTIONS]:
            try:
                await self._check_resource(request, uri)
            except MCPError:
                continue
            uris.append(uri)
        honored = types.SubscriptionFilter(
            tools_list_changed=asked.tools_list_changed or None,
            prompts_list_changed=asked.prompts_list_changed or None,
            resources_list_changed=asked.resources_list_changed or None,
            resource_subscriptions=uris or None,
            # pyrefly: ignore[bad-argument-type]
            **({"taskIds": [task.name for task in tasks]} if tasks else {}),
        )
        stream = _Stream(honored, frozenset((task.owner, task.name) for task in tasks))
        self._streams.append(stream)
        try:
            await self._serve_stream(request, stream)
        finally:
            self._streams.remove(stream)
        return types.SubscriptionsListenResult(_meta=_meta(request))

    async def _serve_stream(self, request: ServerRequestContext[Any, Any], stream: _Stream) -> None:
        acknowledged = types.SubscriptionsAcknowledgedNotificationParams(
            notifications=stream.honored, _meta=_meta(request)
        )
        message: types.ServerNotification = types.SubscriptionsAcknowledgedNotification(params=acknowledged)
        await request.session.send_notification(message, request.request_id)
        while (event := await stream.waiting.get()) is not None:
            if isinstance(event, ToolTask):
                params = event.as_json() | {"_meta": _meta(request)}
                message = cast("types.ServerNotification", TaskNotification(params=params))
            else:
                message = event_to_notification(event, _meta(request))
            await request.session.send_notification(message, request.request_id)

    async def _subscribe(
        self, request: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        await self._check_resource(request, str(params.uri))
        self._subscribed[connection_of(request), str(params.uri)] = request.session
        if len(self._subscribed) > MAX_SUBSCRIPTIONS:
            self._subscribed.popitem(last=False)
        return types.EmptyResult()

    async def _unsubscribe(
        self, request: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscribed.pop((connection_of(request), str(params.uri)), None)
        return types.EmptyResult()

    def _send(self, session: ServerSession, event: ResourceUpdated) -> None:
        task = asyncio.create_task(session.send_notification(event_to_notification(event, {})))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


def _meta(request: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    return {SUBSCRIPTION_ID_META_KEY: request.request_id}
