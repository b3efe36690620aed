"""Queues a delivery for each notable event of a server's sessions, and has them sent.

Events are stored before the notifier sees them, and deliveries before they are sent. Each server notes in the store up
to which time its events are queued; after a crash the next server, or another one of the same store, reads that time
in the logs. So each notification is sent at least once, and always with the same id.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from time import time

import msgspec

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.json import encode
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import NoSuchSession
from heald_notify.delivery import SCHEDULE, Delivery, make_deliveries
from heald_notify.delivery_sender import DeliverySender
from heald_notify.endpoint import NotifyEndpoint
from heald_notify.log_scan import scan_logs
from heald_notify.notification import EVENT_TYPES, Notification, make_notification
from heald_notify.notify_records import DELIVERIES, ENDPOINTS, PUSH_KEYS, NotifyRecords
from heald_notify.web_push import PushKeys, new_push_keys
from heald_server.context import ServerContext

_TICK_SECONDS = 5.0
_SLACK_SECONDS = 30.0
"""An event may be published so long before the notifier sees it."""
_LATE_SECONDS = 120.0
"""How long after its last note a server that died may have stored events."""
_KEEP_SECONDS = 3600.0
"""How long deliveries that succeeded are listed."""
_PRUNE_SECONDS = 60.0
_log = logging.getLogger("heald_notify")


class Notifier:
    """The notifications of one server."""

    def __init__(self, context: ServerContext, schedule: Sequence[float] = SCHEDULE) -> None:
        self._context = context
        self._schedule = schedule
        self._store = context.open_sessions.store
        self.records = NotifyRecords(self._store)
        self.push_keys: PushKeys | None = None
        self._endpoints: dict[str, NotifyEndpoint] = {}
        self._events: asyncio.Queue[tuple[SessionInfo, Event]] = asyncio.Queue()
        self._oldest = 0.0  # the time of the event that is being queued
        self._tasks: list[asyncio.Task[None]] = []
        self._sender: DeliverySender | None = None
        self._has_ticked = False
        context.open_sessions.on_open(self._on_open)
        self._is_adoption_due = True
        self._pruned = 0.0
        context.on_records(ENDPOINTS, self.reload)
        context.on_records(DELIVERIES, self._plan_adoption)
        context.on_start(self.start)
        context.on_stop(self.stop)

    async def start(self) -> None:
        self.push_keys = await self._read_push_keys()
        self._sender = DeliverySender(self.records, self.read_notification, self._schedule, self.push_keys)
        await self.reload()
        self._tasks = [
            asyncio.create_task(self._queue_events(), name="heald-notify-queue"),
            asyncio.create_task(self._sender.run(), name="heald-notify-sender"),
            asyncio.create_task(self._tick(), name="heald-notify-tick"),
        ]

    async def stop(self) -> None:
        """Queue what has happened, and end. What is not sent yet is sent by the next server."""
        if not self._tasks:
            return
        queue, *others = self._tasks
        for task in others:
            task.cancel()
        if not queue.done():
            await self._events.join()
            queue.cancel()
        await asyncio.wait(self._tasks)
        await self.records.delete_watermark(self._store.node)  # all is queued

    async def reload(self) -> None:
        """Read the endpoints."""
        had_endpoints = bool(self._endpoints)
        self._endpoints = await self.records.endpoints()
        if self._sender is not None:
            self._sender.set_endpoints(self._endpoints)
        if self._endpoints and not had_endpoints and self._store.node not in await self.records.watermarks():
            await self.records.put_watermark(self._store.node, time())

    async def resend(self, delivery: Delivery) -> Delivery:
        """Send a delivery again, with the same id."""
        replayed = delivery.replay(self._store.node)
        await self.records.put_delivery(replayed)
        if self._sender is not None:
            self._sender.add(replayed)
        return replayed

    async def read_notification(self, delivery: Delivery) -> Notification | None:
        """Make the notification of a delivery from the log; None if the session was deleted."""
        try:
            events = await self._store.read(delivery.session, after=delivery.seq - 1, upto=delivery.seq)
            root = await self._store.info(delivery.root)
        except NoSuchSession:
            return None
        return make_notification(events[0], delivery.type, root, self._link(root)) if events else None

    async def queue_event(
        self, info: SessionInfo, event: Event, endpoints: Sequence[NotifyEndpoint], *, again: bool
    ) -> int:
        """Store the deliveries of an event for these endpoints. `again` also sends what was sent or has failed."""
        count = 0
        attempts = self._sender.attempts if self._sender is not None else 0
        for endpoint in endpoints:
            if endpoint.disabled and not again:
                continue
            for delivery in make_deliveries(event, info.id, endpoint, self._store.node):
                if again:
                    await self.records.put_delivery(delivery)
                else:
                    delivery = await self.records.add_delivery(delivery)
                is_stale = not again and self._sender is not None and self._sender.was_attempted(delivery.id, attempts)
                if self._sender is not None and delivery.state == "pending" and not is_stale:
                    self._sender.add(delivery)
                count += 1
        return count

    # --- events ------------------------------------------------------------------------------------------------------

    def _on_open(self, info: SessionInfo, session: Session) -> None:
        session.subscribe(lambda event: self._on_event(info, event), types=EVENT_TYPES)

    def _on_event(self, info: SessionInfo, event: Event) -> None:
        if any(endpoint.owner == info.owner for endpoint in self._endpoints.values()):
            self._events.put_nowait((info, event))

    async def _queue_events(self) -> None:
        while True:
            info, event = await self._events.get()
            self._oldest = event.time
            try:
                endpoints = [endpoint for endpoint in self._endpoints.values() if endpoint.owner == info.owner]
                await self._store_event(info, event, endpoints)
            finally:
                self._oldest = 0.0
                self._events.task_done()

    async def _store_event(self, info: SessionInfo, event: Event, endpoints: Sequence[NotifyEndpoint]) -> None:
        """Queue an event. While the store fails it is tried again: the time of the event stays unqueued."""
        while True:
            try:
                await self.queue_event(info, event, endpoints, again=False)
                return
            except Exception:
                _log.exception("A notification could not be queued; it is tried again in %d s.", _TICK_SECONDS)
                await asyncio.sleep(_TICK_SECONDS)

    # --- other servers, and crashes ----------------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            try:
                if self._endpoints:
                    await self._recover()
                    if self._is_adoption_due:
                        self._is_adoption_due = False
                        await self._adopt_deliveries()
                    if self._events.empty():
                        await self.records.put_watermark(self._store.node, self._oldest or time())
                    if time() > self._pruned + _PRUNE_SECONDS:
                        self._pruned = time()
                        await self._prune()
            except Exception:
                _log.exception("The notifications of other servers could not be read; they are read again soon.")
            await asyncio.sleep(_TICK_SECONDS)

    async def _living_nodes(self) -> set[str]:
        return {node.name for node in await self._store.list_nodes()} | {self._store.node}

    async def _recover(self) -> None:
        """Queue what servers had not queued when they died, and what this one had not when it stopped."""
        watermarks = await self.records.watermarks()
        living = await self._living_nodes()
        for node, moment in watermarks.items():
            is_own_past = node == self._store.node and not self._has_ticked
            if node in living and not is_own_past:
                continue
            endpoints = [endpoint for endpoint in self._endpoints.values() if not endpoint.disabled]
            async for info, event in scan_logs(self._store, moment - _SLACK_SECONDS, moment + _LATE_SECONDS):
                receivers = [
                    endpoint
                    for endpoint in endpoints
                    if endpoint.owner == info.owner and event.time >= endpoint.created
                ]
                await self.queue_event(info, event, receivers, again=False)
            if not is_own_past:
                await self.records.delete_watermark(node)
        self._has_ticked = True

    async def _plan_adoption(self) -> None:
        """Have the deliveries read soon: each attempt changes one, and reading them all for each would be slow."""
        self._is_adoption_due = True

    async def _adopt_deliveries(self) -> None:
        """Send the deliveries of this server, and, as the first of the living ones, those of dead ones."""
        if self._sender is None or not self._endpoints:
            return
        attempts = self._sender.attempts
        living = await self._living_nodes()
        is_first = min(living) == self._store.node
        for delivery in (await self.records.deliveries()).values():
            if delivery.state != "pending" or self._sender.was_attempted(delivery.id, attempts):
                continue
            if delivery.node not in living and is_first:
                delivery = msgspec.structs.replace(delivery, node=self._store.node)
                await self.records.put_delivery(delivery)
            if delivery.node == self._store.node:
                self._sender.add(delivery)

    async def _prune(self) -> None:
        """Delete old deliveries that succeeded, except those that a scan of the logs could queue once more."""
        oldest = min((await self.records.watermarks()).values(), default=time())
        limit = min(time() - _KEEP_SECONDS, oldest - 2 * _SLACK_SECONDS)
        for delivery in (await self.records.deliveries()).values():
            if delivery.state == "delivered" and delivery.time < limit:
                await self.records.delete_delivery(delivery)

    async def _read_push_keys(self) -> PushKeys | None:
        """Return the keys of all servers of the store; None if the package for them is missing."""
        with suppress(ConfigurationError):
            stored = await self._store.put_record(PUSH_KEYS, "vapid", encode(new_push_keys()), only_new=True)
            return msgspec.json.decode(stored, type=PushKeys)
        return None

    def _link(self, info: SessionInfo) -> str:
        public = self._context.settings.public
        return f"{public.url}/#/decide/{info.id}" if public is not None else ""
