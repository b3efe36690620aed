"""The calls of a session that wait for a client."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable

from heald.core.errors import ConfigurationError
from heald.core.events import ClientToolRequested
from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.tools.approvals import NotPending
from heald.tools.client_results import parse_client_result
from heald.tools.context import Emit
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

_FINISHED = 1_000  # calls whose end is remembered, to explain why a result comes too late


class PendingClientCalls:
    """The calls of a session that wait for a client.

    A result is accepted from the moment that the call is published, which is before the call starts: a reactor may
    answer at `tool_call`.
    """

    def __init__(self) -> None:
        self._calls: dict[str, tuple[ClientToolRequested, asyncio.Future[ToolOutput | ToolFault]]] = {}
        self._expected: dict[str, ToolOutput | ToolFault | None] = {}  # published, not requested; with an early result
        self._finished: OrderedDict[str, str] = OrderedDict()  # the reason why a further result is refused

    @property
    def open_calls(self) -> list[ClientToolRequested]:
        """The calls that wait for a result."""
        return [request for request, future in self._calls.values() if not future.done()]

    def is_open(self, call: str) -> bool:
        """Return whether the call waits for its result."""
        return call in self._calls and not self._calls[call][1].done()

    def expect(self, call: str) -> None:
        """Accept the result of a call that is about to be published."""
        self._expected[call] = None

    def forget(self, calls: Iterable[ToolCall]) -> None:
        """Accept no result of these calls any more."""
        for call in calls:
            if call.id in self._expected:
                del self._expected[call.id]
                self._finish(call.id, "it was not run")

    def restore(self, request: ClientToolRequested) -> None:
        """Let a call wait on that an earlier process has requested of a client."""
        self._calls[request.id] = (request, asyncio.get_running_loop().create_future())

    async def request(self, call: ToolCall, arguments: JsonObject, seconds: float, emit: Emit) -> ToolOutput:
        """Publish a call for a client and wait for its result. Raises ToolFault if it is denied or none arrives."""
        is_restored = call.id in self._calls
        if not is_restored:
            self.restore(ClientToolRequested(call.id, call.name, arguments, seconds))
        request, future = self._calls[call.id]
        early = self._expected.pop(call.id, None)
        if early is not None and not future.done():
            future.set_result(early)
        reason = "its exchange was cancelled"
        try:
            if not is_restored:
                emit(request)
            await asyncio.wait([future], timeout=seconds)
            if not future.done():
                reason = f"its time limit of {seconds:g} s is over"
                raise ToolFault(f"No client sent the result of this call within {seconds:g} s.", status="timeout")
            reason = "it has a result already"
            outcome = future.result()
            if isinstance(outcome, ToolFault):
                raise outcome
            return outcome
        finally:
            del self._calls[call.id]
            self._finish(call.id, reason)

    def resolve(self, call_id: str, content: object, is_error: bool = False) -> None:
        """Give a waiting call its result. Raises NotPending for a call that does not wait, ConfigurationError or
        ResultTooLarge for a result that cannot be used; the call waits on then."""
        self._check(call_id)
        outcome = parse_client_result(content, is_error)
        if call_id in self._expected:
            self._expected[call_id] = outcome
        else:
            self._calls[call_id][1].set_result(outcome)

    def _check(self, call_id: object) -> None:
        if not isinstance(call_id, str):
            raise ConfigurationError("The id of a call is a text.")
        if self.is_open(call_id) or (call_id in self._expected and self._expected[call_id] is None):
            return
        is_answered = call_id in self._calls or call_id in self._expected
        reason = "it has a result already" if is_answered else self._finished.get(call_id, "no such call is known")
        raise NotPending(f"The call {call_id[:100]!r} does not wait for a result: {reason}.")

    def _finish(self, call: str, reason: str) -> None:
        self._finished[call] = reason
        if len(self._finished) > _FINISHED:
            self._finished.popitem(last=False)
