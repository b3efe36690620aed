"""Resolves a name such as `anthropic/claude-sonnet-4-6` to a model."""

from msgspec.structs import replace

from heald.core.errors import UnknownProvider
from heald.plugin_loader import plugin_names
from heald.providers.base import CustomModel
from heald.providers.config import configured_providers, ignored_file
from heald.providers.endpoint import Endpoint
from heald.providers.environment_url import environment_url
from heald.providers.families import find_family
from heald.providers.model import Model
from heald.providers.registry import installed_providers

_PROVIDER_BY_PREFIX = {
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
"""The provider that is suggested for the name of a model without one."""


def resolve(name: str) -> Model:
    """Resolve the name of a model; the provider is the part before the first slash."""
    provider, slash, model = name.partition("/")
    if not slash:
        raise UnknownProvider(_no_provider_message(name))
    if not model:
        raise UnknownProvider(f"{name!r} names no model; write it behind the slash, such as {provider}/NAME.")
    return Model.at(resolve_endpoint(provider), model)


def find(name: str) -> Model | CustomModel:
    """Find the model of a name, including those of families without a wire."""
    provider, _, model = name.partition("/")
    family = find_family(provider) if model else None
    return resolve(name) if family is None else family.named(model)


def resolve_endpoint(provider: str) -> Endpoint:
    """Find the endpoint of a provider, in `heald.toml` or among the installed ones."""
    configured = configured_providers()
    if provider in configured:
        return configured[provider]
    endpoint = installed_providers().get(provider)
    if endpoint is not None:
        return replace(endpoint, base_url=environment_url(endpoint))
    names = [*configured, *installed_providers(), *plugin_names("models")]
    from difflib import get_close_matches

    near = get_close_matches(provider, names, 1, 0.7)
    hint = f"did you mean {near[0]!r}?" if near else f"known providers: {', '.join(names)}."
    raise UnknownProvider(
        f"There is no provider {provider!r}; {hint} "
        "Any other endpoint can be named in heald.toml or given as heald.Model(name, wire=…, base_url=…)."
        f"{ignored_file()}"
    )


def _no_provider_message(name: str) -> str:
    prefixes = (provider for prefix, provider in _PROVIDER_BY_PREFIX.items() if name.startswith(prefix))
    example = f"{next(prefixes, 'openai')}/{name.rstrip('/') or 'gpt-5'}"
    return f"The model {name!r} names no provider; write it as {example!r}, or give heald.Model(name, base_url=…)."
