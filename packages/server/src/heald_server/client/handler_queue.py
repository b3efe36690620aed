"""Calls the handlers of events one after another, in a task."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from heald.core.envelope import PAYLOADS
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald_server.client.handler_names import handler_names, read_handler_mapping, read_handler_methods
from heald_server.protocols.agentx.dialect import MESSAGE_UPDATE

AgentXHandler = Callable[[JsonObject], object]
AgentXReactor = Mapping[str, AgentXHandler] | object

_NAMES = handler_names({**PAYLOADS, MESSAGE_UPDATE: None})
_log = logging.getLogger("heald_server.client")


class HandlerQueue:
    """The handlers of one reactor. If one is a coroutine, all run in a task, in the order of the events."""

    def __init__(self, reactor: AgentXReactor) -> None:
        if isinstance(reactor, Mapping):
            handlers = read_handler_mapping(cast("Mapping[object, Any]", reactor), _NAMES)
        else:
            handlers = read_handler_methods(reactor() if isinstance(reactor, type) else reactor, _NAMES)
            if not handlers:
                raise ConfigurationError(f"{type(reactor).__name__} has no handler such as onTextDelta.")
        self._handlers = cast("dict[str, AgentXHandler]", handlers)
        self._is_async = any(map(inspect.iscoroutinefunction, self._handlers.values()))
        self._waiting: asyncio.Queue[JsonObject] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def put(self, event: JsonObject) -> None:
        handler = self._handler_of(event)
        if handler is None:
            return
        if not self._is_async:
            self._call(handler, event)
            return
        self._waiting.put_nowait(event)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self, seconds: float) -> None:
        """Wait for the handlers of queued events, and cancel those that need more time."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=seconds)
            self._task.cancel()
            await asyncio.wait([self._task])

    def _handler_of(self, event: JsonObject) -> AgentXHandler | None:
        return self._handlers.get(event["type"], self._handlers.get("event"))

    def _call(self, handler: AgentXHandler, event: JsonObject) -> object:
        try:
            return handler(event)
        except Exception:
            _log.exception("A handler failed at %s of %s.", event["type"], event["agentId"])
            return None

    async def _work(self) -> None:
        while not self._waiting.empty():
            event = self._waiting.get_nowait()
            handler = self._handler_of(event)
            result = self._call(handler, event) if handler is not None else None
            if inspect.isawaitable(result):
                try:
                    await result
                except Exception:
                    _log.exception("A handler failed at %s of %s.", event["type"], event["agentId"])
