"""Resolves a name such as `anthropic/claude-sonnet-4-6` to a model and opens sessions with it."""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from weft.core.errors import ConfigurationError, UnknownProvider
from weft.core.json import JsonObject
from weft.core.message_forms import as_messages
from weft.core.messages import Message, ToolDefinition
from weft.core.turn import Settings
from weft.providers.base import ProviderSession
from weft.providers.config import configured_providers, ignored_file
from weft.providers.defaults import complete_settings, tape_of_context
from weft.providers.model import Endpoint, Model
from weft.providers.presets import BASE_URL_ENVS, PRESETS

_FAMILIES = {
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
    "grok": "xai",
    "deepseek": "deepseek",
    "mistral": "mistral",
}
_WITHOUT_WIRE = {
    "local": "weft.vision.local_model:LocalVision",
    "claude-agent": "weft.providers.claude_agent:ClaudeAgent",
}
"""Models that speak no wire. Their modules are imported when one is named."""
_SESSION = (
    *("messages", "tools", "settings", "stream_turn", "append_tool_results", "append", "cost"),
    *("prices_ready", "load_prices", "close"),
)
"""The members of a `ProviderSession`."""


class Scripted(Protocol):
    """A model that opens its own sessions, such as a `ScriptedModel`."""

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession: ...


def resolve(name: str) -> Model:
    """Resolve the name of a model; the provider is the part before the first slash."""
    provider, slash, model = name.partition("/")
    if not slash:
        raise UnknownProvider(_no_provider_message(name))
    if not model:
        raise UnknownProvider(f"{name!r} names no model; write it behind the slash, such as {provider}/NAME.")
    return Model.at(resolve_endpoint(provider), model)


def find(name: str) -> Model | Scripted:
    """Find the model of a name, including those without a wire: the local model and Claude in the SDK's loop."""
    provider, _, model = name.partition("/")
    if provider not in _WITHOUT_WIRE or not model:
        return resolve(name)
    module, _, name = _WITHOUT_WIRE[provider].partition(":")
    return getattr(import_module(module), name).named(model)


def resolve_endpoint(provider: str) -> Endpoint:
    """Find the endpoint of a provider, in `weft.toml` or in the presets."""
    configured = configured_providers()
    endpoint = configured.get(provider) or PRESETS.get(provider)
    if endpoint is None:
        known = [*configured, *PRESETS, *_WITHOUT_WIRE]
        from difflib import get_close_matches

        near = get_close_matches(provider, known, 1, 0.7)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
        raise UnknownProvider(
            f"There is no provider {provider!r}; {hint} "
            "Any other endpoint can be named in weft.toml or given as weft.Model(name, wire=…, base_url=…)."
            f"{ignored_file()}"
        )
    if provider in configured:
        return endpoint
    return replace(endpoint, base_url=_base_url(endpoint))


def open_provider_session(
    model: str | Model | Scripted,
    *,
    messages: Sequence[Message | JsonObject] | None = None,
    tools: list[ToolDefinition] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> ProviderSession:
    """Open a session with a model: a name, a `Model`, a `ProviderAdapter`, or a `ScriptedModel`.

    Options for real endpoints: `retry` (a `Retry`) and `timeouts` (a `Timeouts`).
    """
    model = _find_with_key(model)
    history = as_messages(messages or ())
    settings = complete_settings(settings or Settings())
    if not isinstance(model, Model):
        return _open_own(model, history, tools or [], settings)
    from weft.providers.session import WireSession

    return WireSession(model, messages=history, tools=tools, settings=settings, **options)


def check_model(model: str | Model | Scripted) -> None:
    """Raise what `open_provider_session` would raise for a model: it is unknown, lacks its key, or is no model."""
    found = _find_with_key(model)
    if not isinstance(found, Model):
        _open_own(found, [], [], complete_settings(Settings()))


def _find_with_key(model: str | Model | Scripted) -> Model | Scripted:
    """Return a model by name, or a given one. Raises MissingKey if it needs a key and has none."""
    if isinstance(model, str):
        model = find(model)
    if not isinstance(model, Model):
        return model
    tape = tape_of_context.get()
    if tape is None or tape.kind == "recorder":
        model.require_key()
    return model


def _open_own(
    model: Scripted, messages: list[Message], tools: list[ToolDefinition], settings: Settings
) -> ProviderSession:
    """Open a session with a model that opens its own. Raises ConfigurationError for what it leaves out."""
    if not hasattr(model, "open_session"):
        raise ConfigurationError(
            f"A model is {type(model).__name__}, which cannot be used as one; give a name such as 'openai/gpt-5', a "
            "weft.Model, or a subclass of weft.ProviderAdapter."
        )
    session = model.open_session(messages=messages, tools=tools, settings=settings)
    missing = [name for name in _SESSION if not hasattr(session, name)]
    if missing:
        raise ConfigurationError(
            f"The session of {type(model).__name__} has no {missing[0]}; a session has {', '.join(_SESSION)}. "
            "A subclass of weft.ProviderAdapter gets all of them."
        )
    return session


def _base_url(endpoint: Endpoint) -> str:
    variable = BASE_URL_ENVS.get(endpoint.provider)
    given = os.environ.get(variable, "").strip().rstrip("/") if variable else ""
    if endpoint.auth == "aws" and not given:
        return _bedrock_url(endpoint.provider)
    if endpoint.auth == "google":
        return _vertex_url(endpoint, given)
    if endpoint.provider == "azure":
        if not given:
            raise ConfigurationError("Azure needs your address: set AZURE_OPENAI_ENDPOINT in the environment.")
        return given if given.endswith("/v1") else f"{given}/openai/v1"
    if endpoint.provider == "ollama" and given:
        return _ollama_url(given)
    if endpoint.provider == "anthropic" and given and not given.endswith("/v1"):
        return f"{given}/v1"  # Anthropic's own clients add the version themselves
    return given or endpoint.base_url


def _bedrock_url(provider: str) -> str:
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise ConfigurationError(f"{provider} needs a region: set AWS_REGION in the environment, such as us-east-1.")
    return f"https://bedrock-runtime.{region}.amazonaws.com"


def _vertex_url(endpoint: Endpoint, given: str) -> str:
    """Build the address of a project in a location; the publisher is part of it."""
    project = os.environ.get("GOOGLE_CLOUD_PROJECT", "")
    location = os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
    if not project:
        raise ConfigurationError(
            f"{endpoint.provider} needs your project: set GOOGLE_CLOUD_PROJECT in the environment."
        )
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    publisher = "google" if endpoint.wire == "gemini" else "anthropic"
    root = given or f"https://{host}"
    return f"{root}/v1/projects/{project}/locations/{location}/publishers/{publisher}"


def _ollama_url(host: str) -> str:
    """Parse `OLLAMA_HOST`: a host with an optional scheme and port; 0.0.0.0 is a listening address."""
    url = host if "://" in host else f"http://{host}"
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return url
    address = (parts.hostname or "").replace("0.0.0.0", "127.0.0.1")
    return f"{parts.scheme}://{f'[{address}]' if ':' in address else address}:{port}{parts.path}"


def _no_provider_message(name: str) -> str:
    family = next((provider for start, provider in _FAMILIES.items() if name.startswith(start)), "openai")
    example = f"{family}/{name.rstrip('/') or 'gpt-5'}"
    return f"The model {name!r} names no provider; write it as {example!r}, or give weft.Model(name, base_url=…)."
