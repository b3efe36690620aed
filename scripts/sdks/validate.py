"""Checks request bodies against the types of the newest SDK packages. Runs in an environment with those packages;
imports nothing of Heald.

Reads `[{"provider": …, "scenario": …, "body": …}]` and prints `[{"provider": …, "scenario": …, "error": …}]`.
"""

import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

_CLOUD_FIELDS = ("anthropic_version", "anthropic_beta")
"""Fields that Claude has in the bodies of Bedrock and Vertex only."""
_GEMINI_TOP = ("contents", "tools", "toolConfig", "generationConfig", "systemInstruction")

_SCHEMAS = ("parameters", "format")
"""Members that hold a JSON Schema."""

Validate = Callable[[Any], None]


def typed_dict(path: str, name: str) -> Validate:
    """The validator of a TypedDict. Fields that it does not have are errors, and every item of a sequence is read."""
    pydantic = import_module("pydantic")
    kind = list[getattr(import_module(path), name)]  # the configuration of a list reaches the types inside it
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    adapter = pydantic.TypeAdapter(kind, config=config)
    return lambda body: adapter.validate_python([body])


def read_iterables_at_once() -> None:
    """Make pydantic read an `Iterable` like a list: it would check the items only when somebody takes them."""
    generator = import_module("pydantic._internal._generate_schema")
    core_schema = generator.core_schema
    core_schema.generator_schema = lambda items_schema=None, **_: core_schema.list_schema(items_schema)


def anthropic(body: Any) -> None:
    cloud = {name: value for name, value in body.items() if name not in _CLOUD_FIELDS}
    check = CACHE.setdefault(
        "anthropic", typed_dict("anthropic.types.beta.message_create_params", "MessageCreateParamsStreaming")
    )
    check({"model": "m", "stream": True, **cloud})


def gemini(body: Any) -> None:
    types = import_module("google.genai.types")
    for content in [*body["contents"], *([body["systemInstruction"]] if "systemInstruction" in body else [])]:
        types.Content.model_validate(content)
    for tool in body.get("tools", []):
        types.Tool.model_validate(tool)
    types.ToolConfig.model_validate(body.get("toolConfig", {}))
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    config = {name: value for name, value in body.items() if name not in _GEMINI_TOP}
    types.GenerateContentConfig.model_validate(config)


def forbidding(path: str, name: str) -> Validate:
    """The validator of a pydantic model. Fields that it, or a model inside it, does not have are errors."""
    model = getattr(import_module(path), name)

    def check(body: Any) -> None:
        instance = model.model_validate(body)
        lost = list(find_lost(body, json.loads(instance.model_dump_json(by_alias=True, exclude_unset=True))))
        if lost:
            raise ValueError(f"not in the type: {', '.join(lost)}")

    return check


def find_lost(sent: Any, read: Any, path: str = "") -> Any:
    """The paths of the members that a model did not read. A JSON Schema may have any."""
    if isinstance(sent, dict) and isinstance(read, dict):
        for name, value in sent.items():
            if name in _SCHEMAS:
                continue
            if name not in read:
                yield f"{path}.{name}".lstrip(".")
            else:
                yield from find_lost(value, read[name], f"{path}.{name}")
    elif isinstance(sent, list) and isinstance(read, list):
        for number, (value, other) in enumerate(zip(sent, read, strict=False)):
            yield from find_lost(value, other, f"{path}[{number}]")


def bedrock(body: Any) -> None:
    loaders, model = import_module("botocore.loaders"), import_module("botocore.model")
    if "bedrock" not in CACHE:
        CACHE["bedrock"] = model.ServiceModel(loaders.Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = CACHE["bedrock"].operation_model("ConverseStream").input_shape
    report = import_module("botocore.validate").ParamValidator().validate({"modelId": "m", **body}, shape)
    if report.has_errors():
        raise ValueError(report.generate_report())


CACHE: dict[str, Any] = {}
VALIDATORS: dict[str, Callable[[], Validate]] = {
    "openai-chat": lambda: typed_dict("openai.types.chat.completion_create_params", "CompletionCreateParamsStreaming"),
    "openai": lambda: typed_dict("openai.types.responses.response_create_params", "ResponseCreateParamsStreaming"),
    "openai, over a WebSocket": lambda: typed_dict(
        "openai.types.responses.responses_client_event_param", "ResponseCreate"
    ),
    "openai, compaction": lambda: typed_dict("openai.types.responses.response_compact_params", "ResponseCompactParams"),
    "anthropic": lambda: anthropic,
    "bedrock-anthropic": lambda: anthropic,
    "vertex-anthropic": lambda: anthropic,
    "gemini": lambda: gemini,
    "mistral": lambda: forbidding("mistralai.client.models", "ChatCompletionStreamRequest"),
    "groq": lambda: typed_dict("groq.types.chat.completion_create_params", "CompletionCreateParams"),
    "bedrock": lambda: bedrock,
    "ollama": lambda: forbidding("ollama._types", "ChatRequest"),
}


def find_errors(cases: list[Any]) -> list[Any]:
    read_iterables_at_once()
    errors: list[Any] = []
    validators: dict[str, Validate] = {}
    for case in cases:
        provider = case["provider"]
        if provider not in validators:
            validators[provider] = VALIDATORS[provider]()
        try:
            validators[provider](case["body"])
        except Exception as error:
            errors.append({"provider": provider, "scenario": case["scenario"], "error": str(error)})
    return errors


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(find_errors(json.load(sys.stdin))))
