"""Prints, as JSON, the words that the newest SDK packages of providers have in their types: stream events, blocks, stop
reasons, tool types and fields. Runs in an environment with those packages; imports nothing of Heald.

    {"openai-chat": {"package": "openai 3.51.0", "groups": {"finish reasons": ["stop", …], …}}, …}
"""

import json
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from importlib.metadata import version
from typing import Any

Groups = dict[str, list[str]]


def members(kind: Any) -> Iterator[Any]:
    """The classes of a union, of a list, or of an annotated type."""
    origin = typing.get_origin(kind)
    if isinstance(kind, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        yield from members(kind.__value__)
    elif origin is typing.Annotated or str(origin).endswith(("Required", "NotRequired")):
        yield from members(typing.get_args(kind)[0])
    elif origin is typing.Literal or origin is None:
        yield kind
    else:
        for argument in typing.get_args(kind):
            yield from members(argument)


def annotations(kind: Any) -> dict[str, Any]:
    """The fields of a pydantic model or of a TypedDict."""
    if hasattr(kind, "model_fields"):
        return {
            field.alias or name: typing.Annotated[field.annotation, None] for name, field in kind.model_fields.items()
        }
    if not hasattr(kind, "__total__"):
        return {}
    return import_module("typing_extensions").get_type_hints(kind)


def fields(*kinds: Any) -> list[str]:
    """The names of the fields of some types, and of the members of unions."""
    return sorted({name for kind in kinds for member in members(kind) for name in annotations(member)})


def literals(kind: Any) -> list[str]:
    """The strings that a type lists."""
    words: set[str] = set()
    for member in members(kind):
        if typing.get_origin(member) is typing.Literal:
            words |= {str(word) for word in typing.get_args(member)}
        elif isinstance(member, type) and issubclass(member, Enum):
            words |= {str(entry.value) for entry in member}
    return sorted(words)


def tags(*kinds: Any, field: str = "type") -> list[str]:
    """The values of the field that tells the members of unions apart."""
    words: set[str] = set()
    for kind in kinds:
        for member in members(kind):
            words |= set(literals(annotations(member).get(field, None)))
    return sorted(words)


def of(kind: Any, *path: str) -> Any:
    """The type of a field, by the names that lead to it."""
    for name in path:
        kinds = tuple(annotations(member)[name] for member in members(kind) if name in annotations(member))
        if not kinds:
            raise LookupError(f"{kind} has no field {name!r}; the SDK has changed, so change this script.")
        kind = typing.Union[kinds]  # noqa: UP007
    return kind


def openai_chat(package: str = "openai") -> Groups:
    types = import_module(f"{package}.types.chat")
    params = import_module(f"{package}.types.chat.completion_create_params")
    request = getattr(params, "CompletionCreateParamsStreaming", None) or params.CompletionCreateParams
    chunk = types.ChatCompletionChunk
    groups = {
        "chunk fields": fields(chunk),
        "choice fields": fields(of(chunk, "choices")),
        "delta fields": fields(of(chunk, "choices", "delta")),
        "call types": tags(of(chunk, "choices", "delta", "tool_calls")),
        "finish reasons": literals(of(chunk, "choices", "finish_reason")),
        "usage fields": fields(of(chunk, "usage")),
        "request fields": fields(request),
        "content parts": tags(types.ChatCompletionContentPartParam),
        "tool types": tags(of(request, "tools")),
        "roles": tags(types.ChatCompletionMessageParam, field="role"),
    }
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        groups["usage fields"] += [f"{name}.{field}" for field in fields(of(chunk, "usage", name))]
    return groups


def groq() -> Groups:
    return openai_chat("groq")


def openai_responses() -> Groups:
    types = import_module("openai.types.responses")
    request = import_module("openai.types.responses.response_create_params").ResponseCreateParamsStreaming
    text = types.ResponseOutputText
    response = types.Response
    return {
        "stream events": tags(types.ResponseStreamEvent),
        "socket events": tags(import_module("openai.types.responses.responses_server_event").ResponsesServerEvent),
        "socket requests": tags(import_module("openai.types.responses.responses_client_event").ResponsesClientEvent),
        "output items": tags(types.ResponseOutputItem),
        "input items": tags(types.ResponseInputItemParam),
        "content parts": tags(of(types.ResponseOutputMessage, "content")),
        "input parts": tags(types.ResponseInputContentParam),
        "annotations": tags(of(text, "annotations")),
        "statuses": literals(types.ResponseStatus),
        "incomplete reasons": literals(of(response, "incomplete_details", "reason")),
        "error codes": literals(of(response, "error", "code")),
        "response fields": fields(response),
        "usage fields": fields(types.ResponseUsage),
        "request fields": fields(request),
        "tool types": tags(types.ToolParam),
        "tool choices": sorted({*literals(of(request, "tool_choice")), *tags(of(request, "tool_choice"))}),
        "includes": literals(types.ResponseIncludable),
        "compaction request fields": fields(types.response_compact_params.ResponseCompactParams),
    }


def anthropic() -> Groups:
    types = import_module("anthropic.types.beta")
    plain = import_module("anthropic.types")
    request = import_module("anthropic.types.beta.message_create_params").MessageCreateParamsStreaming
    message = types.BetaMessage
    deltas = of(types.BetaRawContentBlockDeltaEvent, "delta")
    return {
        "stream events": sorted({*tags(types.BetaRawMessageStreamEvent), *tags(plain.RawMessageStreamEvent)}),
        "content blocks": sorted({*tags(types.BetaContentBlock), *tags(plain.ContentBlock)}),
        "deltas": sorted({*tags(deltas), *tags(of(plain.RawContentBlockDeltaEvent, "delta"))}),
        "message fields": fields(message),
        "message_delta fields": fields(types.BetaRawMessageDeltaEvent, of(types.BetaRawMessageDeltaEvent, "delta")),
        "stop reasons": literals(types.BetaStopReason),
        "citations": tags(types.BetaTextCitation),
        "usage fields": fields(types.BetaUsage, types.BetaMessageDeltaUsage),
        "iterations": tags(of(types.BetaUsage, "iterations")),
        "request fields": fields(request),
        "input blocks": tags(types.BetaContentBlockParam),
        "tool types": tags(types.BetaToolUnionParam),
        "tool choices": tags(types.BetaToolChoiceParam),
        "thinking": tags(types.BetaThinkingConfigParam),
        "context edits": tags(of(types.BetaContextManagementConfigParam, "edits")),
        "errors": tags(
            types.BetaError if hasattr(types, "BetaError") else import_module("anthropic.types").ErrorObject
        ),
    }


def gemini() -> Groups:
    types = import_module("google.genai.types")
    generation = [f"generationConfig.{name}" for name in fields(types.GenerationConfig)]
    return {
        "response fields": fields(types.GenerateContentResponse),
        "candidate fields": fields(types.Candidate),
        "parts": fields(types.Part),
        "call fields": fields(types.FunctionCall),
        "finish reasons": literals(types.FinishReason),
        "block reasons": literals(types.BlockedReason),
        "grounding fields": fields(types.GroundingMetadata),
        "grounding chunks": fields(types.GroundingChunk),
        "usage fields": fields(types.GenerateContentResponseUsageMetadata),
        "request fields": sorted(
            {*generation, *fields(types.GenerateContentConfig)} - {*fields(types.GenerationConfig)}
        ),
        "tool types": fields(types.Tool),
        "tool config fields": fields(types.ToolConfig),
        "tool choices": literals(types.FunctionCallingConfigMode),
        "thinking fields": fields(types.ThinkingConfig),
    }


def mistral() -> Groups:
    types = import_module("mistralai.client.models")
    choice = types.CompletionResponseStreamChoice
    return {
        "chunk fields": fields(types.CompletionChunk),
        "choice fields": fields(choice),
        "delta fields": fields(types.DeltaMessage),
        "content chunks": tags(types.ContentChunk),
        "finish reasons": literals(of(choice, "finish_reason")),
        "usage fields": fields(types.UsageInfo),
        "request fields": fields(types.ChatCompletionStreamRequest),
        "tool types": sorted({*literals(of(types.Tool, "type")), *tags(types.Tool)}),
    }


def ollama() -> Groups:
    types = import_module("ollama._types")
    return {
        "line fields": fields(types.ChatResponse),
        "message fields": fields(types.Message),
        "request fields": fields(types.ChatRequest),
        "options": fields(types.Options),
    }


def bedrock() -> Groups:
    loaders, model = import_module("botocore.loaders"), import_module("botocore.model")
    service = model.ServiceModel(loaders.Loader().load_service_model("bedrock-runtime", "service-2"))

    def shape(name: str) -> list[str]:
        structure = service.shape_for(name)
        return sorted(getattr(structure, "enum", None) or structure.members)

    return {
        "stream events": shape("ConverseStreamOutput"),
        "block starts": shape("ContentBlockStart"),
        "block deltas": shape("ContentBlockDelta"),
        "result deltas": shape("ToolResultBlockDelta"),
        "reasoning deltas": shape("ReasoningContentBlockDelta"),
        "citation locations": shape("CitationLocation"),
        "stop reasons": shape("StopReason"),
        "usage fields": shape("TokenUsage"),
        "metadata fields": shape("ConverseStreamMetadataEvent"),
        "request fields": shape("ConverseStreamRequest"),
        "inference fields": shape("InferenceConfiguration"),
        "input blocks": shape("ContentBlock"),
        "result blocks": shape("ToolResultContentBlock"),
        "tool types": shape("Tool"),
        "tool choices": shape("ToolChoice"),
        "output fields": shape("OutputConfig"),
    }


READERS: dict[str, tuple[str, Callable[[], Groups]]] = {
    "openai-chat": ("openai", openai_chat),
    "openai-responses": ("openai", openai_responses),
    "anthropic": ("anthropic", anthropic),
    "gemini": ("google-genai", gemini),
    "mistral": ("mistralai", mistral),
    "groq": ("groq", groq),
    "bedrock": ("botocore", bedrock),
    "ollama": ("ollama", ollama),
}


def read_all() -> dict[str, Any]:
    return {
        name: {"package": f"{package} {version(package)}", "groups": reader()}
        for name, (package, reader) in READERS.items()
    }


if __name__ == "__main__":
    print(json.dumps(read_all(), indent=1))
