"""Arguments of a call, once all of them have arrived: strict, or not at all."""

from typing import cast

from weft.core.json import JsonObject, as_list, as_object, parse_strict
from weft.core.stop import EXECUTABLE, StopReason
from weft.core.tools import InvalidCall, InvalidReason, ToolCall

_WHY: dict[StopReason, tuple[InvalidReason, str]] = {
    "max_tokens": (
        "truncated",
        "The call was cut off at the output limit and was not run. Send less in one call, or split it.",
    ),
    "content_filter": ("filtered", "A content filter stopped the message; its calls were not run."),
    "refusal": ("refused", "The message ended in a refusal; its calls were not run."),
    "pause_turn": ("truncated", "The turn was paused before the call was complete; it was not run."),
    "error": ("truncated", "The message ended in an error; its calls were not run."),
}
_MAX_DETAIL = 200


def finish_call(call_id: str, wire_id: str | None, name: str, text: str, stop: StopReason) -> ToolCall:
    """A call from its collected argument text. It carries `invalid` unless it may run."""
    value, problem = _parse(text)
    invalid: InvalidCall | None = None
    if stop not in EXECUTABLE:
        reason, message = _WHY.get(stop, _WHY["error"])
        invalid = InvalidCall(reason, message, text)
    elif problem is not None:
        invalid = InvalidCall("malformed", f"The arguments are not valid JSON: {problem}.", text)
    elif not name:
        invalid = InvalidCall("malformed", "The call names no tool.", text)
    return ToolCall(id=call_id, wire_id=wire_id, name=name, input=value, invalid=invalid)


def expand_parallel(text: str) -> list[tuple[str, JsonObject]] | None:
    """The calls inside OpenAI's legacy `multi_tool_use.parallel` wrapper, or None if it is not one."""
    value, problem = _parse(text)
    uses = value.get("tool_uses")
    if problem is not None or not isinstance(uses, list):
        return None
    calls: list[tuple[str, JsonObject]] = []
    for use in as_list(uses):
        name = as_object(use).get("recipient_name")
        if not isinstance(name, str):
            return None
        calls.append((name.removeprefix("functions."), as_object(as_object(use).get("parameters"))))
    return calls


def _parse(text: str) -> tuple[JsonObject, str | None]:
    """The arguments as an object, and what is wrong with them."""
    if text.strip() in ("", "null"):
        return {}, None
    try:
        value = parse_strict(text)
        if isinstance(value, str):  # encoded twice
            value = parse_strict(value)
    except ValueError as error:
        return {}, str(error)[:_MAX_DETAIL]
    if isinstance(value, dict):
        return cast(JsonObject, value), None
    return {}, f"expected an object, got {type(value).__name__}"


def wire_input(call: ToolCall) -> JsonObject:
    """The arguments as a history may hold them: APIs refuse text that is not JSON."""
    invalid = call.invalid
    if invalid is None or call.input or invalid.raw.strip() in ("", "{}", "null"):
        return call.input
    return {"INVALID_JSON": invalid.raw}
