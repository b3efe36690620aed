"""Bodies and responses of `/v1/responses`, as types. The OpenAPI document is made from them; the endpoints read bodies
themselves, because such clients send more than is described here."""

from typing import Annotated, Any, Literal

import msgspec

from heald.core.json import JsonObject

ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


class ResponseBody(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a response. A parameter that is not listed is dropped."""

    input: str | list[JsonObject]
    model: str | None = None
    instructions: str | None = None
    stream: bool | None = None
    stream_options: JsonObject | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None
    conversation: str | JsonObject | None = None
    """The client's name for the conversation, to which the input is added."""
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
    agent_tools: bool | None = None
    """Whether the agent's own tools are offered beside those of the request."""
    top_logprobs: int | None = None
    context_management: list[Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    prompt_cache_options: Any = None
    service_tier: Any = None
    client_metadata: Any = None


class ResponseCreate(ResponseBody, frozen=True, kw_only=True):
    """A request for a response over a WebSocket."""

    type: Literal["response.create"]


class ResponseSocketError(msgspec.Struct, frozen=True, kw_only=True):
    """An error over a WebSocket."""

    type: Literal["error"]
    status: int
    error: JsonObject


class CompactBody(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation to compact: that of an earlier response, the input, or both."""

    model: str
    """The model that writes the summary."""
    input: str | list[JsonObject] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    prompt_cache_key: str | None = None


class CompactedResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A compacted conversation: the input of the next request begins with its output."""

    id: str
    object: Literal["response.compaction"]
    created_at: int
    output: list[JsonObject]
    usage: JsonObject | None


class ResponseView(msgspec.Struct, frozen=True, kw_only=True):
    """A response, with the parameters of its request."""

    id: str
    object: Literal["response"]
    created_at: int
    completed_at: int | None
    status: ResponseStatus
    model: str
    output: list[JsonObject]
    error: JsonObject | None
    incomplete_details: JsonObject | None
    usage: JsonObject | None
    metadata: dict[str, str] | None
    previous_response_id: str | None
    background: bool
    conversation: JsonObject | None
    frequency_penalty: float
    instructions: str | None
    max_output_tokens: int | None
    max_tool_calls: int | None
    parallel_tool_calls: bool
    presence_penalty: float
    prompt_cache_key: str | None
    prompt_cache_retention: str | None = None
    reasoning: JsonObject
    safety_identifier: str | None
    service_tier: str
    store: bool
    temperature: float
    text: JsonObject
    tool_choice: Any
    tools: list[JsonObject]
    top_logprobs: int
    top_p: float
    truncation: Literal["auto", "disabled"]
    user: str | None


class ResponseEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a streamed response."""

    type: str
    sequence_number: int


class DeletedResponse(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["response"]
    deleted: bool


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
    include_obfuscation: bool = False
    """Changes nothing: events are not padded."""


class InputItemsQuery(msgspec.Struct, frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    """The id of the last item of the page before."""
