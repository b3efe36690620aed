"""A `ToolContext` for the test of a tool, without an agent."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.tools.context import ToolContext
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.memory import MemoryWorkspace

_Deps = TypeVar("_Deps")


@overload
def tool_context(
    deps: None = None,
    *,
    workspace: Workspace | None = None,
    arguments: JsonObject | None = None,
    answers: Iterable[str] = (),
    events: list[Payload] | None = None,
) -> ToolContext[None]: ...
@overload
def tool_context(
    deps: _Deps,
    *,
    workspace: Workspace | None = None,
    arguments: JsonObject | None = None,
    answers: Iterable[str] = (),
    events: list[Payload] | None = None,
) -> ToolContext[_Deps]: ...
def tool_context(
    deps: Any = None,
    *,
    workspace: Workspace | None = None,
    arguments: JsonObject | None = None,
    answers: Iterable[str] = (),
    events: list[Payload] | None = None,
) -> ToolContext[Any]:
    """Return the context of a call, to test a tool by calling it: `await search("tea", ctx=tool_context(shop))`.

    `deps` is `ToolContext.deps`, `workspace` the files, in memory by default. `answers` are given to the questions of
    the tool, in this order; `events` is a list that gets what the tool publishes.
    """
    replies = iter(answers)

    async def answer(_: ToolCall, text: str, __: Sequence[str]) -> str:
        try:
            return next(replies)
        except StopIteration:
            raise ToolFault(f"tool_context has no answer to {text!r}; give it in `answers`.") from None

    def publish(payload: Payload) -> None:
        if events is not None:
            events.append(payload)

    return ToolContext(
        ToolCall(id=new_id("call"), name="tool", input=arguments or {}),
        workspace or MemoryWorkspace(),
        emit=publish,
        keep=SessionObjects(),
        ask=answer,
        deps=deps,
    )
