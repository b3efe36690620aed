"""Turns typed Python functions into tools (`@heald.tool`).

The signature becomes the JSON Schema and the docstring the description. A parameter of type `ToolContext` is filled in
by the runtime and hidden from the model. A coroutine function runs in the event loop, a plain function in a thread.
The values that a generator yields are the pieces of its result.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dis import opmap
from functools import partial
from os import PathLike
from types import CodeType
from typing import Annotated, Any, Generic, cast, get_args, get_origin, overload

import msgspec

from heald.core.arguments import check_keywords
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition
from heald.core.type_parameters import Parameters, ReturnT
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, CallPreview, Effect, Tool
from heald.tools.docstrings import read_docstring
from heald.tools.tool_output import ToolOutput
from heald.tools.tool_threads import in_thread, run_plain
from heald.tools.type_schema import TypeSchema, slim_schema
from heald.tools.workspace.base import Workspace

Function = Callable[..., Any]
_YIELD = opmap["YIELD_VALUE"]


class FunctionTool(Tool, Generic[Parameters, ReturnT], frozen=True, kw_only=True):
    """A tool made of a function by `heald.tool`. Calling it calls the function."""

    function: Callable[Parameters, ReturnT]
    """The function itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self).update(__name__=self.name, __doc__=self.function.__doc__, __wrapped__=self.function)

    def __call__(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> ReturnT:
        return self.function(*arguments, **keywords)


@overload
def tool(function: Callable[Parameters, ReturnT], /) -> FunctionTool[Parameters, ReturnT]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "any",
    access: Callable[[JsonObject], Sequence[Access]] | None = None,
    subjects: Callable[[JsonObject], Sequence[str] | None] | None = None,
    outside_effect: Callable[[JsonObject], str | None] | None = None,
    summary: Callable[[JsonObject], str] | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    preview: Callable[[Workspace], CallPreview] | None = None,
    pure: bool = False,
    idempotent: bool = False,
    sequential: bool = False,
    from_programs: bool = True,
) -> Callable[[Callable[Parameters, ReturnT]], FunctionTool[Parameters, ReturnT]]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Any,
) -> FunctionTool[..., Any] | Callable[[Function], FunctionTool[..., Any]]:
    """Turn a typed function into a tool. `heald.Tool` describes the options.

    The signature becomes the JSON Schema and the docstring the description. A parameter of type `ToolContext` is hidden
    from the model. The tool can be called like the function.
    """
    if function is None:

        def decorate(decorated: Function) -> FunctionTool[..., Any]:
            return tool_of(decorated, name=name, description=description, **options)

        return decorate
    return tool_of(function, name=name, description=description, **options)


_NOT_OPTIONS = ("definition", "run", "deps_types")
_OPTIONS = ("name", "description", *(name for name in Tool.__struct_fields__ if name not in _NOT_OPTIONS))


def tool_of(
    function: Function, *, name: str | None = None, description: str | None = None, **options: Any
) -> FunctionTool[..., Any]:
    """Make a tool of a function. Raises ConfigurationError if its signature cannot be one of a tool."""
    check_keywords("tool", options, _OPTIONS)
    if not callable(function) or isinstance(function, Tool):
        raise ConfigurationError(f"tool: {function!r} is not a function; decorate a function with @heald.tool.")
    tool_name = name or getattr(function, "__name__", type(function).__name__)
    where = f"The tool {tool_name!r}"
    documented, parameter_texts = read_docstring(function)
    fields, context, deps_types = _parameters(function, parameter_texts, where)
    arguments = msgspec.defstruct(f"{tool_name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    shape = TypeSchema(arguments, where)
    schema = slim_schema(shape.schema)

    def convert(arguments: JsonObject) -> JsonObject:
        return msgspec.structs.asdict(shape.convert(arguments))

    plain = inspect.unwrap(function)
    gives_pieces = inspect.isasyncgenfunction(plain) or inspect.isgeneratorfunction(plain)
    called = getattr(function, "__call__", None)  # noqa: B004
    is_async = inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(called)

    def run(arguments: JsonObject, ctx: ToolContext[Any]) -> Awaitable[Any]:
        if context is not None:
            arguments = {**arguments, context: ctx}
        if gives_pieces:
            return _run_pieces(function(**arguments), ctx, tool_name)
        return function(**arguments) if is_async else run_plain(partial(function, **arguments), tool_name)

    definition = ToolDefinition(name=tool_name, description=description or documented, input_schema=schema)
    made = FunctionTool(
        definition=definition, run=run, convert=convert, function=function, deps_types=deps_types, **options
    )
    vars(made).update(
        never_waits=is_async and not gives_pieces and _never_waits(function),
        ignores_context=context is None and not gives_pieces,
    )
    return made


def _never_waits(function: Function) -> bool:
    """Whether a coroutine function has no `await`, `async for` or `async with`: each of them is compiled to a yield."""
    code: CodeType | None = getattr(function, "__code__", None)
    return code is not None and inspect.iscoroutinefunction(function) and _YIELD not in code.co_code[::2]


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
) -> tuple[list[tuple[str, Any, Any]], str | None, tuple[Any, ...]]:
    """Return the fields that the model fills in, the name of the ToolContext parameter, and the type of its `deps`."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (TypeError, ValueError, NameError) as error:
        raise ConfigurationError(f"{where} has a signature that cannot be read: {error}.") from None
    fields: list[tuple[str, Any, Any]] = []
    context = None
    deps_types: tuple[Any, ...] = ()
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD and parameter.kind is not parameter.KEYWORD_ONLY:
            raise ConfigurationError(f"{where} has the parameter {parameter}; every parameter needs a name of its own.")
        kind = parameter.annotation
        if kind is ToolContext or get_origin(kind) is ToolContext:
            context, deps_types = parameter.name, get_args(kind)
            continue
        if kind is parameter.empty:
            raise ConfigurationError(f"{where}: the parameter {parameter.name!r} has no type; annotate it.")
        if parameter.name in descriptions:
            kind = Annotated[kind, msgspec.Meta(description=descriptions[parameter.name])]
        fields.append((parameter.name, kind, _field_default(parameter)))
    return fields, context, deps_types


def _field_default(parameter: inspect.Parameter) -> Any:
    default: Any = parameter.default
    if default is parameter.empty:
        return msgspec.NODEFAULT
    if isinstance(default, list | dict | set):
        return msgspec.field(default_factory=cast("Any", default).copy)
    if isinstance(default, PathLike):  # a schema's default must be JSON
        return msgspec.field(default_factory=lambda: cast("Any", default))
    return default
