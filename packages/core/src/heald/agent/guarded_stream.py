"""Checks an answer while it streams.

Every payload is passed on in order, and a text only after its check. While a check is awaited, the payloads that follow
wait; they are then checked together. After a refusal nothing more is passed on.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from heald.agent.guardrail import Guardrail
from heald.agent.streamed_text import StreamedText
from heald.core.events import MessageDiscarded, MessageStart, RetryScheduled, TextDelta, ThinkingDelta
from heald.core.payload import Payload
from heald.providers.base import OnEvent, ProviderTurn, deliver_to

_GRACE = 1.0  # seconds that a cancelled check has to end
_Pending = tuple[Guardrail, "asyncio.Future[str | None]"]

TextPayload = type[TextDelta] | type[ThinkingDelta]


class GuardedStream:
    """Passes the payloads of one turn on to a listener once they are checked."""

    def __init__(self, guardrails: Mapping[TextPayload, Sequence[Guardrail]], on_event: OnEvent) -> None:
        self._guardrails = guardrails
        self._on_event = on_event
        self._deliver = deliver_to(on_event)
        self._texts: dict[TextPayload, StreamedText] = {}
        self._waiting: deque[Payload] = deque()
        self._worker: asyncio.Task[None] | None = None  # checks what waits
        self._check: asyncio.Future[str | None] | None = None  # that the worker waits for
        self._stream: asyncio.Task[ProviderTurn] | None = None
        self._failure: Exception | None = None

    async def run(self, stream_turn: Callable[[OnEvent], Awaitable[ProviderTurn]]) -> ProviderTurn:
        """Run the turn. Raises GuardrailTripped as soon as a check refuses, also while the model is silent."""
        task = asyncio.current_task()
        cancellations = task.cancelling() if task is not None else 0
        self._stream = asyncio.ensure_future(self._read(stream_turn))
        try:
            return await self._stream
        except asyncio.CancelledError:
            if self._failure is None or (task is not None and task.cancelling() > cancellations):
                raise
            raise self._failure from None
        except Exception:
            if self._failure is None:
                raise
            raise self._failure from None
        finally:
            await self._stop_worker()

    async def _read(self, stream_turn: Callable[[OnEvent], Awaitable[ProviderTurn]]) -> ProviderTurn:
        turn = await stream_turn(self)
        self._stream = None  # a refusal need not cancel it any more
        if self._worker is not None:
            await self._worker
        if self._failure is not None:
            raise self._failure
        return turn

    def __call__(self, payload: Payload) -> object:
        """Accept a payload. Returns False for a retry that may not happen."""
        if type(payload) is RetryScheduled:
            self._raise_failure()
            return self._on_event(payload)
        self.on_payloads((payload,))
        return None

    def on_payloads(self, payloads: Sequence[Payload]) -> None:
        """Accept payloads that arrived together."""
        self._raise_failure()
        if self._worker is None:
            self._pass_on(payloads)
            return
        for position, payload in enumerate(payloads):
            if type(payload) is MessageDiscarded:  # what waits is of the attempt that has failed
                self._drop_waiting()
                self._pass_on(payloads[position:])
                return
        self._waiting.extend(payloads)

    def _pass_on(self, payloads: Sequence[Payload]) -> None:
        """Check and deliver payloads, each by itself, up to a check that has to be awaited."""
        passed: list[Payload] = []
        try:
            for position, payload in enumerate(payloads):
                checks = self._checks([payload])
                pending = next(checks, None)
                if pending is not None:
                    self._waiting.extend(payloads[position + 1 :])
                    self._check = pending[1]
                    self._worker = asyncio.ensure_future(self._work([payload], checks, pending))
                    return
                passed.append(payload)
        except Exception as error:
            self._failure = error
            raise
        finally:
            if passed:
                self._deliver(passed)

    def _checks(self, payloads: Sequence[Payload]) -> Iterator[_Pending]:
        """Check the texts of payloads. Yields the checks that have to be awaited. Raises GuardrailTripped."""
        deltas: dict[TextPayload, str] = {}
        for payload in payloads:
            if type(payload) is MessageStart:
                self._texts = {kind: StreamedText() for kind in self._guardrails}
            elif isinstance(payload, TextDelta | ThinkingDelta):
                deltas[type(payload)] = deltas.get(type(payload), "") + payload.text
        for kind, delta in deltas.items():
            if kind not in self._guardrails:
                continue
            streamed = self._texts.setdefault(kind, StreamedText())
            streamed.add(delta)
            for guardrail in self._guardrails[kind]:
                pending = guardrail.start(streamed)
                if pending is not None:
                    yield guardrail, pending

    async def _work(self, payloads: Sequence[Payload], checks: Iterator[_Pending], pending: _Pending | None) -> None:
        """Await the checks of payloads, deliver them, and go on with those that wait by then."""
        worker = asyncio.current_task()
        try:
            while True:
                while pending is not None:
                    guardrail, self._check = pending
                    await guardrail.finish(self._check)
                    if self._worker is not worker:  # the attempt was discarded meanwhile
                        return
                    pending = next(checks, None)
                self._deliver(payloads)
                if not self._waiting:
                    break
                payloads = self._next_payloads()
                checks = self._checks(payloads)
                pending = next(checks, None)
        except Exception as error:
            if self._worker is worker:
                self._failure = error
                self._waiting.clear()
                if self._stream is not None:
                    self._stream.cancel()
        if self._worker is worker:
            self._worker = self._check = None

    def _next_payloads(self) -> list[Payload]:
        """Remove and return the payloads of one message that wait."""
        payloads = [self._waiting.popleft()]
        while self._waiting and type(self._waiting[0]) is not MessageStart:
            payloads.append(self._waiting.popleft())
        return payloads

    def _drop_waiting(self) -> None:
        """Drop what waits for a check, and the check."""
        worker, check, self._worker, self._check = self._worker, self._check, None, None
        self._waiting.clear()
        for task in (worker, check):
            if task is not None:
                task.cancel()

    async def _stop_worker(self) -> None:
        worker = self._worker
        self._drop_waiting()
        if worker is not None:
            await asyncio.wait([worker], timeout=_GRACE)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
