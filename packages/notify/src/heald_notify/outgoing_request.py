"""The request of a delivery: a signed webhook, a message for ntfy, or an encrypted one for a push service.

It is sent like a fetch of a model: to addresses that were checked, without redirects, proxies and cookies, and only to
private hosts that the operator allows.
"""

import asyncio
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from urllib.parse import unquote

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import encode
from heald.http1 import pool
from heald.http1.errors import NetworkError
from heald.http1.request import Origin, RequestTarget
from heald.http1.tls import tls_context
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald.tools.web.requests import describe_failure
from heald.tools.web.urls import WebTarget, parse_target
from heald_notify.endpoint import NotifyEndpoint
from heald_notify.notification import Notification
from heald_notify.signature import signature_headers
from heald_notify.web_push import PushKeys, push_request

SECONDS = 20.0
_AGENT = {"User-Agent": "heald"}
_URGENT = ("approval.waiting", "question.waiting")


class OutgoingRequest(msgspec.Struct, frozen=True):
    """An address with headers and a body."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class AttemptOutcome(msgspec.Struct, frozen=True):
    """The outcome of an attempt: the status of the answer, or why there is none."""

    status: int = 0
    problem: str = ""
    retry_after: float = 0.0

    @property
    def is_delivered(self) -> bool:
        return 200 <= self.status < 300


def make_request(
    endpoint: NotifyEndpoint, notification: Notification, moment: float, keys: PushKeys | None
) -> OutgoingRequest:
    """Make the request for an endpoint. The webhook has all data; services that pass it on get the title and link."""
    if endpoint.kind == "ntfy":
        return _ntfy_request(endpoint, notification)
    if endpoint.kind == "push":
        if keys is None:
            raise ConfigurationError("Web Push needs the extra push of heald-notify; install heald[notify].")
        text = encode({"title": notification.title, "body": notification.data["title"], **_link(notification)})
        headers, body = push_request(endpoint.url, endpoint.public_key, endpoint.secret, text, keys, moment)
        urgency = "high" if notification.type in _URGENT else "normal"
        return OutgoingRequest(endpoint.url, {**_AGENT, **headers, "Urgency": urgency}, body)
    body = notification.encode()
    headers = signature_headers(notification.id, int(moment), body, endpoint.secrets_at(moment))
    return OutgoingRequest(endpoint.url, {**_AGENT, "Content-Type": "application/json", **headers}, body)


def _ntfy_request(endpoint: NotifyEndpoint, notification: Notification) -> OutgoingRequest:
    """A message as JSON, which is posted to the root of the server (docs.ntfy.sh/publish)."""
    target = parse_target(endpoint.url)
    link = _link(notification)
    message = {
        "topic": unquote(target.path[1:]),
        "title": notification.title,
        "message": str(notification.data["title"] or "Heald"),
        "priority": 4 if notification.type in _URGENT else 3,
        "tags": ["raised_hand" if notification.type in _URGENT else "robot"],
        **({"click": link["link"]} if link else {}),
    }
    authorization = {"Authorization": f"Bearer {endpoint.secret}"} if endpoint.secret else {}
    headers = {**_AGENT, "Content-Type": "application/json", **authorization}
    return OutgoingRequest(target._replace(path="/").url, headers, encode(message))


def _link(notification: Notification) -> dict[str, str]:
    link = notification.data.get("link")
    return {"link": link} if isinstance(link, str) else {}


async def send_request(request: OutgoingRequest, seconds: float = SECONDS) -> AttemptOutcome:
    """Send a request once. The body of the answer is not read: its sender may be any host."""
    try:
        target = parse_target(request.url)
        async with asyncio.timeout(seconds):
            return await _send(target, request, seconds)
    except ToolFault as fault:
        return AttemptOutcome(problem=str(fault))
    except TimeoutError:
        return AttemptOutcome(problem=f"There was no answer within {seconds:g} s.")
    except (NetworkError, OSError, ValueError) as error:
        return AttemptOutcome(problem=f"The request failed: {describe_failure(error)}.")


async def _send(target: WebTarget, request: OutgoingRequest, seconds: float) -> AttemptOutcome:
    addresses = await WebFetcher().checked_addresses(target)
    origin = Origin(target.scheme, target.host, target.port, addresses=tuple(map(str, addresses)))
    tls = tls_context() if target.scheme == "https" else None
    place = RequestTarget(origin, target.path)
    async with pool.post_once(place, request.headers, request.body, tls=tls, connect_timeout=seconds) as reply:
        status, retry_after = reply.status, reply.headers.get("retry-after", "")
    problem = "" if 200 <= status < 300 else f"The answer had the status {status}."
    return AttemptOutcome(status, problem, _seconds_of(retry_after))


def _seconds_of(retry_after: str) -> float:
    if retry_after.isdecimal():
        return float(retry_after[:9])
    try:
        return max(parsedate_to_datetime(retry_after).timestamp() - time(), 0.0)
    except (ValueError, TypeError):
        return 0.0
