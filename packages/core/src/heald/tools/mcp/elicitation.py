"""Asks the user for the data that an MCP server requests: a form becomes questions, one for each field.

The first question names the server and what it wants, and offers to decline. Values are checked against the form's
schema. Without a user the request is declined.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import mcp_types as types

from heald.core.json import JsonObject, as_list, as_object
from heald.tools.approvals import NOBODY
from heald.tools.json_schema import compile_schema, find_schema_problem
from heald.tools.mcp.config import cut_words, shorten
from heald.tools.validation import repair

DECLINE, FILL_IN, USE_DEFAULTS, OPENED = "Decline", "Fill in", "Use the defaults", "Done"
MAX_FIELDS = 30
_MAX_OPTIONS = 50
_ATTEMPTS = 3
_REFUSALS = ("decline", "cancel", "no")
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "array": "one or more, separated by commas",
}

AskUser = Callable[[str, Sequence[str]], Awaitable[str]]
"""Asks the user a question with suggested answers."""
Value = str | int | float | bool | list[str]


class _Declined(Exception):
    def __init__(self, action: Literal["decline", "cancel"]) -> None:
        self.action: Literal["decline", "cancel"] = action


async def elicit(server: str, params: types.ElicitRequestParams, ask: AskUser) -> types.ElicitResult:
    """Ask the user. Returns the data, or that the user declined."""
    try:
        if isinstance(params, types.ElicitRequestURLParams):
            await _open_address(server, params, ask)
            return types.ElicitResult(action="accept")
        return types.ElicitResult(action="accept", content=await _fill_in(server, params, ask))
    except _Declined as declined:
        return types.ElicitResult(action=declined.action)


async def _open_address(server: str, params: types.ElicitRequestURLParams, ask: AskUser) -> None:
    if not params.url.startswith(("https://", "http://")):
        raise _Declined("decline")
    text = (
        f"The MCP server {server!r} asks you to open a page: {cut_words(params.message, 1000)}\n"
        f"{cut_words(params.url, 2000)}"
    )
    if await _ask(ask, text, [OPENED, DECLINE]) != OPENED:
        raise _Declined("decline")


async def _fill_in(server: str, params: types.ElicitRequestFormParams, ask: AskUser) -> dict[str, Any]:
    schema = params.requested_schema
    fields = {name: as_object(field) for name, field in as_object(schema.get("properties")).items()}
    if len(fields) > MAX_FIELDS or find_schema_problem(schema):
        raise _Declined("cancel")
    required = {str(name) for name in as_list(schema.get("required"))}
    defaults = {name: field["default"] for name, field in fields.items() if "default" in field}
    lines = [f"The MCP server {server!r} asks: {cut_words(params.message, 2000)}"]
    lines += [f"  {_describe(name, field, name in required)}" for name, field in fields.items()]
    choices = [FILL_IN] if fields else ["Accept"]
    if fields and required <= defaults.keys():
        choices.insert(0, USE_DEFAULTS)
    answer = await _ask(ask, "\n".join(lines), [*choices, DECLINE])
    if answer not in choices:
        raise _Declined("cancel")
    if answer == USE_DEFAULTS:
        values = dict(defaults)
    else:
        values = {}
        for name, field in fields.items():
            value = await _ask_field(ask, name, field, name in required)
            if value is not None:
                values[name] = value
    if not compile_schema(schema).is_valid(values):
        raise _Declined("cancel")
    return values


async def _ask_field(ask: AskUser, name: str, field: JsonObject, is_required: bool) -> Value | None:
    options = _options(field)
    suggestions = list(options) if field.get("type") != "boolean" else ["yes", "no"]
    default: Any = field.get("default")
    if default is not None and not suggestions:
        suggestions = [_text(default)]
    problem = ""
    for _ in range(_ATTEMPTS):
        text = await _ask(
            ask, f"{problem}{_describe(name, field, is_required)}", [*suggestions[:_MAX_OPTIONS], DECLINE]
        )
        if not text:
            if default is not None or not is_required:
                return default
            problem = "A value is needed. "
            continue
        value = _parse(text, field, options)
        if compile_schema(field).is_valid(value):
            return value
        problem = f"{shorten(text, 60)!r} does not fit. "
    raise _Declined("cancel")


async def _ask(ask: AskUser, text: str, suggestions: Sequence[str]) -> str:
    answer = (await ask(text, suggestions)).strip()
    if answer == NOBODY or (answer.lower() in _REFUSALS and answer not in suggestions[:-1]):
        raise _Declined("decline")
    return answer


def _parse(text: str, field: JsonObject, options: dict[str, str]) -> Any:
    match field.get("type"):
        case "boolean":
            return {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}.get(text.lower())
        case "array":
            return [options.get(part.strip(), part.strip()) for part in text.split(",") if part.strip()]
        case "integer" | "number":
            return repair(text, field)
        case _:
            return options.get(text, text)


def _options(field: JsonObject) -> dict[str, str]:
    """The values that a field allows, by their titles."""
    held = as_object(field.get("items")) if field.get("type") == "array" else field
    titled = as_list(held.get("oneOf")) or as_list(held.get("anyOf"))
    if titled:
        options = [as_object(option) for option in titled]
        return {str(option.get("title", option.get("const"))): str(option.get("const")) for option in options}
    names = as_list(held.get("enumNames"))
    values = [str(value) for value in as_list(held.get("enum"))]
    return {str(names[at]) if at < len(names) else value: value for at, value in enumerate(values)}


def _describe(name: str, field: JsonObject, is_required: bool) -> str:
    title = cut_words(field.get("title") or name, 80)
    about = f": {cut_words(field['description'], 300)}" if field.get("description") else ""
    kind = (
        "one or more, separated by commas" if field.get("type") == "array" else _TYPES.get(str(field.get("type")), "")
    )
    facts = [kind if not _options(field) or field.get("type") == "array" else "one of the choices"]
    facts += [] if is_required else ["optional"]
    facts += [f"default {_text(field['default'])}"] if "default" in field else []
    return f"{title}{about} ({', '.join(fact for fact in facts if fact)})"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(item) for item in as_list(value))
    return cut_words(value, 200)
