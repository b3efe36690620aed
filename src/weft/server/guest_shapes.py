"""Bodies and responses of the endpoints for clients of other protocols, as types. The OpenAPI document is made from
them; the endpoints read bodies themselves, because such clients send more than is described here."""

from typing import Annotated, Any, Literal

import msgspec

from weft.core.json import JsonObject
from weft.server.errors import ErrorCode

# --- /api/chat -------------------------------------------------------------------------------------------------------
ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


class ChatBody(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a chat page: plain messages, or UI messages of the Vercel AI SDK."""

    messages: list[JsonObject]
    id: str | None = None
    """The name of the conversation."""
    model: str | None = None
    tools: list[Any] | None = None
    """Tools that the page runs; UI messages only."""
    trigger: str | None = None
    messageId: str | None = None  # noqa: N815


class ChatView(msgspec.Struct, frozen=True, kw_only=True):
    """A chat as UI messages of the Vercel AI SDK."""

    id: str
    session: str
    messages: list[JsonObject]


class Stopped(msgspec.Struct, frozen=True):
    cancelled: bool
    """False if nothing was running."""


class ChatPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: str = "loop"


class LoopFrame(msgspec.Struct, frozen=True, kw_only=True):
    """The data of `content_delta`, `tool_call_start`, `tool_call_result`, `done` or `error`."""

    content: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None


class UIMessageChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a UI message stream, version 1."""

    type: str


class ChatSocketRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    type: Literal["send", "resume", "abort"]
    request_id: str
    id: str | None = None
    messages: list[JsonObject] = []
    body: JsonObject | None = None


class ChatSocketFrame(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    type: Literal["start", "chunk", "end", "error"]
    request_id: str
    sequence: int | None = None
    chunk: JsonObject | None = None
    error_text: str | None = None


# --- /agui -----------------------------------------------------------------------------------------------------------


class AGUIBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The input of an AG-UI run."""

    messages: list[JsonObject]
    thread_id: str | None = None
    run_id: str | None = None
    protocol_version: str | None = None
    state: Any = None
    tools: list[JsonObject] | None = None
    context: list[JsonObject] | None = None
    forwarded_props: Any = None
    resume: list[JsonObject] | None = None


class AGUIEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the AG-UI protocol."""

    type: str


# --- /v1 -------------------------------------------------------------------------------------------------------------


class V1ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    type: str | None = None
    code: ErrorCode | str | None = None
    param: str | None = None


class V1ErrorBody(msgspec.Struct, frozen=True):
    """The body of an error response below /v1."""

    error: V1ErrorDetail


class V1Model(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class V1Models(msgspec.Struct, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[V1Model]


class CompletionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A chat completion request. A parameter that is not listed is refused."""

    messages: list[JsonObject]
    model: str | None = None
    stream: bool | None = None
    stream_options: JsonObject | None = None
    tools: list[JsonObject] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: int | None = None
    response_format: JsonObject | None = None
    reasoning_effort: str | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    store: bool | None = None
    show_tools: bool | None = None
    user: Any = None
    metadata: Any = None
    safety_identifier: Any = None
    prompt_cache_key: Any = None
    prompt_cache_retention: Any = None
    service_tier: Any = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    logit_bias: JsonObject | None = None
    modalities: list[str] | None = None
    functions: list[Any] | None = None
    function_call: str | None = None


class CompletionUsage(msgspec.Struct, frozen=True, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: JsonObject
    completion_tokens_details: JsonObject
    cost: float | msgspec.UnsetType = msgspec.UNSET
    """In dollars, where the price of the model is known."""


class CompletionMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    reasoning_content: str | msgspec.UnsetType = msgspec.UNSET
    tool_calls: list[JsonObject] | msgspec.UnsetType = msgspec.UNSET


class CompletionChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    message: CompletionMessage
    finish_reason: str
    logprobs: Any = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage | None


class ChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    delta: JsonObject
    finish_reason: str | None


class CompletionChunk(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a streamed completion. The stream ends with `[DONE]`."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: CompletionUsage | None = None


class ResponseBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for a response. A parameter that is not listed is refused."""

    input: str | list[JsonObject]
    model: str | None = None
    instructions: str | None = None
    stream: bool | None = None
    stream_options: JsonObject | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None
    tools: list[JsonObject] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    text: JsonObject | None = None
    reasoning: JsonObject | None = None
    include: list[str] | None = None
    metadata: dict[str, str] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    show_tools: bool | None = None
    top_logprobs: int | None = None
    context_management: list[Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    prompt_cache_options: Any = None
    service_tier: Any = None


class ResponseView(msgspec.Struct, frozen=True, kw_only=True):
    """A response. It also repeats the parameters of its request."""

    id: str
    object: Literal["response"]
    created_at: int
    status: ResponseStatus
    model: str
    output: list[JsonObject]
    error: JsonObject | None
    incomplete_details: JsonObject | None
    usage: JsonObject | None
    metadata: dict[str, str] | None
    previous_response_id: str | None
    background: bool


class ResponseEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a streamed response."""

    type: str
    sequence_number: int


class DeletedResponse(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["response"]
    deleted: Literal[True]


class InputItems(msgspec.Struct, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[JsonObject]
    first_id: str
    last_id: str
    has_more: bool


class RetrieveQuery(msgspec.Struct, frozen=True):
    stream: bool = False
    """Stream the events of the response, the stored ones first."""
    starting_after: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Stream the events after this sequence number."""
    include_obfuscation: Literal[False] = False


class InputItemsQuery(msgspec.Struct, frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    """The id of the last item of the page before."""
