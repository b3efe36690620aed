"""The routes of A2A over HTTP with JSON, below `/a2a`, for the OpenAPI document."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.core.json import JsonObject
from heald_server.http.errors import ErrorCode


class TaskQuery(msgspec.Struct, frozen=True):
    historyLength: int | None = None  # noqa: N815


class TasksQuery(msgspec.Struct, frozen=True):
    contextId: str | None = None  # noqa: N815
    status: str | None = None
    pageSize: int | None = None  # noqa: N815
    pageToken: str | None = None  # noqa: N815
    historyLength: int | None = None  # noqa: N815
    statusTimestampAfter: str | None = None  # noqa: N815
    includeArtifacts: bool | None = None  # noqa: N815


_MISSING: Sequence[ErrorCode] = ("not_found",)
_SENDS: Mapping[str, Any] = {"body": JsonObject, "errors": _MISSING}
_ANSWERS: Mapping[str, Any] = {"response": JsonObject, "media_type": "application/a2a+json", "errors": _MISSING}
_STREAMS: Mapping[str, Any] = {"events": (JsonObject,), "errors": _MISSING}
_PUSH = "/tasks/{id}/pushNotificationConfigs"
HTTP_ROUTES: Sequence[tuple[str, str, str, Mapping[str, Any]]] = (
    ("POST", "/message:send", "A message for the agent; the answer is a task.", {**_SENDS, **_ANSWERS}),
    ("POST", "/message:stream", "A message for the agent; the events of its task.", {**_SENDS, **_STREAMS}),
    ("GET", "/tasks", "The tasks.", {**_ANSWERS, "query": TasksQuery}),
    ("POST", "/tasks/{id}:cancel", "Cancel a task.", {**_ANSWERS, "body": JsonObject, "body_optional": True}),
    ("GET", "/tasks/{id}:subscribe", "The events of a task from now on.", _STREAMS),
    ("POST", "/tasks/{id}:subscribe", "The events of a task from now on.", _STREAMS),
    ("GET", "/tasks/{id}", "A task.", {**_ANSWERS, "query": TaskQuery}),
    ("GET", _PUSH, "The push notifications of a task.", _ANSWERS),
    ("POST", _PUSH, "Add a push notification to a task.", {**_SENDS, **_ANSWERS}),
    ("GET", f"{_PUSH}/{{push_id}}", "A push notification of a task.", _ANSWERS),
    ("DELETE", f"{_PUSH}/{{push_id}}", "Delete a push notification.", _ANSWERS),
    ("GET", "/extendedAgentCard", "The card of the agent for those who have a token.", _ANSWERS),
)
"""Method, path, summary, and keywords of the description."""
