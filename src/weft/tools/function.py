"""`@weft.tool`: a typed function becomes a tool.

Its signature is the JSON Schema, its docstring is what the model reads. A parameter of type `ToolContext` is filled in
by the runtime and hidden from the model. A coroutine runs in the loop, a plain function in a thread.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, overload

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.core.tools import ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.docstring import read_docstring
from weft.tools.preview import Preview
from weft.tools.shape import Shape
from weft.tools.threads import in_thread
from weft.tools.tool import Access, Effect, Tool
from weft.tools.workspace.base import Workspace

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
    preview: Callable[[Workspace], Preview] | None = None,
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
    """Make a tool of a typed function. See `weft.tools.tool.Tool` for what the options mean."""
    if function is None:
        return lambda given: tool_of(given, name=name, description=description, **options)
    return tool_of(function, name=name, description=description, **options)


def tool_of(function: Function, *, name: str | None = None, description: str | None = None, **options: Any) -> Tool:
    called = name or getattr(function, "__name__", type(function).__name__)
    where = f"The tool {called!r}"
    said, of_parameters = read_docstring(function)
    fields, context = _parameters(function, of_parameters, where)
    arguments = msgspec.defstruct(f"{called}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    shape = Shape(arguments, where)
    schema = {key: value for key, value in shape.schema.items() if key != "title"}
    names = tuple(field[0] for field in fields)

    def convert(given: JsonObject) -> JsonObject:
        value = shape.convert(given)
        return {name: getattr(value, name) for name in names}

    is_async = inspect.iscoroutinefunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )

    async def run(given: JsonObject, ctx: ToolContext) -> Any:
        if context is not None:
            given = {**given, context: ctx}
        if is_async:
            return await function(**given)
        value = await in_thread(partial(function, **given), called)
        return await value if inspect.isawaitable(value) else value

    definition = ToolDefinition(name=called, description=description or said, input_schema=schema)
    return Tool(definition=definition, run=run, convert=convert, **options)


def _parameters(
    function: Function, descriptions: dict[str, str], where: str
) -> tuple[list[tuple[str, Any, Any]], str | None]:
    """The fields that the model fills in, and the parameter that takes the context."""
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
        default = msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default
        if isinstance(default, list | dict | set):
            default = msgspec.field(default_factory=partial(_copy, default))
        fields.append((parameter.name, kind, default))
    return fields, context


def _copy(value: Any) -> Any:
    return value.copy()
