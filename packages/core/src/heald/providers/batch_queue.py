"""Sends turns of many sessions as batches: requests that wait at the same time are submitted together.

Inside `use_batches` every turn of a model waits for its batch. A journal remembers which request is in which batch, and
the answers: a program that was interrupted and starts again with the same requests goes on where it ended, and nothing
is submitted twice.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from heald.core.errors import ProviderError
from heald.core.json import JsonObject, encode, encode_text
from heald.providers.batch import BatchAnswer, BatchApi
from heald.providers.batch_api import batch_api
from heald.providers.batch_journal import BatchGroup, BatchJournal
from heald.providers.defaults import batches_of_context
from heald.providers.model import Model
from heald.providers.transport import Response

QUIET_SECONDS = 2.0
POLL_SECONDS = 30.0
_MOST_FAULTS = 10


class BatchQueue:
    """Collects requests, submits those of the same model together, and delivers the answers."""

    def __init__(
        self,
        journal: BatchJournal,
        *,
        poll_seconds: float = POLL_SECONDS,
        quiet_seconds: float = QUIET_SECONDS,
        on_change: Callable[[str], object] | None = None,
    ) -> None:
        self._journal = journal
        self._poll_seconds = poll_seconds
        self._quiet_seconds = quiet_seconds
        self._on_change = on_change
        self._seen: Counter[str] = Counter()
        self._waiting: dict[BatchGroup, dict[str, JsonObject]] = {}
        self._models: dict[BatchGroup, Model] = {}
        self._answers: dict[str, asyncio.Future[BatchAnswer]] = {}
        self._timers: dict[BatchGroup, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: set[str] = set()

    async def post(self, model: Model, body: bytes) -> Response:
        """Send a request in a batch and wait for its answer."""
        batch_api(model)  # refuses a wire without batches
        group = (model.base_url, model.wire.name, model.name)
        self._models.setdefault(group, model)
        name = self._name(group, body)
        answer = self._journal.answers.get(name)
        if answer is not None:
            return _response(answer)
        future = self._answers.setdefault(name, asyncio.get_running_loop().create_future())
        batch = self._journal.find_batch(name)
        if batch is not None:
            self._follow(batch, group)
        else:
            self._waiting.setdefault(group, {})[name] = msgspec.json.decode(body)
            self._submit_later(group)
        return _response(await asyncio.shield(future))

    async def close(self) -> None:
        """Stop waiting. Batches that were submitted go on at the provider."""
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _name(self, group: BatchGroup, body: bytes) -> str:
        """Name a request by its content and by how often it was sent, so that a later run names it equally."""
        digest = hashlib.sha256(encode_text(group).encode() + b"\0" + body).hexdigest()[:48]
        self._seen[digest] += 1
        return f"{digest}-{self._seen[digest]}"

    def _submit_later(self, group: BatchGroup) -> None:
        """Submit when no further request has come for a while."""
        if (timer := self._timers.pop(group, None)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[group] = loop.call_later(self._quiet_seconds, self._start, group)

    def _start(self, group: BatchGroup) -> None:
        self._timers.pop(group, None)
        self._spawn(self._submit(group, self._waiting.pop(group, {})))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work, name="heald-batch")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit(self, group: BatchGroup, requests: dict[str, JsonObject]) -> None:
        api = batch_api(self._models[group])
        try:
            batch = await api.submit(requests)
        except ProviderError as error:
            self._fail(list(requests), error)
            return
        self._journal.add_batch(batch, group, list(requests))
        self._follow(batch, group)

    def _follow(self, batch: str, group: BatchGroup) -> None:
        if batch not in self._followed:
            self._followed.add(batch)
            self._spawn(self._wait_for(batch, batch_api(self._models[group])))

    async def _wait_for(self, batch: str, api: BatchApi) -> None:
        """Poll a batch until it is done, then deliver its answers. A poll that fails is repeated."""
        _, requests = self._journal.open_batches[batch]
        faults = 0
        while True:
            try:
                progress = await api.poll(batch)
                if self._on_change is not None:
                    self._on_change(f"batch {batch}: {progress.answered} of {progress.total or len(requests)} answered")
                if progress.is_done:
                    answers = {} if progress.fault else await api.fetch(batch)
                    break
                faults = 0
            except ProviderError as error:
                faults += 1
                if not error.retryable or faults > _MOST_FAULTS:
                    self._fail(requests, error)
                    return
            await asyncio.sleep(self._poll_seconds)
        reason = progress.fault or "the batch has no answer to this request"
        missing = BatchAnswer(400, {"error": {"message": f"The batch failed: {reason}."}})
        del self._journal.open_batches[batch]
        for request in requests:
            self._deliver(request, answers.get(request, missing))

    def _deliver(self, request: str, answer: BatchAnswer) -> None:
        self._journal.add_answer(request, answer)
        future = self._answers.pop(request, None)
        if future is not None and not future.done():
            future.set_result(answer)

    def _fail(self, requests: list[str], error: ProviderError) -> None:
        for request in requests:
            future = self._answers.pop(request, None)
            if future is not None and not future.done():
                future.set_exception(error)


def _response(answer: BatchAnswer) -> Response:
    pieces = [encode(answer.body)]

    async def read_chunk() -> bytes:
        return pieces.pop() if pieces else b""

    return Response(
        answer.status,
        {"content-type": "application/json"},
        read_chunk,
        at_end=lambda: not pieces,
        release=lambda: None,
        close=lambda: None,
    )


@asynccontextmanager
async def use_batches(queue: BatchQueue) -> AsyncGenerator[None]:
    """Send every turn inside the block, also those of its tasks, in batches."""
    token = batches_of_context.set(queue)
    try:
        yield
    finally:
        batches_of_context.reset(token)
        await queue.close()
