"""The models that sessions of a server may use: by key, on this machine, and those that the operator names."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from heald.agent.model_chain import ModelLike
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError, HealdError
from heald.providers.catalogue import known_models
from heald.providers.config import configured_providers
from heald.providers.endpoint import Endpoint
from heald.providers.families import OfferedModel, offered_models, stacks_of
from heald.providers.keys import find_key_origin, has_key
from heald.providers.local_servers import PROVIDERS as LOCAL_SERVERS
from heald.providers.local_servers import LocalServer, LocalServers
from heald.providers.registry import installed_providers
from heald.providers.resolve import find, resolve

PREFERRED = (
    "anthropic/claude-sonnet-4-6",
    "openai/gpt-5.2",
    "gemini/gemini-3-pro-preview",
    "openrouter/anthropic/claude-sonnet-4.6",
)
"""The default is the first of these with a key, else a model of this machine."""


_HOSTED = ("claude-agent/", "acp/")
"""Prefixes of models with a loop and tools of their own, which run outside of our sandbox."""


class ModelView(msgspec.Struct, frozen=True):
    """A model that sessions may use."""

    name: str
    provider: str
    label: str = ""
    """A display name, if it has one."""


class ProviderView(msgspec.Struct, frozen=True):
    """A provider, and whether its key is set. The key itself is never sent."""

    name: str
    key_set: bool
    variables: list[str]
    origin: Literal["environment", "keyring", "file", ""] = ""
    """Where its key is."""
    is_local: bool = False
    """Whether it is a server on this machine that needs no key."""
    is_running: bool = False
    """Whether that server answers."""
    address: str = ""
    """Where that server is, or is expected."""


class ModelSource(Protocol):
    """The source of a server's models."""

    @property
    def default(self) -> str:
        """The model of a session that names none; empty if there is none."""
        ...

    def open(self, name: str) -> ModelLike:
        """Return the model of a name. Raises `ConfigurationError` for one that sessions may not use."""
        ...

    def list_models(self) -> Sequence[ModelView]: ...

    def list_providers(self) -> Sequence[ProviderView]: ...


class KnownModels:
    """Models of all providers whose key is in the environment, and models that run on this machine without one.

    Endpoints are configured by the operator, never by a client. `agents` are models with tools of their own, such as
    `acp/opencode`, that the operator lets sessions use.
    """

    def __init__(
        self,
        default: str | None = None,
        named: Mapping[str, ModelLike] | None = None,
        servers: LocalServers | None = None,
        agents: Sequence[str] = (),
    ) -> None:
        self._default = default
        self.operator_default = default or ""
        """The default that the operator chose; empty if it follows from the keys."""
        self._named = dict(named or {})
        self._agents = tuple(agents)
        self.servers = servers or LocalServers()
        """Ollama and similar servers. They are queried in the background; `servers.find()` waits for them."""
        self.servers.known()

    @property
    def default(self) -> str:
        if self._default is not None:
            return self._default
        keyed = next((name for name in PREFERRED if _has_key(resolve(name).endpoint)), "")
        return keyed or next(iter(self._keyless_models()), "")

    def _keyless_models(self) -> list[str]:
        """Models of this machine, those that talk first: a family with stacks only builds pages."""
        families = [model.name for model in _usable_families()]
        builders = [name for name in families if stacks_of(name) is not None]
        talkers = [name for name in families if name not in builders]
        served = [name for server in self.servers.known() for name in server.models]
        return [*talkers, *served, *builders]

    def open(self, name: str) -> ModelLike:
        if not name:
            raise ConfigurationError(
                "No model is set and no key was found; set a key such as ANTHROPIC_API_KEY, or "
                "install the local model: " + install_advice("local")
            )
        if name.startswith(_HOSTED) and not self._is_allowed(name):
            raise ConfigurationError(
                "A model whose tools run outside of Heald is the operator's to choose: start the server with it."
            )
        return self._named.get(name) or find(name)

    def _is_allowed(self, name: str) -> bool:
        """Whether the operator chose a model with tools of its own; a name may end with the model that it uses."""
        if name == self._default or name in self._named:
            return True
        return any(name == agent or name.startswith(f"{agent}/") for agent in self._agents)

    def list_models(self) -> list[ModelView]:
        chosen = [*([self._default] if self._default else []), *self._named, *self._agents]
        names: dict[str, None] = dict.fromkeys(chosen)
        for provider, endpoint in (installed_providers() | _configured()).items():
            if _has_key(endpoint) and endpoint.key_envs:
                names |= dict.fromkeys(
                    f"{provider}/{model}" for model in known_models(provider, endpoint.price_provider)
                )
        for server in self.servers.known():
            names |= dict.fromkeys(server.models)
        labels = {model.name: model.label for model in offered_models()}
        names |= dict.fromkeys(name for name in labels if not name.startswith(_HOSTED))
        return [ModelView(name, name.partition("/")[0], labels.get(name, "")) for name in names]

    def list_providers(self) -> list[ProviderView]:
        endpoints = installed_providers() | _configured()
        running = {server.provider: server for server in self.servers.known()}
        return [_provider_view(name, endpoint, running.get(name)) for name, endpoint in endpoints.items()]


def _provider_view(name: str, endpoint: Endpoint, running: LocalServer | None) -> ProviderView:
    origin = find_key_origin(endpoint.key_envs)
    is_local = name in LOCAL_SERVERS
    return ProviderView(
        name,
        _has_key(endpoint),
        list(endpoint.key_envs),
        origin=origin[1] if origin is not None else "",
        is_local=is_local,
        is_running=running is not None,
        address=(running.address if running is not None else endpoint.base_url) if is_local else "",
    )


def _configured() -> dict[str, Endpoint]:
    try:
        return configured_providers()
    except HealdError:
        return {}


def _usable_families() -> list[OfferedModel]:
    """Models of this machine that need no key. Those with tools of their own are the operator's to choose."""
    return [model for model in offered_models() if not model.name.startswith(_HOSTED)]


def _has_key(endpoint: Endpoint) -> bool:
    return not endpoint.key_envs or has_key(endpoint.key_envs)
