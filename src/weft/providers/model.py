"""A model: its name, wire, address and key."""

from collections.abc import Mapping
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from weft import __version__
from weft.core.errors import BadBaseUrl, ConfigurationError, MissingKey
from weft.core.lazy import lazy_pattern
from weft.providers.keys import find_key, keyring_problem
from weft.wires.registry import WIRES, Wire
from weft.wires.request import NO_QUIRKS, Quirks

if TYPE_CHECKING:
    from weft.providers.cloud_auth import CloudAuth, Signer

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "aws", "google", "azure", "none"]
_CLOUD_KEY_HEADERS: dict[str, Auth] = {"aws": "bearer", "google": "bearer", "azure": "api-key"}
"""How a key is sent to a cloud. Without a key the request gets credentials of the cloud."""

_SENDABLE = lazy_pattern(r"[\x21-\x7e]+(?:[ \t][\x21-\x7e]+)*")
_HOST = lazy_pattern(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?")

_MIN_SECRET = 8

_DEFAULT_AUTH: dict[str, Auth] = {"messages": "x-api-key", "gemini": "x-goog-api-key"}
_SECRET_HEADERS = ("key", "secret", "token", "auth", "cookie", "password")
_DEFAULT_HEADERS = {"messages": {"anthropic-version": "2023-06-01"}}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The properties that all models of a provider share."""

    provider: str
    wire: str
    base_url: str
    auth: Auth | None = None
    key_envs: tuple[str, ...] = ()
    """Environment variables, or names in the keyring, that may hold the key; the first one found is used."""
    key_required: bool = True
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    quirks: Quirks = NO_QUIRKS
    price_provider: str | None = None
    """The provider's name in the price list, if it differs."""


class Model:
    """A model at any endpoint. The name is sent unchanged; the key is never shown."""

    def __init__(
        self,
        name: str,
        *,
        wire: str = "chat",
        base_url: str,
        api_key: str | None = None,
        api_key_env: str | None = None,
        provider: str | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        quirks: Quirks = NO_QUIRKS,
    ) -> None:
        endpoint = Endpoint(
            provider=provider or _host_of(base_url),
            wire=wire,
            base_url=base_url,
            auth=auth,
            key_envs=(api_key_env,) if api_key_env else (),
            key_required=api_key_env is not None and api_key is None,
            headers=headers or {},
            quirks=quirks,
        )
        self._set(name, endpoint, api_key)

    @classmethod
    def at(cls, endpoint: Endpoint, name: str, api_key: str | None = None) -> "Model":
        """Make a model of a known provider. Without `api_key` the key is read from the environment or the keyring."""
        model = cls.__new__(cls)
        model._set(name, endpoint, api_key)
        return model

    def _set(self, name: str, endpoint: Endpoint, api_key: str | None) -> None:
        if endpoint.wire not in WIRES:
            raise ConfigurationError(f"There is no wire {endpoint.wire!r}; choose one of {', '.join(WIRES)}.")
        self.name = name
        self.endpoint = endpoint
        self.wire: Wire = WIRES[endpoint.wire]
        self.base_url = check_base_url(endpoint.base_url, endpoint.provider)
        self._api_key = api_key or find_key(endpoint.key_envs)
        if self._api_key is not None and not _SENDABLE.fullmatch(self._api_key):
            where = f" in {' or '.join(endpoint.key_envs)}" if endpoint.key_envs else ""
            raise ConfigurationError(
                f"The key for {endpoint.provider}{where} holds a line break or another character that no header can; "
                "copy it again."
            )

    def require_key(self) -> None:
        """Raise MissingKey if the endpoint requires a key and there is none."""
        cloud = self._cloud
        if cloud is not None:
            self._require_cloud(cloud)
        if self._api_key is None and self.endpoint.key_required and cloud is None:
            names = self.endpoint.key_envs
            message = f"There is no key for {self.provider}: set {' or '.join(names)} in the environment."
            raise MissingKey(message + keyring_problem(names))

    def _require_cloud(self, cloud: "CloudAuth") -> None:
        from weft.providers.cloud_auth import PACKAGES, is_installed

        if is_installed(cloud):
            return
        keys = " or ".join(self.endpoint.key_envs)
        raise MissingKey(
            f"There are no credentials for {self.provider}: {f'set {keys}, or ' if keys else ''}"
            f"install weft[{PACKAGES[cloud][1]}], which finds those of the cloud."
        )

    @property
    def provider(self) -> str:
        return self.endpoint.provider

    @property
    def api_key(self) -> str | None:
        return self._api_key

    @property
    def secret(self) -> str:
        """The key, if it is long enough to be a secret. Local servers accept any word."""
        return self._api_key if self._api_key and len(self._api_key) >= _MIN_SECRET else ""

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The strings to redact: the key, and the values of headers that are named like one."""
        return (*([self.secret] if self.secret else []), *find_secrets(self.endpoint.headers))

    @property
    def _cloud(self) -> "CloudAuth | None":
        """The cloud that gives the credentials, if there is no key."""
        auth = self.endpoint.auth
        return auth if self._api_key is None and (auth == "aws" or auth == "google" or auth == "azure") else None

    @cached_property
    def signer(self) -> "Signer | None":
        """Adds the credentials of a cloud to each request."""
        if self._cloud is None:
            return None
        from weft.providers.cloud_auth import signer_for

        return signer_for(self._cloud)

    @cached_property
    def url(self) -> str:
        """The URL of a turn. It never holds the key."""
        return self.base_url + self.wire.request_path(self.name)

    @cached_property
    def request_headers(self) -> dict[str, str]:
        """The headers of every request, the key included."""
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"weft/{__version__}",
        }
        headers |= _DEFAULT_HEADERS.get(self.wire.name, {})
        headers |= self.endpoint.headers
        auth = self.endpoint.auth or _DEFAULT_AUTH.get(self.wire.name, "bearer")
        auth = _CLOUD_KEY_HEADERS.get(auth, auth)
        if self._api_key and auth != "none":
            name, value = ("authorization", f"Bearer {self._api_key}") if auth == "bearer" else (auth, self._api_key)
            headers[name] = value
        return headers

    def __repr__(self) -> str:
        return f"Model({self.name!r}, wire={self.wire.name!r}, provider={self.provider!r}, base_url={self.base_url!r})"


def find_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of headers that are named like a key, if they are long enough to be one."""
    named = (value for name, value in headers.items() if any(word in name.lower() for word in _SECRET_HEADERS))
    return tuple(value for value in named if len(value) >= _MIN_SECRET)


def check_base_url(base_url: str, provider: str) -> str:
    """Check the address and remove its last slash. Raises BadBaseUrl."""
    shown = base_url.rpartition("@")[2] if "@" in base_url else base_url
    wrong = BadBaseUrl(
        f"The base URL of {provider} is {shown!r}; it must look like https://host/v1 or http://127.0.0.1:8080/v1."
    )
    try:
        parts = urlsplit(base_url)
        reachable = parts.port is None or parts.port > 0
    except ValueError:
        raise wrong from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadBaseUrl(
            f"The base URL of {provider} must hold no user, password, query or fragment; "
            "give the key as api_key or in an environment variable."
        )
    if parts.scheme not in ("http", "https") or not reachable or not _is_host(parts.hostname or ""):
        raise wrong
    return base_url.rstrip("/")


def _is_host(host: str) -> bool:
    if ":" in host:
        return _is_ip_address(host)
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()  # the codec takes a while to load
    except UnicodeError:
        return False
    labels = ascii_host.removesuffix(".").split(".")
    return all(0 < len(label) < 64 for label in labels) and _HOST.fullmatch(ascii_host) is not None


def _host_of(base_url: str) -> str:
    """Name an endpoint by its host and port."""
    try:
        parts = urlsplit(base_url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "custom"
    return f"{parts.hostname}{port}" if parts.hostname else "custom"


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
