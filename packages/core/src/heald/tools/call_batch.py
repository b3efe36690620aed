"""Runs the calls of one message and collects their results in call order.

Each call runs in its own task, so that a call that ignores cancellation can be abandoned. Calls of functions that never
wait need none: nothing could cancel them. Every call gets a result, also after cancellation.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from heald.core.events import (
    ClientToolRequested,
    ConversationWaiting,
    FileChanged,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    tool_use_result,
)
from heald.core.json import encode_text
from heald.core.messages import Text, ToolCall, ToolResult, ToolStatus
from heald.core.payload import Payload
from heald.tools.context import Emit, EmitResult, ToolContext
from heald.tools.definitions import Access, Tool
from heald.tools.planned_call import PlannedCall
from heald.tools.result_media import is_too_large, shrink_parts
from heald.tools.result_text import truncate_content
from heald.tools.running_call import RunningCall
from heald.tools.secrets import hide_file_values
from heald.tools.summaries import call_summary, result_summary
from heald.tools.tool_fault import ToolFault, describe_exception
from heald.tools.tool_output import Parts, ToolOutput, to_output

if TYPE_CHECKING:
    from heald.tools.runtime import ToolRuntime

GRACE = 2.0
"""Seconds that a call has to end after cancellation."""
_CANCELLED = "The call was cancelled before it was done."


class CallBatch:
    """Runs the calls of one message. `results` are in call order."""

    def __init__(
        self,
        runtime: "ToolRuntime",
        calls: Sequence[ToolCall],
        emit: Emit,
        notes: Mapping[str, str] | None = None,
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
        self._calls = list(map(RunningCall, calls))
        self._open = len(calls)
        self._stopped = False
        self._on_client: dict[str, None] = {}  # calls that wait for a client
        self._reported_waiting = False
        self._loop = asyncio.get_running_loop()
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
        has_sequential = len(ready) > 1 and any(planned.tool.sequential for _, planned in ready)
        for running, planned in ready:
            if access := self._batch_access(planned) if has_sequential else planned.access:
                running.ticket = self._runtime.locks.ticket(access)
        try:
            if self._never_wait(ready):
                await self._run_at_once(ready)
            elif ready:
                await self._run_in_tasks(ready)
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            if self._open:
                self.refuse(_CANCELLED, "cancelled")

    def _never_wait(self, ready: list[tuple[RunningCall, PlannedCall]]) -> bool:
        """Whether every call can be run without a task: its function never waits, and nothing else holds it up."""
        if self._slots is not None or not self._runtime.is_plain:
            return False
        for running, planned in ready:
            if not planned.tool.never_waits or running.ticket is not None:
                return False
            if self._runtime.decide(planned).verdict != "allow":
                return False
        return True

    async def _run_at_once(self, ready: list[tuple[RunningCall, PlannedCall]]) -> None:
        """Run calls one after another in the task of the exchange. Only the search for secret values waits."""
        runtime = self._runtime
        for running, planned in ready:
            tool = planned.tool
            try:
                if tool.effect != "read" and runtime.sees_files(tool):
                    await runtime.refresh_secrets()  # it may publish what it reads while it runs
                self._start(running, planned, uses_context=not tool.ignores_context)
                output = self._run_now(running, planned)
                if runtime.sees_files(tool) or not isinstance(output.content, str):
                    output = await self._finish_output(tool, output)
                result = self._success(running, planned, output)
            except asyncio.CancelledError:
                result = self._cancelled_itself(running)
            except Exception as error:
                result = self._describe_failure(running, planned, error)
            self._record(running, result)

    def _run_now(self, running: RunningCall, planned: PlannedCall) -> ToolOutput:
        """Run the function of a call, which never waits."""
        context: Any = running.context  # None for a tool that ignores it
        work: Any = self._runtime.run(planned, context)
        try:
            copy_context().run(work.send, None)  # a function that sets a variable sets its own
        except StopIteration as end:
            return to_output(end.value if context is None else context.join(end.value))
        raise RuntimeError(f"The function of the tool {planned.tool.name} waits, although it has no await.")

    async def _run_in_tasks(self, ready: list[tuple[RunningCall, PlannedCall]]) -> None:
        self._done = self._loop.create_future()
        for running, planned in ready:
            running.task = self._loop.create_task(self._work(running, planned))
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
            if running.result is None:
                running.stop()

    async def _stop(self) -> None:
        """Cancel the running calls and wait until they have ended. One that does not stop in time is abandoned."""
        tasks = {running.task: running for running in self._calls if running.task and not running.task.done()}
        self.cancel()
        if not tasks:
            return
        _, alive = await asyncio.wait(tasks, timeout=GRACE)
        for task in alive:
            _report_abandoned(tasks[task])

    def _plan(self, running: RunningCall) -> PlannedCall | None:
        call = running.call
        if self._runtime.check_written is not None and call.invalid is None and call.parent is None:
            call = self._runtime.check_written(call)
        planned = call if isinstance(call, ToolFault) else self._runtime.plan(call)
        if isinstance(planned, ToolFault):
            self._record(running, self._failure(running, planned))
            return None
        running.tool, running.planned = planned.tool, planned
        return planned

    def _batch_access(self, planned: PlannedCall) -> Sequence[Access]:
        """Return the accesses of a call beside a sequential one: it holds the lock of the batch too."""
        if planned.tool.on_client:
            return ()
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
            if planned.tool.effect != "read" and self._runtime.sees_files(planned.tool):
                await self._runtime.refresh_secrets()  # it may publish what it reads while it runs
            self._start(running, planned)
            assert running.context is not None
            output = to_output(running.context.join(await self._runtime.run(planned, running.context)))
            output = await self._finish_output(planned.tool, output)
            result = self._success(running, planned, output)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            if running.timed_out and task.uncancel() == 0:
                result = self._timeout(running)
            else:
                result = self._cancelled_itself(running)
        except Exception as error:
            result = self._describe_failure(running, planned, error)
        finally:
            if self._slots is not None and running.started and not planned.tool.on_client:
                self._slots.release()
        self._record(running, result)

    async def _finish_output(self, tool: Tool, output: ToolOutput) -> ToolOutput:
        """Look for the secret values that a call may have written, and shrink what does not fit into an event."""
        if self._runtime.sees_files(tool):
            await self._runtime.refresh_secrets()
        if not isinstance(output.content, str) and is_too_large(output.content):
            return await _shrink_output(output)
        return output

    def _cancelled_itself(self, running: RunningCall) -> ToolResult:
        """Return the result of a tool that raised CancelledError. A call that was cancelled is recorded, and the
        cancellation goes on."""
        task = asyncio.current_task()
        if task is not None and task.cancelling() == 0 and not self._stopped:
            return self._failure(running, ToolFault("The tool cancelled itself."))
        self._record(running, self._failure(running, ToolFault(_CANCELLED, status="cancelled")))
        raise asyncio.CancelledError

    def _lock_changed_access(self, running: RunningCall, planned: PlannedCall) -> None:
        """Replace the ticket if the approver changed the arguments."""
        if not planned.changed:
            return
        running.planned = planned
        if running.ticket is not None:
            running.ticket.release()
        running.ticket = self._runtime.locks.ticket(planned.access) if planned.access else None

    def _start(self, running: RunningCall, planned: PlannedCall, *, uses_context: bool = True) -> None:
        if self._stopped:
            raise asyncio.CancelledError
        runtime, tool, call = self._runtime, planned.tool, running.call
        running.started = monotonic()
        if uses_context:
            running.context = ToolContext(
                planned.call,
                runtime.workspace,
                emit=self._publish,
                keep=runtime.session_objects,
                ask=self._ask,
                loop=self._loop,
                host=runtime,
                deps=runtime.deps,
            )
        if call.id not in self._waiting:
            held = running.ticket.held if running.ticket is not None else []
            summary = call_summary(tool, planned.arguments)
            if planned.call.name != call.name:
                summary = f"{planned.call.name} {summary}"
            attempt = self._attempts.get(call.id, 1)
            self._emit(ToolExecuting(call.id, call.name, attempt, held, summary, tool.idempotent))
        elif tool.on_client:
            self._on_client[call.id] = None
            self._report_waiting()
        if tool.never_waits:
            return
        running.timed = True
        runtime.timer.start(running, tool.timeout if tool.timeout is not None else runtime.timeout, self._time_out)

    def _publish(self, payload: Payload) -> None:
        """Publish a payload of a running tool."""
        if type(payload) is FileChanged and payload.diff:
            payload = msgspec.structs.replace(payload, diff=self._runtime.hide_secrets(payload.diff, payload.path))
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
        self._runtime.timer.start(running, GRACE, self._abandon)

    def _abandon(self, running: RunningCall) -> None:
        """Record a timeout for a call that did not stop in time, and let its task run on."""
        if running.result is None:
            _report_abandoned(running)
            self._record(running, self._timeout(running))

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
        if self._runtime.on_result is not None:
            self._runtime.on_result(result)
        message = tool_use_result(running.call, result)
        self._emit_result(_outcome(running, result), result, *([] if message is None else [message]))
        running.context = None  # it refers to the batch, which refers to the call
        self._open -= 1
        if self._on_client:
            self._on_client.pop(result.id, None)
            self._report_waiting()
        if self._open == 0 and self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _success(self, running: RunningCall, planned: PlannedCall, output: ToolOutput) -> ToolResult:
        mask = self._runtime.secret_mask
        content, summary, data = output.content, output.summary, output.data
        if mask.values:
            content, summary, data = mask.hide_content(content), mask.hide(summary), mask.hide_json(data)
        if path := self._runtime.secret_path(planned):
            content = _hide_all_values(content, path)
        is_inner = running.call.parent is not None  # a program reads its result, not the model
        limit = planned.tool.max_output
        if limit is None:
            limit = self._runtime.max_output if is_inner else self._runtime.output_limit(content)
        content, whole = self._runtime.fit_content(content, limit, offer_rest=not is_inner)
        if planned.changed and not is_inner:
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
            summary=summary,
            data=data,
            whole=whole,
        )

    def _with_pieces(self, context: ToolContext, result: ToolResult) -> ToolResult:
        """Return the result of a call that ended early, with the pieces that there are."""
        output = context.join(f"[The result is partial. {result.text}]")
        content: Parts = self._runtime.secret_mask.hide_content(output.content)
        if not isinstance(content, str) and is_too_large(content):
            content = [part for part in content if isinstance(part, Text)]
        content, whole = self._runtime.fit_content(content, self._runtime.output_limit(content))
        if whole is not None:  # the first page lacks the note
            content = _with_note(content, f"[The result is partial. {result.text}]")
        return msgspec.structs.replace(result, content=content, truncated=True, whole=whole)

    def _describe_failure(self, running: RunningCall, planned: PlannedCall, error: Exception) -> ToolResult:
        """Return the result of a call that raised. Every call gets one, also if its error cannot be described."""
        try:
            self._runtime.find_secrets(planned.tool)
            return self._failure(running, error)
        except Exception:
            logging.getLogger("heald").exception("The error of the tool %s cannot be described.", running.call.name)
            return _result(running, "error", "The call failed, and its error cannot be shown.")

    def _failure(self, running: RunningCall, error: Exception) -> ToolResult:
        text = describe_exception(error, self._runtime.workspace.root)
        if running.planned is not None and (path := self._runtime.secret_path(running.planned)):
            text = hide_file_values(text, path)
        text = self._runtime.secret_mask.hide(text)
        text, cut = truncate_content(text, self._runtime.output_limit(text))
        status: ToolStatus = error.status if isinstance(error, ToolFault) else "error"
        if running.started and status in ("invalid_input", "unknown_tool"):
            status = "error"  # those statuses are for calls that never started
        return _result(running, status, text, cut)

    def _timeout(self, running: RunningCall) -> ToolResult:
        after = monotonic() - running.started
        return _result(running, "timeout", f"The call was ended after {after:.0f} s, its time limit.")


def _report_abandoned(running: RunningCall) -> None:
    logging.getLogger("heald").warning("The tool %s did not stop and was abandoned.", running.call.name)


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


def _hide_all_values(content: Parts, path: str) -> Parts:
    """Hide the values in what a call read of a file that holds secrets."""
    if isinstance(content, str):
        return hide_file_values(content, path)
    return [Text(hide_file_values(part.text, path)) if isinstance(part, Text) else part for part in content]


def _with_note(content: Parts, note: str) -> Parts:
    return f"{note}\n{content}" if isinstance(content, str) else [Text(note), *content]
