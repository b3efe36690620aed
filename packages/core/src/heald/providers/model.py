"""A model: its name, wire, address and key."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heald.core.arguments import checked
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError, MissingKey
from heald.core.lazy import lazy_pattern, lazy_property
from heald.core.version import VERSION
from heald.providers.base_url import check_base_url, host_of
from heald.providers.endpoint import Auth, Endpoint
from heald.providers.header_secrets import MIN_SECRET, find_secrets
from heald.providers.keys import find_key, keyring_problem
from heald.wires.registry import WIRES
from heald.wires.request import NO_QUIRKS, Quirks
from heald.wires.wire import Wire

if TYPE_CHECKING:
    from heald.providers.cloud_auth import CloudAuth, Signer

_CLOUD_KEY_HEADERS: dict[str, Auth] = {"aws": "bearer", "google": "bearer", "azure": "api-key"}
"""How a key is sent to a cloud. Without a key the request gets credentials of the cloud."""

_SENDABLE = lazy_pattern(r"[\x21-\x7e]+(?:[ \t][\x21-\x7e]+)*")


class Model:
    """A model at any endpoint. The name is sent unchanged; the key is never shown."""

    @checked
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
            provider=provider or host_of(base_url),
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
        from heald.providers.cloud_auth import PACKAGES, is_installed

        if is_installed(cloud):
            return
        keys = " or ".join(self.endpoint.key_envs)
        raise MissingKey(
            f"There are no credentials for {self.provider}: {f'set {keys}, or ' if keys else ''}"
            f"run {install_advice(PACKAGES[cloud][1])}, which finds those of the cloud."
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
        return self._api_key if self._api_key and len(self._api_key) >= MIN_SECRET else ""

    @lazy_property
    def secrets(self) -> tuple[str, ...]:
        """The strings to redact: the key, and the values of headers that are named like one."""
        return (*([self.secret] if self.secret else []), *find_secrets(self.endpoint.headers))

    @property
    def _cloud(self) -> "CloudAuth | None":
        """The cloud that gives the credentials, if there is no key."""
        auth = self.endpoint.auth
        return auth if self._api_key is None and (auth == "aws" or auth == "google" or auth == "azure") else None

    @lazy_property
    def signer(self) -> "Signer | None":
        """Adds the credentials of a cloud to each request."""
        if self._cloud is None:
            return None
        from heald.providers.cloud_auth import signer_for

        return signer_for(self._cloud)

    @lazy_property
    def url(self) -> str:
        """The URL of a turn. It never holds the key."""
        return self.base_url + self.wire.request_path(self.name)

    @lazy_property
    def request_headers(self) -> dict[str, str]:
        """The headers of every request, the key included."""
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"heald/{VERSION}",
        }
        headers |= self.wire.headers
        headers |= self.endpoint.headers
        auth: Auth = self.endpoint.auth or self.wire.key_header
        auth = _CLOUD_KEY_HEADERS.get(auth, auth)
        if self._api_key and auth != "none":
            name, value = ("authorization", f"Bearer {self._api_key}") if auth == "bearer" else (auth, self._api_key)
            headers[name] = value
        return headers

    def __repr__(self) -> str:
        return f"Model({self.name!r}, wire={self.wire.name!r}, provider={self.provider!r}, base_url={self.base_url!r})"
