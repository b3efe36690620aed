"""An endpoint: the wire, address, key and quirks that all models of a provider share."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from heald.wires.request import NO_QUIRKS, Quirks

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "aws", "google", "azure", "none"]
"""How the key is sent: a header, or the credentials of a cloud."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The properties that all models of a provider share."""

    provider: str
    wire: str
    base_url: str
    base_url_env: str = ""
    """The environment variable that holds another address."""
    auth: Auth | None = None
    key_envs: tuple[str, ...] = ()
    """Environment variables, or names in the keyring, that may hold the key; the first one found is used."""
    key_required: bool = True
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    quirks: Quirks = NO_QUIRKS
    price_provider: str | None = None
    """The provider's name in the price list, if it differs."""
