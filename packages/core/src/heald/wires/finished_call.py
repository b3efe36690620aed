"""A finished call of a model: its arguments parsed strictly, and why it must not run."""

from msgspec.structs import replace

from heald.core.json import JsonObject, as_list, as_object, encode_text, parse_strict
from heald.core.messages import InvalidCall, InvalidReason, ToolCall
from heald.core.turn import EXECUTABLE, StopReason

_NOT_EXECUTABLE: dict[StopReason, tuple[InvalidReason, str]] = {
    "max_tokens": (
        "truncated",
        "The call was cut off at the output limit and was not run. Send less in one call, or split it.",
    ),
    "content_filter": ("filtered", "A content filter stopped the message; its calls were not run."),
    "refusal": ("refused", "The message ended in a refusal; its calls were not run."),
    "pause_turn": ("truncated", "The turn was paused before the call was complete; it was not run."),
    "error": ("truncated", "The message ended in an error; its calls were not run."),
}
REPETITION = "stopped_repetition"
"""The reason of a message that Heald stopped because it repeated itself. No provider has this one."""
_REPEATED = "The answer repeated itself without an end, so it was stopped; the call was not run."
_DISABLED = "No tool may be called now: the tool choice is `none`. The call was not run; answer in text."
_MAX_DETAIL = 200
_MAX_REASON = 80


def build_call(
    call_id: str,
    wire_id: str | None,
    name: str,
    text: str,
    stop: StopReason,
    form: str | None = None,
    *,
    interrupted_by: str = "",
) -> ToolCall:
    """Parse the arguments of a finished call. It has `invalid` set unless it may run. `interrupted_by` is the
    provider's reason for a message that did not end regularly."""
    value, problem = _parse_arguments(text)
    invalid: InvalidCall | None = None
    if stop not in EXECUTABLE:
        reason, message = _NOT_EXECUTABLE.get(stop, _NOT_EXECUTABLE["error"])
        if interrupted_by == REPETITION:
            message = _REPEATED
        elif interrupted_by:
            message = (
                f"The provider ended the message early ({interrupted_by[:_MAX_REASON]!r}); its calls were not run."
            )
        invalid = InvalidCall(reason, message, text)
    elif problem is not None:
        invalid = InvalidCall("malformed", f"The arguments are not valid JSON: {problem}.", text)
    elif not name:
        invalid = InvalidCall("malformed", "The call names no tool.", text)
    return ToolCall(id=call_id, wire_id=wire_id, name=name, input=value, invalid=invalid, form=form)


def disable_call(call: ToolCall) -> ToolCall:
    """Return a call that came although the request allowed none. It must not run."""
    if call.invalid is not None:
        return call
    return replace(call, invalid=InvalidCall("disabled", _DISABLED, encode_text(call.input)))


def expand_parallel_calls(text: str) -> list[tuple[str, JsonObject]] | None:
    """The calls inside OpenAI's legacy `multi_tool_use.parallel` wrapper; None if it is malformed."""
    value, problem = _parse_arguments(text)
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


def _parse_arguments(text: str) -> tuple[JsonObject, str | None]:
    """The arguments as an object, and the problem if they are not one."""
    if text.strip() in ("", "null"):
        return {}, None
    try:
        value = parse_strict(text)
        if isinstance(value, str):  # encoded twice
            value = parse_strict(value)
    except ValueError as error:
        return {}, str(error)[:_MAX_DETAIL]
    if isinstance(value, dict):
        return value, None  # pyright: ignore[reportUnknownVariableType]
    return {}, f"expected an object, got {type(value).__name__}"


def replayable_input(call: ToolCall) -> JsonObject:
    """The arguments in a form that an API accepts in a history: text that is not JSON is wrapped."""
    invalid = call.invalid
    if invalid is None or call.input or invalid.raw.strip() in ("", "{}", "null"):
        return call.input
    return {"INVALID_JSON": invalid.raw}
