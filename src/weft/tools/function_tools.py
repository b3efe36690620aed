"""Turns typed Python functions into tools (`@weft.tool`), and holds the registry of an agent's tools.

The signature becomes the JSON Schema and the docstring the description. A parameter of type `ToolContext` is filled in
by the runtime and hidden from the model. A coroutine function runs in the event loop, a plain function in a thread.
The values that a generator yields are the pieces of its result.
"""

import asyncio
import contextvars
import inspect
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from os import PathLike
from typing import Annotated, Any, Protocol, TypeVar, cast, overload, runtime_checkable

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.core.lazy import lazy_pattern
from weft.core.message_forms import read_tool_definition
from weft.core.messages import ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.definitions import TOOL_NAME, Access, CallPreview, Effect, Tool
from weft.tools.results import ToolOutput
from weft.tools.type_schema import TypeSchema, slim_schema
from weft.tools.workspace.base import Workspace

_SECTION = lazy_pattern(r"^(args|arguments|parameters|returns?|yields?|raises|examples?|notes?)\s*:\s*$", re.IGNORECASE)
_UNDERLINED = lazy_pattern(r"^-{3,}\s*$")
_PARAMETER = lazy_pattern(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = lazy_pattern(r"^:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


def read_docstring(function: object) -> tuple[str, dict[str, str]]:
    """Return the description and the text for each parameter (Google or reST style)."""
    lines = (inspect.getdoc(function) or "").splitlines()
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    section = ""
    current: list[str] | None = None
    for number, line in enumerate(lines):
        heading = _SECTION.match(line)
        underlined = number + 1 < len(lines) and _UNDERLINED.match(lines[number + 1]) is not None
        if heading or (underlined and line.strip()):
            section, current = line.strip(" :").lower(), None
        elif field := _FIELD.match(line.strip()):
            section, current = ":param", parameters.setdefault(field[1], [field[2]])
        elif line.lstrip().startswith(":"):
            section, current = "other", None
        elif not section:
            description.append(line)
        elif section in ("args", "arguments", "parameters") and (named := _named(line, current)):
            current = parameters.setdefault(named[0], [named[1]])
        elif current is not None and line.strip():
            current.append(line.strip())
    return "\n".join(description).strip(), {name: " ".join(text).strip() for name, text in parameters.items()}


def _named(line: str, current: list[str] | None) -> tuple[str, str] | None:
    """Return the name and text of a parameter that begins on this line, or None for a continuation line."""
    found = _PARAMETER.match(line.strip())
    indent = len(line) - len(line.lstrip())
    if found is None or (current is not None and indent > 4):
        return None
    return found[1].lstrip("*"), found[2]


T = TypeVar("T")

GRACE = 1.5
"""Seconds to wait for a thread after its call was cancelled."""


async def in_thread(function: Callable[[], T], name: str) -> T:
    """Run a function in a daemon thread, with the context variables of the caller."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        resolve: Callable[[], None]
        try:
            resolve = partial(_finish, done, context.run(function))
        except BaseException as error:
            resolve = partial(_fail, done, error)
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(resolve)

    threading.Thread(target=work, name=f"weft-tool-{name}", daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        done.add_done_callback(_ignore)
        await asyncio.wait([done], timeout=GRACE)
        if not done.done():
            logging.getLogger("weft").warning("The tool %s could not be stopped and was left behind.", name)
        raise


def _ignore(done: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of an abandoned call, so that asyncio does not log it."""
    if not done.cancelled():
        done.exception()


def _finish(done: "asyncio.Future[Any]", value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: "asyncio.Future[Any]", error: BaseException) -> None:
    if done.done():
        return
    # a future cannot hold StopIteration, and an exit or cancellation inside the thread must not propagate
    if isinstance(error, StopIteration | KeyboardInterrupt | SystemExit | asyncio.CancelledError):
        error = RuntimeError(f"{type(error).__name__} in a tool")
    done.set_exception(error)


Function = Callable[..., Any]


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "any",
    access: Callable[[JsonObject], Sequence[Access]] | None = None,
    subjects: Callable[[JsonObject], Sequence[str] | None] | None = None,
    summary: Callable[[JsonObject], str] | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    preview: Callable[[Workspace], CallPreview] | None = None,
    pure: bool = False,
    idempotent: bool = False,
    sequential: bool = False,
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Any,
) -> Tool | Callable[[Function], Tool]:
    """Turn a typed function into a tool. `weft.Tool` describes the options."""
    if function is None:
        return lambda given: tool_of(given, name=name, description=description, **options)
    return tool_of(function, name=name, description=description, **options)


def tool_of(function: Function, *, name: str | None = None, description: str | None = None, **options: Any) -> Tool:
    tool_name = name or getattr(function, "__name__", type(function).__name__)
    where = f"The tool {tool_name!r}"
    documented, parameter_texts = read_docstring(function)
    fields, context = _parameters(function, parameter_texts, where)
    arguments = msgspec.defstruct(f"{tool_name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    shape = TypeSchema(arguments, where)
    schema = slim_schema(shape.schema)

    def convert(given: JsonObject) -> JsonObject:
        return msgspec.structs.asdict(shape.convert(given))

    plain = inspect.unwrap(function)
    gives_pieces = inspect.isasyncgenfunction(plain) or inspect.isgeneratorfunction(plain)
    called = getattr(function, "__call__", None)  # noqa: B004
    is_async = inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(called)

    def run(given: JsonObject, ctx: ToolContext) -> Awaitable[Any]:
        if context is not None:
            given = {**given, context: ctx}
        if gives_pieces:
            return _run_pieces(function(**given), ctx, tool_name)
        return function(**given) if is_async else _run_plain(partial(function, **given), tool_name)

    definition = ToolDefinition(name=tool_name, description=description or documented, input_schema=schema)
    return Tool(definition=definition, run=run, convert=convert, **options)


async def _run_plain(call: Callable[[], Any], name: str) -> Any:
    """Run a plain function in a thread. One that returns an awaitable gets its value awaited."""
    value = await in_thread(call, name)
    return await value if inspect.isawaitable(value) else value


async def _run_pieces(made: Any, ctx: ToolContext, name: str) -> Any:
    """Run a generator: each value that it yields is a piece of the result. A `ToolOutput` is the return value."""
    if inspect.isasyncgen(made):
        last: Any = None
        async with aclosing(made) as pieces:
            async for piece in pieces:
                last = _add_piece(piece, ctx)
        return last

    def consume() -> Any:
        last: Any = None
        for piece in made:
            last = _add_piece(piece, ctx)
            if ctx.cancelled:
                break
        made.close()
        return last

    return await in_thread(consume, name)


def _add_piece(piece: Any, ctx: ToolContext) -> ToolOutput | None:
    if isinstance(piece, ToolOutput):
        return piece
    ctx.partial(piece)
    return None


def _parameters(
    function: Function, descriptions: dict[str, str], where: str
) -> tuple[list[tuple[str, Any, Any]], str | None]:
    """Return the fields that the model fills in, and the name of the ToolContext parameter."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (TypeError, ValueError, NameError) as error:
        raise ConfigurationError(f"{where} has a signature that cannot be read: {error}.") from None
    fields: list[tuple[str, Any, Any]] = []
    context = None
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD and parameter.kind is not parameter.KEYWORD_ONLY:
            raise ConfigurationError(f"{where} takes {parameter}; every parameter needs a name of its own.")
        kind = parameter.annotation
        if kind is ToolContext:
            context = parameter.name
            continue
        if kind is parameter.empty:
            raise ConfigurationError(f"{where}: the parameter {parameter.name!r} has no type; annotate it.")
        if parameter.name in descriptions:
            kind = Annotated[kind, msgspec.Meta(description=descriptions[parameter.name])]
        fields.append((parameter.name, kind, _field_default(parameter)))
    return fields, context


def _field_default(parameter: inspect.Parameter) -> Any:
    default: Any = parameter.default
    if default is parameter.empty:
        return msgspec.NODEFAULT
    if isinstance(default, list | dict | set):
        return msgspec.field(default_factory=cast("Any", default).copy)
    if isinstance(default, PathLike):  # a schema's default must be JSON
        return msgspec.field(default_factory=lambda: cast("Any", default))
    return default


@runtime_checkable
class ToolSource(Protocol):
    """Tools that change while an agent runs, such as those of MCP servers. `version` differs after each change."""

    @property
    def version(self) -> int: ...

    @property
    def tools(self) -> Sequence[Tool]: ...


ToolLike = Tool | Callable[..., Any] | Mapping[str, Any] | ToolSource


class Registry:
    """The tools of an agent by name. Plain functions are converted to tools when they are added."""

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._sources: list[tuple[ToolSource, int, dict[str, Tool]]] = []  # with the version and the tools of it
        for tool in tools:
            if not isinstance(tool, Tool) and isinstance(tool, ToolSource):  # the second check is slow
                self._sources.append((tool, -1, {}))
            else:
                self.add(tool)
        self.refresh()

    def refresh(self) -> bool:
        """Read the sources that changed. Returns whether there was one. A name that is in use is left out."""
        changed = False
        for at, (source, version, before) in enumerate(self._sources):
            if source.version == version:
                continue
            changed = True
            now = source.version
            offered = {tool.name: tool for tool in source.tools}
            for name, tool in before.items():
                if self._tools.get(name) is tool:
                    del self._tools[name]
            added = {name: tool for name, tool in offered.items() if name not in self._tools and TOOL_NAME.match(name)}
            self._tools |= added
            self._sources[at] = source, now, added
        return changed

    def add(self, tool: ToolLike) -> Tool:
        if isinstance(tool, Mapping):
            tool = declared_tool(cast("Mapping[str, Any]", tool))
        elif not isinstance(tool, Tool):
            tool = tool_of(cast("Callable[..., Any]", tool))
        if tool.name in self._tools:
            raise ConfigurationError(f"There are two tools named {tool.name!r}; give one of them another name.")
        if not TOOL_NAME.match(tool.name):
            raise ConfigurationError(f"{tool.name!r} is no name for a tool: use at most 64 letters, digits, _ and -.")
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> None:
        self._tools.pop(name, None)

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def nearest(self, name: str) -> str | None:
        """Return the most similar tool name, or None."""
        from difflib import get_close_matches

        return next(iter(get_close_matches(name, self._tools, 1, 0.6)), None)

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [tool.definition for tool in self._tools.values()]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def declared_tool(declaration: Mapping[str, Any]) -> Tool:
    """Make a tool that is declared as data, with a function `execute` of the arguments. Raises ConfigurationError.

    {
        "name": "weather",
        "description": "Weather of a city.",
        "jsonSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "execute": lambda args: {"status": "success", "result": "3 °C"},
    }
    """
    fields = dict(declaration)
    definition = read_tool_definition(fields)
    execute: Any = fields.get("execute")
    if not callable(execute):
        raise ConfigurationError(
            f"The tool {definition.name[:64]!r} has no function 'execute'; give one that is called with the arguments."
        )
    function: Function = execute
    is_async = inspect.iscoroutinefunction(function)

    def run(given: JsonObject, ctx: ToolContext) -> Awaitable[Any]:  # noqa: ARG001
        return function(given) if is_async else _run_plain(partial(function, given), definition.name)

    return Tool(definition=definition, run=run)
