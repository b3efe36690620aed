"""Sends deliveries, and stores the outcome of each attempt. An endpoint gets one request at a time."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from time import time

import msgspec

from heald.core.errors import HealdError
from heald_notify.delivery import Delivery
from heald_notify.endpoint import NotifyEndpoint
from heald_notify.notification import Notification
from heald_notify.notify_records import NotifyRecords
from heald_notify.outgoing_request import AttemptOutcome, make_request, send_request
from heald_notify.web_push import PushKeys

ReadNotification = Callable[[Delivery], Awaitable[Notification | None]]
"""Reads the notification of a delivery from the log; None if the session was deleted."""
_MAX_REQUESTS = 16
_GONE = 410
_MAX_FINISHED = 1000
_STORE_SECONDS = 30.0
"""Until an attempt whose outcome could not be stored is repeated."""
_log = logging.getLogger("heald_notify")


class DeliverySender:
    """Sends the pending deliveries of this server when their time has come."""

    def __init__(
        self, records: NotifyRecords, read: ReadNotification, schedule: Sequence[float], push_keys: PushKeys | None
    ) -> None:
        self._records = records
        self._read = read
        self._schedule = schedule
        self._push_keys = push_keys
        self._endpoints: dict[str, NotifyEndpoint] = {}
        self._pending: dict[str, Delivery] = {}
        self._sending: dict[str, asyncio.Task[None]] = {}  # by endpoint
        self._changed = asyncio.Event()
        self._finished: dict[str, int] = {}  # deliveries by the number of their last attempt here
        self.attempts = 0
        """The number of attempts that have ended."""

    def was_attempted(self, delivery: str, since: int) -> bool:
        """Return whether an attempt at a delivery has ended after this number of attempts, so that a record that was
        read before is out of date."""
        return self._finished.get(delivery, 0) > since

    def set_endpoints(self, endpoints: dict[str, NotifyEndpoint]) -> None:
        """Use these endpoints from now on. Deliveries for deleted and disabled ones wait in the store."""
        self._endpoints = endpoints
        self._pending = {name: item for name, item in self._pending.items() if item.endpoint in endpoints}
        self._changed.set()

    def add(self, delivery: Delivery) -> None:
        """Send a delivery, unless it is being sent."""
        task = self._sending.get(delivery.endpoint)
        if task is not None and task.get_name() == delivery.id:
            return
        self._pending[delivery.id] = delivery
        self._changed.set()

    async def run(self) -> None:
        """Send until the task is cancelled."""
        try:
            while True:
                self._changed.clear()
                delay = self._start_due()
                try:
                    async with asyncio.timeout(delay):
                        await self._changed.wait()
                except TimeoutError:
                    continue
        finally:
            tasks = list(self._sending.values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    def _start_due(self) -> float | None:
        """Start what is due. Returns the seconds until the next delivery is."""
        now = time()
        times: list[float] = []
        for delivery in sorted(self._pending.values(), key=lambda item: (item.next_at, item.time)):
            endpoint = self._endpoints.get(delivery.endpoint)
            if endpoint is None or endpoint.disabled or endpoint.id in self._sending:
                continue
            if delivery.next_at > now:
                times.append(delivery.next_at - now)
            elif len(self._sending) < _MAX_REQUESTS:
                del self._pending[delivery.id]
                task = asyncio.create_task(self._send(endpoint, delivery), name=delivery.id)
                self._sending[endpoint.id] = task
        return min(times, default=None)

    async def _send(self, endpoint: NotifyEndpoint, delivery: Delivery) -> None:
        try:
            await self._attempt(endpoint, delivery)
        except Exception:
            _log.exception(
                "The outcome of the notification %s could not be stored; it is sent again.", delivery.message
            )
            self._pending[delivery.id] = msgspec.structs.replace(delivery, next_at=time() + _STORE_SECONDS)
        finally:
            self.attempts += 1
            self._finished = dict(list(self._finished.items())[-_MAX_FINISHED:]) | {delivery.id: self.attempts}
            del self._sending[endpoint.id]
            self._changed.set()

    async def _attempt(self, endpoint: NotifyEndpoint, delivery: Delivery) -> None:
        notification = await self._read(delivery)
        if notification is None:
            await self._records.delete_delivery(delivery)
            return
        moment = time()
        try:
            request = make_request(endpoint, notification, moment, self._push_keys)
        except HealdError as error:  # such as a package that is missing here
            outcome = AttemptOutcome(problem=str(error))
        else:
            outcome = await send_request(request)
        if outcome.is_delivered:
            await self._records.put_delivery(delivery.succeed())
            return
        _log.warning("The notification %s was not delivered. %s", delivery.message, outcome.problem)
        if outcome.status == _GONE or (endpoint.kind == "push" and outcome.status == 404):
            await self._disable(endpoint, outcome)
            await self._records.put_delivery(delivery.abandon(outcome.problem))
            return
        spread = random.uniform(-1, 1)
        failed = delivery.fail(outcome.problem, time(), self._schedule, spread=spread, retry_after=outcome.retry_after)
        await self._records.put_delivery(failed)
        if failed.state == "pending":
            self._pending[failed.id] = failed

    async def _disable(self, endpoint: NotifyEndpoint, outcome: AttemptOutcome) -> None:
        """Disable an endpoint that wants no more requests."""
        disabled = msgspec.structs.replace(endpoint, disabled=f"{outcome.problem} It wants no more notifications.")
        self._endpoints = self._endpoints | {endpoint.id: disabled}
        await self._records.put_endpoint(disabled)
