"""Runs the calls that a session asks its client to run, each once, and sends their results."""

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import ClientToolRequested
from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolDefinition, ToolResult
from heald.core.payload import Payload
from heald.tools.client_results import parse_client_result
from heald.tools.client_tools import ClientToolLike, read_client_tools
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.registry import Registry, ToolLike
from heald.tools.runtime import ToolRuntime
from heald.tools.tool_fault import ToolFault, describe_exception
from heald.tools.tool_output import to_output

OfferedTool = str | ToolLike | ClientToolLike
"""A name is a tool of the server. A function or `Tool` runs in the client. A definition is answered by the program."""


SendResult = Callable[[str, object, bool], object]
"""Called with the id of a call, the content of its result, and whether it is an error."""


def split_tools(tools: Sequence[OfferedTool]) -> tuple[list[str], list[Tool], list[JsonObject]]:
    """Return the names of the server's tools, the tools that run here, and the definitions of all client tools."""
    if isinstance(tools, str):
        raise ConfigurationError(f"The tools are a list; write [{tools!r}].")
    names = [tool for tool in tools if isinstance(tool, str)]
    local_tools = Registry(cast(ToolLike, tool) for tool in tools if isinstance(tool, Tool) or callable(tool))
    definitions = [tool for tool in tools if not isinstance(tool, str | Tool) and not callable(tool)]
    return names, list(local_tools), definitions_of([*local_tools, *cast("list[ClientToolLike]", definitions)])


def definitions_of(tools: Sequence[ClientToolLike]) -> list[JsonObject]:
    """Check client tools and return their definitions as JSON."""
    return [_as_json(definition) for definition in read_client_tools(tools)]


def _as_json(definition: ToolDefinition) -> JsonObject:
    return {name: getattr(definition, name) for name in ("name", "description", "input_schema")}


class ClientToolRunner:
    """A reactor that runs the calls of tools that this client has."""

    def __init__(
        self, tools: Sequence[Tool], send: SendResult, find_deps: Callable[[str | None], object] = lambda _: None
    ) -> None:
        """`find_deps` returns the `deps` of the tools in an exchange."""
        self._runtime = ToolRuntime(tools)
        self._send = send
        self._find_deps = find_deps
        self._seen: set[str] = set()  # calls that were run, or that are over
        self._running: dict[str, asyncio.Task[None]] = {}

    def on_client_tool_requested(self, event: Event) -> None:
        assert isinstance(event.data, ClientToolRequested)
        self.start(event.data, event.exchange)

    def on_tool_result(self, event: Event) -> None:
        """Stop a call that is over: another client answered, it was cancelled, or it timed out."""
        assert isinstance(event.data, ToolResult)
        task = self._running.get(event.data.id)
        if task is not None:
            task.cancel()

    def check_deps(self, deps: object) -> None:
        """Raise ConfigurationError if a tool needs `deps` of another type."""
        self._runtime.check_deps(deps)

    def start(self, request: ClientToolRequested, exchange: str | None = None) -> None:
        """Run a call, unless it was run before or another client has the tool."""
        if request.id in self._seen or request.name not in self._runtime.registry:
            return
        self._seen.add(request.id)
        self._running[request.id] = task = asyncio.get_running_loop().create_task(self._work(request, exchange))
        task.add_done_callback(lambda _: self._running.pop(request.id, None))

    async def close(self) -> None:
        """Stop what runs. The calls wait for another client."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._runtime.close()

    async def _work(self, request: ClientToolRequested, exchange: str | None) -> None:
        call = ToolCall(id=request.id, name=request.name, input=request.input)
        content, is_error = await self._run(call, self._find_deps(exchange))
        self._send(request.id, content, is_error)

    async def _run(self, call: ToolCall, deps: object) -> tuple[object, bool]:
        """Return the content of the result, and whether it is an error."""
        runtime = self._runtime
        planned = runtime.plan(call)
        if isinstance(planned, ToolFault):
            return str(planned), True
        loop = asyncio.get_running_loop()
        context = ToolContext(
            call,
            runtime.workspace,
            emit=_ignore,
            keep=runtime.session_objects,
            ask=_refuse_to_ask,
            loop=loop,
            deps=deps,
        )
        try:
            output = to_output(context.join(await planned.tool.run(planned.values, context)))
            parse_client_result(output.content, output.is_error)
        except ToolFault as fault:
            if fault.status == "denied":
                return {"type": "execution-denied", "reason": str(fault)}, False
            return describe_exception(fault, ""), True
        except Exception as error:
            return describe_exception(error, ""), True
        finally:
            context.close()
        return msgspec.to_builtins(output.content), output.is_error


def _ignore(payload: Payload) -> None:
    """Drop the progress of a call: the server accepts its result only."""


async def _refuse_to_ask(call: ToolCall, text: str, suggestions: Sequence[str]) -> str:  # noqa: ARG001
    raise ToolFault("A tool that runs in a client cannot ask questions through the session.")
