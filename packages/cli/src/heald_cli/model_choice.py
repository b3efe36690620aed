"""Chooses the model of a conversation if none is named, and explains why there is none."""

from typing import TYPE_CHECKING

from heald.commands.model_options import require_key
from heald.core.errors import ConfigurationError
from heald.providers.families import stacks_of

if TYPE_CHECKING:
    from heald_server.models import KnownModels

_NO_MODEL = (
    "No model is configured; set a key such as ANTHROPIC_API_KEY (`heald key set anthropic` stores it), start a "
    "server such as Ollama, or name one with --model."
)


def default_model(models: "KnownModels") -> str:
    """Choose a model if none is named: one with a key, else the first of a local server, else ""."""
    name = models.default
    if name and stacks_of(name) is None:  # a model with stacks only builds pages
        return name
    return next((model for server in models.servers.find() for model in server.models), "")


def no_model_error() -> ConfigurationError:
    """Explain why no model is configured, if none is named."""
    from heald.providers.keys import find_key_origin
    from heald.providers.registry import installed_providers

    providers = installed_providers().items()
    provider = next((name for name, endpoint in providers if find_key_origin(endpoint.key_envs) is not None), "")
    if not provider:
        return ConfigurationError(_NO_MODEL)
    return ConfigurationError(
        f"There is a key for {provider}, but none of its models is a default; name one with --model {provider}/NAME. "
        f"`heald models --provider {provider}` lists them."
    )


def check_chat_model(models: "KnownModels", name: str) -> None:
    """Raise if a model cannot be used for a conversation."""
    if not name:
        raise no_model_error()
    if stacks_of(name) is not None:
        raise ConfigurationError(f"{name} builds pages and does not talk; `heald build` uses it.")
    require_key(models, name)
