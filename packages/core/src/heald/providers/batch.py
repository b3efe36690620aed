"""Batches of requests: submitted together, answered within a day, at half the price."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from heald.core.errors import MalformedResponse
from heald.core.json import JsonObject, as_object, loads

SECONDS = 600.0
"""The limit of a call that sends or fetches a batch."""
REFUSED_STATUS = 400
_RETRYABLE_STATUS = 503
_STREAM_ONLY = ("stream", "stream_options")


class BatchProgress(NamedTuple):
    """How far a batch is."""

    is_done: bool
    answered: int
    total: int
    fault: str = ""
    """Why the whole batch failed."""


class BatchAnswer(NamedTuple):
    """The answer to one request of a batch: an HTTP status and a JSON document."""

    status: int
    body: JsonObject


class BatchApi(Protocol):
    """The batches of one provider."""

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        """Submit the bodies of requests, by their ids. Returns the id of the batch."""
        ...

    async def poll(self, batch: str) -> BatchProgress: ...

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        """Return the answers of a batch that is done, by the ids of the requests."""
        ...


def unanswered(outcome: str) -> BatchAnswer:
    """Return the answer to a request that the provider did not run. One that expired may be sent in another batch."""
    status = _RETRYABLE_STATUS if "expired" in outcome else REFUSED_STATUS
    return BatchAnswer(status, {"error": {"message": f"The batch did not run this request: {outcome}."}})


def without_stream(body: JsonObject) -> JsonObject:
    return {name: value for name, value in body.items() if name not in _STREAM_ONLY}


def parse_lines(content: bytes) -> Iterator[JsonObject]:
    for line in content.splitlines():
        if line.strip():
            try:
                yield as_object(loads(line))
            except ValueError:
                raise MalformedResponse("The results of the batch are not lines of JSON; try again later.") from None


def read_id(answer: JsonObject) -> str:
    batch_id = answer.get("id")
    if not isinstance(batch_id, str) or not batch_id:
        raise MalformedResponse("The answer to the batch has no id; check the base URL and the wire.")
    return batch_id
