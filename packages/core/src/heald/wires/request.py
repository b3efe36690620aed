"""The input of every wire: one turn in neutral form, and the quirks of the provider that it is sent to."""

import re
from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Reason, ReasoningEffort, Settings
from heald.wires.features import FeatureName

_ILLEGAL = lazy_pattern(r"[^a-zA-Z0-9_-]")


def legal_name(name: str) -> str:
    """A tool name or call id that every API accepts: models invent names, and a history with one is refused."""
    return _ILLEGAL.sub("_", name)[:64] or "_"


def _mistral_id(call_id: str) -> str:
    """A call id for Mistral, which accepts exactly nine letters and digits."""
    chars = re.sub(r"[^a-zA-Z0-9]", "", call_id)
    if len(chars) == 9:
        return chars
    number = 0
    for char in call_id:
        number = (number * 131 + ord(char)) % 62**9
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join(digits[number // 62**place % 62] for place in range(9))


class Quirks(msgspec.Struct, frozen=True, kw_only=True):
    """The ways in which a provider's API differs from the wire."""

    # requests
    without: list[FeatureName] = []
    """Features of the wire that the provider does not have. Their settings are not sent; a server tool is refused."""
    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: str = "max_tokens"
    user_field: str = "user"
    """The field that an id of the end user stands in."""
    seed_field: str = "seed"
    """The field that a seed stands in."""
    cache_marks: bool = False
    """Requests to Claude models carry `cache_control`: the server is a gateway that passes it on."""
    server_tool_parts: bool = True
    """Gemini 3: request the calls of server tools, without which own tools beside them are refused."""
    usage_option: bool = True
    """Request usage with `stream_options`; a few servers refuse the field."""
    prompt_progress: bool = False
    """Ask how much of the prompt is read. llama.cpp's server reports it in the stream."""
    reasoning_request: Literal["effort", "object", "thinking", "none"] = "effort"
    """How effort is requested: `reasoning_effort`, a `reasoning` object, a `thinking` switch, or not at all."""
    reasoning_echo: Literal["as_received", "none"] = "as_received"
    """Whether an assistant message is sent back with the reasoning fields it had."""
    id_pattern: Literal["any", "mistral"] = "any"
    content_parts: Literal["openai", "mistral"] = "openai"
    """The form of documents, audio and uploaded files in a message."""
    images_in_results: bool = False
    strict_tools: bool = False
    """Send `strict` with tool definitions that set it."""
    typed_output: Literal["auto", "with_tools", "without_tools", "json_object", "prompt"] = "auto"
    """How a schema of the answer is requested: beside tools, only without tools, as plain JSON, in the instructions."""

    context_size: int | None = None
    """The context of its models in tokens, if the server does not report it. A longer conversation is shortened."""
    upload_over: int | None = None
    """Files are uploaded first if a request would hold more bytes of data than this; the server has a Files API."""
    text_completion: Literal["completions", "beta", "fim", "infill", "none"] = "completions"
    """Where the text of a prompt is completed: `/completions`, the same below `/beta` (DeepSeek), `/fim/completions`
    (Mistral), `/infill` for a prompt with a suffix (llama.cpp), or nowhere."""
    embeddings: Literal["dimensions", "output_dimension", "none"] = "dimensions"
    """The field of `/embeddings` that the length of a vector stands in; `none` if there are no embeddings."""
    context_cap: int = 16_384
    """Ollama: the largest context, in tokens, that is requested. A larger one needs more memory."""

    # responses
    text_calls: bool = True
    """Calls that a model writes as text are recognised: the server is not known to parse them all."""
    finish_optional: bool = False
    """The server is known to end with `[DONE]` and no finish reason."""
    think_tags: bool = False
    """Thinking arrives inside the text as `<think>…</think>` and is split off."""

    stateless: bool = True
    """Responses: send `store: false` and carry encrypted reasoning ourselves."""

    def legal_id(self, call_id: str) -> str:
        """A call id that the server accepts."""
        return _mistral_id(call_id) if self.id_pattern == "mistral" else legal_name(call_id)


NO_QUIRKS = Quirks()
_BUDGETS: dict[ReasoningEffort, int] = {
    "none": 0,
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 24576,
    "xhigh": 32768,
    "max": 63999,
}


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One turn in neutral form."""

    model: str
    messages: list[Message]
    tools: list[ToolDefinition] = []
    settings: Settings = Settings()
    provider: str = ""
    quirks: Quirks = NO_QUIRKS
    context_size: int | None = None
    """The context to request, where an API has a field for it."""
    cache: Any = None
    """A `RenderCache` that is shared by the turns of a conversation."""


def forces_call(request: TurnRequest) -> bool:
    """Whether the model must call a tool."""
    return bool(request.tools) and request.settings.tool_choice not in ("auto", "none")


def offered_tools(request: TurnRequest) -> list[ToolDefinition]:
    """The tools for an API that has no tool choice `none`: then no tool is offered."""
    return [] if request.settings.tool_choice == "none" else request.tools


def resolve_effort(reason: Reason) -> ReasoningEffort | None:
    """The effort, or the one nearest to the budget."""
    if reason.effort is not None or reason.budget is None:
        return reason.effort
    budget = reason.budget
    return min((level for level in _BUDGETS if level != "max"), key=lambda effort: abs(_BUDGETS[effort] - budget))


def resolve_budget(reason: Reason) -> int | None:
    """The budget, or the one that stands for the effort."""
    if reason.budget is not None or reason.effort is None:
        return reason.budget
    return _BUDGETS[reason.effort]


def data_url(media_type: str, data: str) -> str:
    return f"data:{media_type};base64,{data}"


def without_none(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
