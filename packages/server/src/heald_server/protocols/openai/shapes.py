"""Bodies and responses of `/v1`, except those of `/v1/responses`, as types. The OpenAPI document is made from them;
the endpoints read bodies themselves, because such clients send more than is described here."""

from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject


class V1Model(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class V1Models(msgspec.Struct, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[V1Model]


class CompletionBody(msgspec.Struct, frozen=True, kw_only=True):
    """A chat completion request. A parameter that is not listed is dropped."""

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
    agent_tools: bool | None = None
    """Whether the agent's own tools are offered beside those of the request."""
    chat_id: str | None = None
    """The client's name for the conversation."""
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


class TextCompletionBody(msgspec.Struct, frozen=True, kw_only=True):
    """A text completion request. A parameter that is not listed is dropped."""

    prompt: str | list[str]
    model: str | None = None
    suffix: str | None = None
    """The text after the completion."""
    stream: bool | None = None
    stream_options: JsonObject | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    echo: bool | None = None
    logprobs: int | None = None
    logit_bias: JsonObject | None = None
    user: Any = None


class TextChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    text: str
    finish_reason: str | None
    logprobs: JsonObject | None = None


class TextCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """A text completion, or a chunk of a stream of it, which ends with `[DONE]`."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]
    usage: CompletionUsage | None = None


class FimMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["assistant"]
    content: str


class FimChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    message: FimMessage
    finish_reason: str | None


class FimCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """A text completion in the form of Mistral's API."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[FimChoice]
    usage: CompletionUsage | None = None


class FimChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    delta: FimMessage
    finish_reason: str | None


class FimChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of a streamed text completion in the form of Mistral's API."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[FimChunkChoice]
    usage: CompletionUsage | None = None


class EmbeddingBody(msgspec.Struct, frozen=True, kw_only=True):
    """An embedding request. A parameter that is not listed is dropped."""

    input: str | list[str | int | list[int]]
    model: str | None = None
    dimensions: int | None = None
    encoding_format: Literal["float", "base64"] | None = None
    user: Any = None


class EmbeddingRow(msgspec.Struct, frozen=True, kw_only=True):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str
    """Numbers, or 32-bit floats in base64."""


class EmbeddingUsage(msgspec.Struct, frozen=True, kw_only=True):
    prompt_tokens: int
    total_tokens: int
    cost: float | msgspec.UnsetType = msgspec.UNSET
    """In dollars, where the price of the model is known."""


class EmbeddingList(msgspec.Struct, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[EmbeddingRow]
    model: str
    usage: EmbeddingUsage
