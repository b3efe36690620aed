"""Runs the calls of one message and collects their results in call order.

Each call runs in its own task, so that a call that ignores cancellation can be detached. Every call gets a result, also
after cancellation.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from weft.core.events import (
    ClientToolRequested,
    ConversationWaiting,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    tool_use_result,
)
from weft.core.json import JsonObject, encode_text
from weft.core.messages import Text, ToolCall, ToolResult, ToolStatus
from weft.core.payload import Payload
from weft.tools.context import Emit, EmitResult, ToolContext
from weft.tools.definitions import Access, Tool
from weft.tools.results import (
    Parts,
    ToolFault,
    ToolOutput,
    describe_exception,
    is_too_large,
    shrink_parts,
    to_output,
    truncate_content,
)
from weft.tools.scheduling import Ticket
from weft.tools.secrets import hide_in_content
from weft.tools.summaries import call_summary, result_summary

if TYPE_CHECKING:
    from weft.tools.runtime import ToolRuntime

GRACE = 2.0
"""Seconds that a call has to end after cancellation."""
_CANCELLED = "The call was cancelled before it was done."


class PlannedCall(msgspec.Struct):
    """A valid call of a known tool."""

    call: ToolCall
    tool: Tool
    arguments: JsonObject
    values: JsonObject
    """The arguments as the function accepts them."""
    access: Sequence[Access]
    changed: bool = False
    """Whether the approver changed the arguments."""


class CallHost(Protocol):
    """Runs a single call in its own task, from which the call can be detached."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...

    @property
    def task(self) -> "asyncio.Task[None]": ...

    def run_inline(
        self, work: Coroutine[Any, Any, None], on_wait: Callable[[], object] | None = None
    ) -> Awaitable[None]: ...

    def detach(self, error: BaseException | None = None) -> None: ...


class RunningCall:
    """The state of one call from plan to result."""

    __slots__ = (
        *("call", "context", "host", "may_wait", "result", "started", "task", "ticket"),
        *("timed", "timed_out", "tool"),
    )

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.tool: Tool | None = None
        self.ticket: Ticket | None = None
        self.task: asyncio.Task[None] | None = None
        self.host: CallHost | None = None
        self.may_wait = True  # False until a call that runs inline waits for something
        self.timed = False  # its time limit is set
        self.context: ToolContext | None = None
        self.timed_out = False
        self.started = 0.0
        self.result: ToolResult | None = None

    def stop(self) -> None:
        if self.context is not None:
            self.context.stop()
        if self.task is not None:
            self.task.cancel()


class CallBatch:
    """Runs the calls of one message. `results` are in call order."""

    def __init__(
        self,
        runtime: "ToolRuntime",
        calls: Sequence[ToolCall],
        emit: Emit,
        notes: Mapping[str, str] | None = None,
        host: CallHost | None = None,
        attempts: Mapping[str, int] | None = None,
        waiting: Collection[str] = (),
        emit_result: EmitResult | None = None,
    ) -> None:
        self._runtime = runtime
        self._emit = emit
        self._emit_result = emit_result or partial(_emit_each, emit)
        self._notes = notes or {}
        self._attempts = attempts or {}
        self._waiting = waiting  # calls of an earlier process whose start is recorded, and which still wait
        self._host = host
        self._calls = list(map(RunningCall, calls))
        self._open = len(calls)
        self._stopped = False
        self._on_client: dict[str, None] = {}  # calls that wait for a client
        self._reported_waiting = False
        self._done: asyncio.Future[None] | None = None
        self._slots = asyncio.Semaphore(runtime.concurrency) if len(calls) > runtime.concurrency else None

    @property
    def results(self) -> list[ToolResult]:
        return [running.result for running in self._calls if running.result is not None]

    async def run(self) -> None:
        ready: list[tuple[RunningCall, PlannedCall]] = []
        for running in self._calls:
            planned = self._plan(running)
            if planned is not None:
                ready.append((running, planned))
        for running, planned in ready:
            if access := planned.access if len(ready) == 1 else self._access(planned, ready):
                running.ticket = self._runtime.locks.ticket(access)
        try:
            if len(ready) == 1 and self._host is not None:
                running, planned = ready[0]
                running.host, running.may_wait = self._host, False
                await self._host.run_inline(self._work(running, planned), partial(self._on_wait, running))
            elif ready:
                await self._run_in_tasks(ready)
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            if self._open:
                self.refuse(_CANCELLED, "cancelled")

    async def _run_in_tasks(self, ready: list[tuple[RunningCall, PlannedCall]]) -> None:
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        for running, planned in ready:
            running.task = loop.create_task(self._work(running, planned))
        await self._done

    def refuse(self, reason: str, status: ToolStatus) -> None:
        """Give this result to every call that has none."""
        for running in self._calls:
            if running.result is None and running.tool is None:
                self._plan(running)  # an invalid call reports its own fault
            if running.result is None:
                self._record(running, _result(running, status, reason))

    def cancel(self) -> None:
        """Start no further calls and cancel the running ones."""
        if self._stopped:
            return  # a second cancellation would interrupt clean-up
        self._stopped = True
        for running in self._calls:
            if running.result is not None:
                continue
            running.stop()
            if running.host is not None:  # it runs in the exchange's task, which the caller cancels
                running.timed = True
                self._runtime.timer.start(running, GRACE, self._abandon_cancelled)

    async def _stop(self) -> None:
        tasks = [running.task for running in self._calls if running.task is not None and not running.task.done()]
        self.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)

    def _plan(self, running: RunningCall) -> PlannedCall | None:
        planned = self._runtime.plan(running.call)
        if isinstance(planned, ToolFault):
            self._record(running, self._failure(running, planned))
            return None
        running.tool = planned.tool
        return planned

    def _access(self, planned: PlannedCall, all_of_it: list[tuple[RunningCall, PlannedCall]]) -> Sequence[Access]:
        """Return the accesses of a call, plus a batch lock if one of the calls is sequential."""
        if planned.tool.on_client:
            return ()
        if not any(other.tool.sequential for _, other in all_of_it):
            return planned.access
        return [*planned.access, Access(resource=f"batch:{id(self)}", changes=planned.tool.sequential)]

    async def _work(self, running: RunningCall, planned: PlannedCall) -> None:
        try:
            if self._runtime.decide(planned).verdict != "allow":
                planned = await self._runtime.permit(planned, self._emit)
                self._lock_changed_access(running, planned)
            if running.ticket is not None:
                await running.ticket.granted()
            if self._slots is not None and not planned.tool.on_client:
                await self._slots.acquire()
            self._start(running, planned)
            assert running.context is not None
            output = to_output(running.context.join(await self._runtime.run(planned, running.context)))
            if not isinstance(output.content, str) and is_too_large(output.content):
                output = await _shrink_output(output)
            result = self._success(running, planned, output)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            if running.timed_out and task.uncancel() == 0:
                result = self._timeout(running)
            elif task.cancelling() == 0 and not self._stopped:
                result = self._failure(running, ToolFault("The tool cancelled itself."))
            else:
                self._record(running, self._failure(running, ToolFault(_CANCELLED, status="cancelled")))
                raise
        except Exception as error:
            result = self._failure(running, error)
        finally:
            if self._slots is not None and running.started and not planned.tool.on_client:
                self._slots.release()
        self._record(running, result)

    def _lock_changed_access(self, running: RunningCall, planned: PlannedCall) -> None:
        """Replace the ticket if the approver changed the arguments."""
        if not planned.changed:
            return
        if running.ticket is not None:
            running.ticket.release()
        running.ticket = self._runtime.locks.ticket(planned.access) if planned.access else None

    def _start(self, running: RunningCall, planned: PlannedCall) -> None:
        if self._stopped:
            raise asyncio.CancelledError
        runtime, tool, call = self._runtime, planned.tool, running.call
        running.started = monotonic()
        running.context = ToolContext(
            call,
            runtime.workspace,
            emit=self._publish,
            keep=runtime.session_objects,
            ask=self._ask,
            loop=self._host.loop if self._host is not None else asyncio.get_running_loop(),
            host=runtime,
        )
        if call.id not in self._waiting:
            held = running.ticket.held if running.ticket is not None else []
            summary = call_summary(tool, planned.arguments)
            attempt = self._attempts.get(call.id, 1)
            self._emit(ToolExecuting(call.id, tool.definition.name, attempt, held, summary, tool.idempotent))
        elif tool.on_client:
            self._on_client[call.id] = None
            self._report_waiting()
        if running.may_wait:
            self._limit_time(running, tool)

    def _on_wait(self, running: RunningCall) -> None:
        """A call that runs inline waits: only now can its time run out."""
        running.may_wait = True
        if running.started and running.tool is not None:
            self._limit_time(running, running.tool)

    def _limit_time(self, running: RunningCall, tool: Tool) -> None:
        running.timed = True
        timeout = tool.timeout if tool.timeout is not None else self._runtime.timeout
        self._runtime.timer.start(running, running.started + timeout - monotonic(), self._time_out)

    def _publish(self, payload: Payload) -> None:
        """Publish a payload of a running tool."""
        self._emit(payload)
        if type(payload) is ClientToolRequested:
            self._on_client[payload.id] = None
            self._report_waiting()

    def _report_waiting(self) -> None:
        """Publish, once, that nothing but calls of clients is open."""
        if self._stopped or self._reported_waiting or not self._on_client:
            return
        waiting = [call for call in self._on_client if self._runtime.client_calls.is_open(call)]
        if len(waiting) == self._open > 0:
            self._reported_waiting = True
            self._emit(ConversationWaiting(waiting))

    async def _ask(self, call: ToolCall, text: str, suggestions: Sequence[str]) -> str:
        return await self._runtime.approvals.ask(call, text, suggestions, self._emit)

    # --- outcomes -----------------------------------------------------------------------------------------------------

    def _time_out(self, running: RunningCall) -> None:
        if running.result is not None:
            return
        running.timed_out = True
        running.stop()
        if running.host is not None:
            running.host.task.cancel()
        self._runtime.timer.start(running, GRACE, self._detach)

    def _detach(self, running: RunningCall) -> None:
        """Record a timeout for a call that did not stop in time, and detach it."""
        if running.result is None:
            logging.getLogger("weft").warning("The tool %s did not stop and was left behind.", running.call.name)
            self._record(running, self._timeout(running))
            if running.host is not None:
                running.host.detach()

    def _abandon_cancelled(self, running: RunningCall) -> None:
        """Record a cancelled call that did not stop in time, and detach it."""
        if running.result is None and running.host is not None:
            logging.getLogger("weft").warning("The tool %s did not stop and was left behind.", running.call.name)
            self._record(running, _result(running, "cancelled", _CANCELLED))
            running.host.detach(asyncio.CancelledError())

    def _record(self, running: RunningCall, result: ToolResult) -> None:
        if running.result is not None:
            return
        if result.status != "ok" and running.context is not None and running.context.has_pieces:
            result = self._with_pieces(running.context, result)
        note = self._notes.get(result.id)
        if note is not None:
            result = msgspec.structs.replace(result, content=_with_note(result.content, note))
        running.result = result
        if running.timed:
            self._runtime.timer.cancel(running)
        if running.context is not None:
            running.context.close()
        if running.ticket is not None:
            running.ticket.release()
        message = tool_use_result(running.call, result)
        self._emit_result(_outcome(running, result), result, *([] if message is None else [message]))
        running.context = None  # it knows the batch, which knows the call
        self._open -= 1
        if self._on_client:
            self._on_client.pop(result.id, None)
            self._report_waiting()
        if self._open == 0 and self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _success(self, running: RunningCall, planned: PlannedCall, output: ToolOutput) -> ToolResult:
        limit = planned.tool.max_output if planned.tool.max_output is not None else self._runtime.max_output
        is_secret = planned.tool.effect == "read" and self._runtime.hides_secrets(planned.tool, planned.arguments)
        content, whole = self._runtime.fit_content(hide_in_content(output.content, is_secret=is_secret), limit)
        if planned.changed:
            content = _with_note(
                content, f"(The user changed the arguments to {encode_text(planned.arguments)[:2000]}.)"
            )
        return ToolResult(
            id=running.call.id,
            name=running.call.name,
            status="error" if output.is_error else "ok",
            content=content,
            is_error=output.is_error,
            truncated=whole is not None or output.truncated,
            summary=output.summary,
            data=output.data,
            whole=whole,
        )

    def _with_pieces(self, context: ToolContext, result: ToolResult) -> ToolResult:
        """Return the result of a call that ended early, with the pieces that there are."""
        output = context.join(f"[The result is partial. {result.text}]")
        content: Parts = output.content
        if not isinstance(content, str) and is_too_large(content):
            content = [part for part in content if isinstance(part, Text)]
        content, whole = self._runtime.fit_content(content, self._runtime.max_output)
        if whole is not None:  # the first page lacks the note
            content = _with_note(content, f"[The result is partial. {result.text}]")
        return msgspec.structs.replace(result, content=content, truncated=True, whole=whole)

    def _failure(self, running: RunningCall, error: Exception) -> ToolResult:
        text = describe_exception(error, self._runtime.workspace.root)
        text, cut = truncate_content(hide_in_content(text, is_secret=False), self._runtime.max_output)
        status: ToolStatus = error.status if isinstance(error, ToolFault) else "error"
        if running.started and status in ("invalid_input", "unknown_tool"):
            status = "error"  # those statuses are for calls that never started
        return _result(running, status, text, cut)

    def _timeout(self, running: RunningCall) -> ToolResult:
        after = monotonic() - running.started
        return _result(running, "timeout", f"The call was ended after {after:.0f} s, its time limit.")


def _emit_each(emit: Emit, *payloads: Payload) -> None:
    for payload in payloads:
        emit(payload)


async def _shrink_output(output: ToolOutput) -> ToolOutput:
    """Return an output that fits into an event."""
    assert not isinstance(output.content, str)
    content = await asyncio.to_thread(shrink_parts, output.content)
    return msgspec.structs.replace(output, content=content, truncated=True)


def _result(running: RunningCall, status: ToolStatus, content: Parts, truncated: bool = False) -> ToolResult:
    return ToolResult(id=running.call.id, name=running.call.name, status=status, content=content, truncated=truncated)


def _outcome(running: RunningCall, result: ToolResult) -> ToolCompleted | ToolFailed:
    elapsed = round((monotonic() - running.started) * 1000, 3) if running.started else 0.0
    summary = result.summary or result_summary(result)
    cost = running.context.spent if running.context is not None else 0.0
    if result.status == "ok":
        is_cached = running.context is not None and running.context.cached
        return ToolCompleted(result.id, result.name, elapsed, summary, cost, is_cached)
    return ToolFailed(result.id, result.name, result.status, elapsed, summary, cost)


def _with_note(content: Parts, note: str) -> Parts:
    return f"{note}\n{content}" if isinstance(content, str) else [Text(note), *content]
