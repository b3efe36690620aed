"""Opens sessions with models."""

from collections.abc import Sequence
from typing import Any

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.message_forms import as_messages
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import CustomModel, ProviderSession
from heald.providers.defaults import complete_settings, tape_of_context
from heald.providers.model import Model
from heald.providers.resolve import find

_SESSION_MEMBERS = (
    *("messages", "tools", "settings", "stream_turn", "append_tool_results", "append", "cost"),
    *("prices_ready", "load_prices", "close"),
)
"""The members of a `ProviderSession`."""


def open_provider_session(
    model: str | Model | CustomModel,
    *,
    messages: Sequence[Message | JsonObject] | None = None,
    tools: list[ToolDefinition] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> ProviderSession:
    """Open a session with a model: a name, a `Model`, a `ProviderAdapter`, or a `ScriptedModel`.

    Options for real endpoints: `retry` (a `Retry`) and `timeouts` (a `Timeouts`).
    """
    return open_checked_session(model, as_messages(messages or ()), tools or [], settings or Settings(), **options)


def open_checked_session(
    model: str | Model | CustomModel,
    messages: list[Message],
    tools: list[ToolDefinition],
    settings: Settings,
    **options: Any,
) -> ProviderSession:
    """Open a session with messages that were checked before: a long conversation takes long to check."""
    model = _find_with_key(model)
    settings = complete_settings(settings)
    if not isinstance(model, Model):
        return _open_custom(model, messages, tools, settings)
    from heald.providers.session import WireSession

    return WireSession(model, messages=messages, tools=tools, settings=settings, **options)


_NO_SETTINGS = Settings()


def check_model(model: str | Model | CustomModel) -> None:
    """Raise what `open_provider_session` would raise for a model: it is unknown, lacks its key, or is not a model."""
    resolved = _find_with_key(model)
    if not isinstance(resolved, Model):
        _open_custom(resolved, [], [], complete_settings(_NO_SETTINGS))


def _find_with_key(model: str | Model | CustomModel) -> Model | CustomModel:
    """Return a model by name, or a given one. Raises MissingKey if it needs a key and has none."""
    if isinstance(model, str):
        model = find(model)
    if not isinstance(model, Model):
        return model
    tape = tape_of_context.get()
    if tape is None or tape.kind == "recorder":
        model.require_key()
    return model


def _open_custom(
    model: CustomModel, messages: list[Message], tools: list[ToolDefinition], settings: Settings
) -> ProviderSession:
    """Open a session with a model that opens its own. Raises ConfigurationError for what it leaves out."""
    if not hasattr(model, "open_session"):
        raise ConfigurationError(
            f"A model is {type(model).__name__}, which cannot be used as one; give a name such as 'openai/gpt-5', a "
            "heald.Model, or a subclass of heald.providers.ProviderAdapter."
        )
    session = model.open_session(messages=messages, tools=tools, settings=settings)
    missing = [name for name in _SESSION_MEMBERS if not hasattr(session, name)]
    if missing:
        raise ConfigurationError(
            f"The session of {type(model).__name__} has no {missing[0]}; a session has {', '.join(_SESSION_MEMBERS)}. "
            "A subclass of heald.providers.ProviderAdapter gets all of them."
        )
    return session
