"""The routes of endpoints and deliveries. Each user has endpoints of their own, for the sessions that they own."""

from time import time

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald_notify.delivery import Delivery, DeliveryState
from heald_notify.endpoint import (
    EndpointKind,
    EndpointView,
    NotifyEndpoint,
    check_address,
    make_endpoint,
    view_endpoint,
)
from heald_notify.log_scan import scan_logs
from heald_notify.notification import Notification, NotificationType
from heald_notify.notifier import Notifier
from heald_notify.outgoing_request import make_request, send_request
from heald_notify.web_push import check_subscription
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, caller_of

_MAX_ENDPOINTS = 50
_TAG = "webhooks"


class EndpointBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new endpoint."""

    url: str
    kind: EndpointKind = "webhook"
    events: tuple[NotificationType, ...] = ()
    """All, if empty."""
    secret: str = ""
    """The secret of a webhook (a new one, if empty), the access token of ntfy, or the `auth` key of a subscription."""
    public_key: str = ""
    """The `p256dh` key of a push subscription."""


class SecretBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another secret; a new one, if empty."""

    secret: str = ""


class ReplayBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sent again: dead deliveries, or what the logs have since a time (in seconds since 1970)."""

    since: float | None = None
    session: str | None = None


class DeliveryQuery(msgspec.Struct, frozen=True):
    state: DeliveryState | None = None


class EndpointList(msgspec.Struct, frozen=True):
    webhooks: list[EndpointView]


class DeliveryList(msgspec.Struct, frozen=True):
    deliveries: list[Delivery]


class ReplayCount(msgspec.Struct, frozen=True):
    replayed: int


class TestOutcome(msgspec.Struct, frozen=True):
    """The outcome of a test notification."""

    delivered: bool
    status: int
    problem: str


class PushKeyView(msgspec.Struct, frozen=True):
    """The public key of the server, for a push subscription; empty if Web Push is not available."""

    public_key: str


class NotifyRoutes:
    """The operations of a server's notifier."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._records = notifier.records

    def operations(self) -> list[Operation]:
        webhook, deliveries = "/webhooks/{webhook}", "/webhooks/{webhook}/deliveries"
        return [
            Operation("GET", "/webhooks", self._list, "List webhooks.", EndpointList, tag=_TAG),
            Operation(
                "POST", "/webhooks", self._add, "Add a webhook.", EndpointView, EndpointBody, status=201, tag=_TAG
            ),
            Operation("GET", "/webhooks/push-key", self._push_key, "Key for subscriptions.", PushKeyView, tag=_TAG),
            Operation("GET", webhook, self._show, "Show a webhook.", EndpointView, errors=("not_found",), tag=_TAG),
            Operation(
                "DELETE", webhook, self._remove, "Remove a webhook.", status=204, errors=("not_found",), tag=_TAG
            ),
            Operation(
                "POST",
                f"{webhook}/secret",
                self._rotate,
                "Replace the secret. The old one signs too for a day.",
                EndpointView,
                SecretBody,
                body_optional=True,
                errors=("not_found",),
                tag=_TAG,
            ),
            Operation(
                "POST",
                f"{webhook}/enable",
                self._enable,
                "Send to a disabled webhook again.",
                EndpointView,
                errors=("not_found",),
                tag=_TAG,
            ),
            Operation(
                "POST", f"{webhook}/test", self._test, "Send a test.", TestOutcome, errors=("not_found",), tag=_TAG
            ),
            Operation(
                "GET",
                deliveries,
                self._deliveries,
                "List deliveries.",
                DeliveryList,
                query=DeliveryQuery,
                errors=("not_found",),
                tag=_TAG,
            ),
            Operation(
                "POST",
                f"{webhook}/replay",
                self._replay,
                "Send dead deliveries, or what the logs have since a time, again.",
                ReplayCount,
                ReplayBody,
                body_optional=True,
                errors=("not_found",),
                tag=_TAG,
            ),
            Operation(
                "POST",
                f"{deliveries}/{{delivery}}/replay",
                self._replay_delivery,
                "Send a delivery again.",
                Delivery,
                errors=("not_found",),
                tag=_TAG,
            ),
        ]

    async def _list(self, call: ApiCall) -> EndpointList:
        _check_caller(call)
        endpoints = await self._records.endpoints(call.owner)
        deliveries = (await self._records.deliveries()).values()
        views: list[EndpointView] = []
        for name, endpoint in endpoints.items():
            states = [delivery.state for delivery in deliveries if delivery.endpoint == name]
            views.append(view_endpoint(endpoint, states))
        return EndpointList(views)

    async def _add(self, call: ApiCall) -> EndpointView:
        _check_caller(call)
        body: EndpointBody = call.body
        if len(await self._records.endpoints(call.owner)) >= _MAX_ENDPOINTS:
            raise ApiError("too_many", f"There are {_MAX_ENDPOINTS} webhooks already; remove one first.")
        try:
            if body.kind == "push":
                check_subscription(body.public_key, body.secret)
            endpoint = make_endpoint(
                body.url,
                moment=time(),
                owner=call.owner,
                kind=body.kind,
                types=body.events,
                secret=body.secret,
                public_key=body.public_key,
            )
            await check_address(endpoint)
        except ConfigurationError as error:
            raise ApiError("invalid", str(error)) from None
        await self._save(endpoint)
        return view_endpoint(endpoint, has_secret=True)

    async def _push_key(self, call: ApiCall) -> PushKeyView:
        _check_caller(call)
        keys = self._notifier.push_keys
        return PushKeyView(keys.public_key if keys is not None else "")

    async def _show(self, call: ApiCall) -> EndpointView:
        return await self._view(await self._find(call))

    async def _remove(self, call: ApiCall) -> None:
        await self._records.delete_endpoint(await self._find(call))
        await self._notifier.reload()

    async def _rotate(self, call: ApiCall) -> EndpointView:
        try:
            endpoint = (await self._find(call)).rotate(time(), call.body.secret)
        except ConfigurationError as error:
            raise ApiError("invalid", str(error)) from None
        await self._save(endpoint)
        return view_endpoint(endpoint, has_secret=True)

    async def _enable(self, call: ApiCall) -> EndpointView:
        endpoint = msgspec.structs.replace(await self._find(call), disabled="")
        await self._save(endpoint)
        return await self._view(endpoint)

    async def _test(self, call: ApiCall) -> TestOutcome:
        endpoint, now = await self._find(call), time()
        data: JsonObject = {"title": "A test of your webhook", "test": True}
        message = Notification(
            id=f"msg_test_{int(now * 1000)}", type="exchange.ended", time=now, title="A test.", data=data
        )
        outcome = await send_request(make_request(endpoint, message, now, self._notifier.push_keys))
        return TestOutcome(outcome.is_delivered, outcome.status, outcome.problem)

    async def _deliveries(self, call: ApiCall) -> DeliveryList:
        endpoint = await self._find(call)
        deliveries = (await self._records.deliveries(endpoint.id)).values()
        state = call.query.state
        return DeliveryList([delivery for delivery in deliveries if state in (None, delivery.state)])

    async def _replay(self, call: ApiCall) -> ReplayCount:
        endpoint, body = await self._find(call), call.body
        if body.since is None and body.session is None:
            deliveries = (await self._records.deliveries(endpoint.id)).values()
            dead = [delivery for delivery in deliveries if delivery.state == "dead"]
            for delivery in dead:
                await self._notifier.resend(delivery)
            return ReplayCount(len(dead))
        if body.session is not None:
            await call.context.open_sessions.find_info(call.owner, body.session)  # raises if it is another user's
        count = 0
        scan = scan_logs(self._records.store, body.since or 0.0, owner=call.owner, session=body.session)
        async for info, event in scan:
            count += await self._notifier.queue_event(info, event, [endpoint], again=True)
        return ReplayCount(count)

    async def _replay_delivery(self, call: ApiCall) -> Delivery:
        endpoint = await self._find(call)
        delivery = (await self._records.deliveries(endpoint.id)).get(call.path["delivery"])
        if delivery is None:
            raise ApiError("not_found", "There is no delivery of that id; list the deliveries to see which there are.")
        return await self._notifier.resend(delivery)

    async def _find(self, call: ApiCall) -> NotifyEndpoint:
        _check_caller(call)
        endpoint = (await self._records.endpoints(call.owner)).get(call.path["webhook"])
        if endpoint is None:
            raise ApiError("not_found", "There is no webhook of that id; list the webhooks to see which there are.")
        return endpoint

    async def _save(self, endpoint: NotifyEndpoint) -> None:
        await self._records.put_endpoint(endpoint)
        await self._notifier.reload()

    async def _view(self, endpoint: NotifyEndpoint) -> EndpointView:
        states = [delivery.state for delivery in (await self._records.deliveries(endpoint.id)).values()]
        return view_endpoint(endpoint, states)


def _check_caller(call: ApiCall) -> None:
    if caller_of(call.request).is_guest:
        raise ApiError("forbidden", "A guest cannot use the webhooks of the person who made the link.")
