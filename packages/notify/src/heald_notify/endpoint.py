"""Endpoints: where notifications of an owner are sent."""

import secrets
from collections.abc import Sequence
from typing import Literal

import msgspec

from heald.core.errors import ConfigurationError
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher, operator_hosts
from heald.tools.web.urls import WebTarget, parse_target
from heald_notify.notification import NOTIFICATION_TYPES, NotificationType
from heald_notify.signature import mask_secret, new_secret, parse_secret

EndpointKind = Literal["webhook", "ntfy", "push"]
PREVIOUS_SECONDS = 24 * 3600.0
"""How long a replaced secret still signs."""
_MAX_TOKEN = 500


class NotifyEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An address of an owner. `secret` signs webhooks; for ntfy it is the access token, for push the `auth` secret."""

    id: str
    owner: str = ""
    kind: EndpointKind = "webhook"
    url: str
    types: tuple[NotificationType, ...] = NOTIFICATION_TYPES
    secret: str = ""
    previous_secret: str = ""
    replaced: float = 0.0
    """When the previous secret was replaced."""
    public_key: str = ""
    """The key of a push subscription (`p256dh`)."""
    created: float = 0.0
    disabled: str = ""
    """Why nothing is sent any more; empty while it is active."""

    def secrets_at(self, moment: float) -> list[str]:
        """Return the secrets that sign at a time."""
        is_recent = bool(self.previous_secret) and moment < self.replaced + PREVIOUS_SECONDS
        return [self.secret, *([self.previous_secret] if is_recent else [])]

    def rotate(self, moment: float, secret: str = "") -> "NotifyEndpoint":
        """Return the endpoint with another secret. The old one signs too for a day."""
        if self.kind != "webhook":
            raise ConfigurationError("Only webhooks have a secret that can be rotated; add the endpoint again.")
        if secret:
            parse_secret(secret)
        return msgspec.structs.replace(
            self, secret=secret or new_secret(), previous_secret=self.secret, replaced=moment
        )


class EndpointView(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint as it is listed: without its secrets."""

    id: str
    kind: EndpointKind
    url: str
    events: tuple[NotificationType, ...]
    secret: str
    """Its last characters; the whole secret in the answer that creates or rotates it."""
    created: float
    disabled: str
    pending: int = 0
    dead: int = 0


def view_endpoint(endpoint: NotifyEndpoint, states: Sequence[str] = (), *, has_secret: bool = False) -> EndpointView:
    """Return an endpoint for its owner. `states` are those of its deliveries. The path of an ntfy or push address is a
    secret too, so it is masked."""
    target = parse_target(endpoint.url)
    host = target._replace(path="/").url
    is_open = endpoint.kind == "webhook"
    return EndpointView(
        id=endpoint.id,
        kind=endpoint.kind,
        url=target.url.partition("?")[0] + ("?…" if "?" in target.url else "") if is_open else f"{host}…",
        events=endpoint.types,
        secret=endpoint.secret if has_secret and is_open else mask_secret(endpoint.secret),
        created=endpoint.created,
        disabled=endpoint.disabled,
        pending=states.count("pending"),
        dead=states.count("dead"),
    )


def make_endpoint(
    url: str,
    *,
    moment: float,
    owner: str = "",
    kind: EndpointKind = "webhook",
    types: tuple[NotificationType, ...] = (),
    secret: str = "",
    public_key: str = "",
) -> NotifyEndpoint:
    """Make an endpoint. Raises ConfigurationError if something about it is not valid."""
    target = check_url(url)
    if kind == "ntfy" and (target.path.count("/") != 1 or len(target.path) < 2 or "?" in target.path):
        raise ConfigurationError("An address of ntfy is a server and a topic, such as https://ntfy.sh/my-secret-topic.")
    if kind == "webhook" and secret:
        parse_secret(secret)
    if len(secret) > _MAX_TOKEN or not secret.isprintable() or not secret.isascii():
        raise ConfigurationError(f"A token has at most {_MAX_TOKEN} printable ASCII characters.")
    return NotifyEndpoint(
        id=f"whk_{secrets.token_hex(8)}",
        owner=owner,
        kind=kind,
        url=target.url,
        types=tuple(dict.fromkeys(types)) or NOTIFICATION_TYPES,
        secret=secret or (new_secret() if kind == "webhook" else ""),
        public_key=public_key,
        created=moment,
    )


def check_url(url: str) -> WebTarget:
    """Parse the address of an endpoint. Plain http is accepted only for hosts that the operator allows."""
    try:
        target = parse_target(url)
    except ToolFault as fault:
        raise ConfigurationError(str(fault)) from None
    if target.scheme != "https" and not {target.authority, target.authority.rpartition(":")[0]} & operator_hosts():
        raise ConfigurationError(
            f"{target.host} would get the notifications unencrypted; use https://, or start Heald with --allow-host "
            f"{target.authority}."
        )
    return target


async def check_address(endpoint: NotifyEndpoint) -> None:
    """Raise ConfigurationError if the host of an endpoint is not known, or on a private network."""
    try:
        await WebFetcher().checked_addresses(parse_target(endpoint.url))
    except ToolFault as fault:
        raise ConfigurationError(str(fault)) from None
