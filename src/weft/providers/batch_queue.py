"""Sends turns of many sessions as batches: requests that wait at the same time are submitted together.

Inside `use_batches` every turn of a model waits for its batch. A journal remembers which request is in which batch, and
the answers: a program that was interrupted and starts again with the same requests goes on where it ended, and nothing
is submitted twice.
"""

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from weft.core.errors import ConfigurationError, ProviderError
from weft.core.json import JsonObject, encode, encode_text
from weft.providers.batch_api import BatchAnswer, BatchApi, batch_api
from weft.providers.defaults import batches_of_context
from weft.providers.model import Model
from weft.providers.transport import Response

QUIET_SECONDS = 2.0
POLL_SECONDS = 30.0
_MOST_FAULTS = 10
_OK = 200
_Group = tuple[str, str, str]
"""The properties that a batch has in common: the address, the wire and the model."""


class _Entry(msgspec.Struct, omit_defaults=True):
    """A line of the journal: a batch that was submitted, or an answer."""

    batch: str = ""
    group: _Group = ("", "", "")
    requests: list[str] = []
    request: str = ""
    status: int = 0
    body: JsonObject | None = None


class BatchJournal:
    """The batches and answers of one piece of work, in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers: dict[str, BatchAnswer] = {}
        self.open_batches: dict[str, tuple[_Group, list[str]]] = {}
        if path.exists():
            self._read()

    def add_batch(self, batch: str, group: _Group, requests: list[str]) -> None:
        self.open_batches[batch] = (group, requests)
        self._append(_Entry(batch=batch, group=group, requests=requests))

    def add_answer(self, request: str, answer: BatchAnswer) -> None:
        self.answers[request] = answer
        self._append(_Entry(request=request, status=answer.status, body=answer.body))

    def find_batch(self, request: str) -> str | None:
        """Return the batch that holds a request without an answer."""
        return next((name for name, (_, names) in self.open_batches.items() if request in names), None)

    def _append(self, entry: _Entry) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(encode(entry) + b"\n")
            file.flush()

    def _read(self) -> None:
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._add(msgspec.json.decode(line, type=_Entry))
            except msgspec.DecodeError:
                raise ConfigurationError(f"{self._path}, line {number} is not from a batch; remove the file.") from None
        if len(whole) < len(content):  # the program was killed while it wrote the last line
            os.truncate(self._path, len(whole))
        for name, (_, requests) in list(self.open_batches.items()):
            if all(request in self.answers for request in requests):
                del self.open_batches[name]

    def _add(self, entry: _Entry) -> None:
        if entry.batch:
            self.open_batches[entry.batch] = (entry.group, entry.requests)
        elif entry.body is not None and entry.status == _OK:
            self.answers[entry.request] = BatchAnswer(entry.status, entry.body)
        else:  # a failed request is sent once more
            for _, requests in self.open_batches.values():
                if entry.request in requests:
                    requests.remove(entry.request)


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
        self._waiting: dict[_Group, dict[str, JsonObject]] = {}
        self._models: dict[_Group, Model] = {}
        self._answers: dict[str, asyncio.Future[BatchAnswer]] = {}
        self._timers: dict[_Group, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: set[str] = set()

    async def post(self, model: Model, body: bytes) -> Response:
        """Send a request in a batch and wait for its answer."""
        batch_api(model)  # refuses a wire without batches
        group = (model.base_url, model.wire.name, model.name)
        self._models.setdefault(group, model)
        name = self._name(group, body)
        known = self._journal.answers.get(name)
        if known is not None:
            return _response(known)
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

    def _name(self, group: _Group, body: bytes) -> str:
        """Name a request by its content and by how often it was sent, so that a later run names it equally."""
        digest = hashlib.sha256(encode_text(group).encode() + b"\0" + body).hexdigest()[:48]
        self._seen[digest] += 1
        return f"{digest}-{self._seen[digest]}"

    def _submit_later(self, group: _Group) -> None:
        """Submit when no further request has come for a while."""
        if (timer := self._timers.pop(group, None)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[group] = loop.call_later(self._quiet_seconds, self._start, group)

    def _start(self, group: _Group) -> None:
        self._timers.pop(group, None)
        self._spawn(self._submit(group, self._waiting.pop(group, {})))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work, name="weft-batch")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit(self, group: _Group, requests: dict[str, JsonObject]) -> None:
        api = batch_api(self._models[group])
        try:
            batch = await api.submit(requests)
        except ProviderError as error:
            self._fail(list(requests), error)
            return
        self._journal.add_batch(batch, group, list(requests))
        self._follow(batch, group)

    def _follow(self, batch: str, group: _Group) -> None:
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
