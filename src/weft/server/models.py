"""The models that a server offers: by the keys that it has, on this machine, and by the word of its operator."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from weft.agent.models import ModelLike
from weft.core.errors import ConfigurationError, WeftError
from weft.providers.catalogue import known_models
from weft.providers.config import configured_providers
from weft.providers.factory import find, resolve
from weft.providers.keys import has_key
from weft.providers.local.model import NAMES, available, label_of
from weft.providers.local.servers import LocalServers
from weft.providers.model import Endpoint
from weft.providers.presets import PRESETS

PREFERRED = (
    "anthropic/claude-sonnet-4-6",
    "openai/gpt-5.2",
    "gemini/gemini-3-pro-preview",
    "openrouter/anthropic/claude-sonnet-4.6",
)
"""The default is the first of these whose key is there."""


_HOSTED = "claude-agent/"
"""Models that bring a loop and tools of their own, which no sandbox of ours holds."""


class ModelView(msgspec.Struct, frozen=True):
    """A model that sessions may name."""

    name: str
    provider: str
    label: str = ""
    """What people read instead of the name, where it has one."""


class ProviderView(msgspec.Struct, frozen=True):
    """A provider, and whether its key is set. The key itself is never told."""

    name: str
    key_set: bool
    variables: list[str]


class Models(Protocol):
    """Where a server's models come from."""

    @property
    def default(self) -> str:
        """What a session without a model of its own uses; empty if there is none."""
        ...

    def open(self, name: str) -> ModelLike:
        """The model of a name. Raises ConfigurationError for one that is not offered."""
        ...

    def listed(self) -> Sequence[ModelView]: ...

    def providers(self) -> Sequence[ProviderView]: ...


class KnownModels:
    """All that the keys in the environment allow, and what runs on this machine without one.

    Addresses come from the operator, never from a client.
    """

    def __init__(
        self,
        default: str | None = None,
        named: Mapping[str, ModelLike] | None = None,
        servers: LocalServers | None = None,
    ) -> None:
        self._default = default
        self._named = dict(named or {})
        self.servers = servers or LocalServers()
        """Ollama and the like. They are asked from now on, but nothing here waits for them; `servers.find()` does."""
        self.servers.known()

    @property
    def default(self) -> str:
        if self._default is not None:
            return self._default
        keyed = next((name for name in PREFERRED if _has_key(resolve(name).endpoint)), "")
        return keyed or (NAMES[0] if available() else "")

    def open(self, name: str) -> ModelLike:
        if not name:
            raise ConfigurationError(
                "No model is set and no key was found; set a key such as ANTHROPIC_API_KEY, or install weft[local]."
            )
        if name.startswith(_HOSTED) and name != self._default and name not in self._named:
            raise ConfigurationError(
                "A model whose tools run outside of Weft is the operator's to choose: start the server with it."
            )
        return self._named.get(name) or find(name)

    def listed(self) -> list[ModelView]:
        names: dict[str, None] = dict.fromkeys([*([self._default] if self._default else []), *self._named])
        for provider, endpoint in (PRESETS | _configured()).items():
            if _has_key(endpoint) and endpoint.key_envs:
                names |= dict.fromkeys(
                    f"{provider}/{model}" for model in known_models(provider, endpoint.price_provider)
                )
        for server in self.servers.known():
            names |= dict.fromkeys(server.models)
        if available():
            names |= dict.fromkeys(NAMES)
        return [ModelView(name, name.partition("/")[0], label_of(name)) for name in names]

    def providers(self) -> list[ProviderView]:
        known = PRESETS | _configured()
        return [ProviderView(name, _has_key(each), list(each.key_envs)) for name, each in known.items()]


def _configured() -> dict[str, Endpoint]:
    try:
        return configured_providers()
    except WeftError:
        return {}


def _has_key(endpoint: Endpoint) -> bool:
    return not endpoint.key_envs or has_key(endpoint.key_envs)
