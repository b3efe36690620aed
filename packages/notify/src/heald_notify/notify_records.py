"""The endpoints and deliveries of a store, as records that all of its servers share."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from heald.core.json import encode
from heald.sessions.shared_store import SharedStore
from heald_notify.delivery import Delivery
from heald_notify.endpoint import NotifyEndpoint

ENDPOINTS, DELIVERIES, WATERMARKS, PUSH_KEYS = "webhooks", "webhook_deliveries", "webhook_watermarks", "push_keys"
RecordT = TypeVar("RecordT", NotifyEndpoint, Delivery)


class NotifyRecords:
    """Reads and writes the records. A damaged one is left out."""

    def __init__(self, store: SharedStore) -> None:
        self.store = store

    async def endpoints(self, owner: str | None = None) -> dict[str, NotifyEndpoint]:
        """Return the endpoints by id: all, or those of an owner."""
        endpoints = _decode(await self.store.read_records(ENDPOINTS), NotifyEndpoint)
        return {name: endpoint for name, endpoint in endpoints.items() if owner is None or endpoint.owner == owner}

    async def put_endpoint(self, endpoint: NotifyEndpoint) -> None:
        await self.store.put_record(ENDPOINTS, endpoint.id, encode(endpoint))

    async def delete_endpoint(self, endpoint: NotifyEndpoint) -> None:
        """Delete an endpoint and all of its deliveries."""
        await self.store.delete_record(ENDPOINTS, endpoint.id)
        for delivery in (await self.deliveries(endpoint.id)).values():
            await self.delete_delivery(delivery)

    async def deliveries(self, endpoint: str | None = None) -> dict[str, Delivery]:
        """Return the deliveries by id, the oldest first: all, or those of an endpoint."""
        deliveries = _decode(await self.store.read_records(DELIVERIES), Delivery)
        rows = sorted(deliveries.items(), key=lambda row: (row[1].time, row[0]))
        return {name: delivery for name, delivery in rows if endpoint in (None, delivery.endpoint)}

    async def add_delivery(self, delivery: Delivery) -> Delivery:
        """Store a delivery, unless there is one of its id. Returns the stored one."""
        stored = await self.store.put_record(DELIVERIES, delivery.id, encode(delivery), only_new=True)
        return msgspec.json.decode(stored, type=Delivery)

    async def put_delivery(self, delivery: Delivery) -> None:
        await self.store.put_record(DELIVERIES, delivery.id, encode(delivery))

    async def delete_delivery(self, delivery: Delivery) -> None:
        await self.store.delete_record(DELIVERIES, delivery.id)

    async def watermarks(self) -> dict[str, float]:
        """Return for each server the time before which all of its events are queued."""
        records = await self.store.read_records(WATERMARKS)
        return {node: float(text) for node, text in records.items()}

    async def put_watermark(self, node: str, moment: float) -> None:
        await self.store.put_record(WATERMARKS, node, str(moment).encode())

    async def delete_watermark(self, node: str) -> None:
        await self.store.delete_record(WATERMARKS, node)


def _decode(records: Mapping[str, bytes], kind: type[RecordT]) -> dict[str, RecordT]:
    decoded: dict[str, RecordT] = {}
    for name, data in records.items():
        try:
            decoded[name] = msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return decoded
