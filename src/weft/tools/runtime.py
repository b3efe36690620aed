"""Runs calls: find, validate, permit, lock, run, record.

Whatever happens on the way, each call gets exactly one result: what went wrong is a result too. Calls of one message
run side by side, those that share a resource in call order; results come back in call order.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.core.envelope import Event
from weft.core.json import JsonObject
from weft.core.tools import ToolCall, ToolResult
from weft.tools.alarm import Alarm
from weft.tools.approvals import Approval, Approvals, digest_of
from weft.tools.batch import Batch, Host, Planned
from weft.tools.cache import ResultCache, WatchedWorkspace
from weft.tools.context import Emit, ToolContext
from weft.tools.keep import Keep
from weft.tools.locks import Locks
from weft.tools.outcome import ToolFault
from weft.tools.permissions import Decision, Permissions
from weft.tools.registry import Registry, ToolLike
from weft.tools.summaries import call_in_full
from weft.tools.tool import Tool
from weft.tools.workspace.base import Workspace
from weft.tools.workspace.memory import MemoryWorkspace

MAX_OUTPUT = 60_000
"""Characters of a result that the model is given."""
TIMEOUT = 600.0


@dataclass(slots=True)
class Invocation:
    """A call about to run, as middleware sees it. Other arguments go in with `dataclasses.replace`."""

    tool: Tool
    call: ToolCall
    arguments: JsonObject
    context: ToolContext
    planned: Planned

    def values(self) -> JsonObject:
        """The arguments as the body takes them."""
        if self.arguments is self.planned.arguments:
            return self.planned.values
        return _values(self.tool, self.arguments)


Next = Callable[[Invocation], Awaitable[Any]]
Middleware = Callable[[Invocation, Next], Awaitable[Any]]
"""Stands around every run: calls the next one, or does not; changes what goes in or comes out."""


class ToolRuntime:
    """The tools of one session, with what they share."""

    def __init__(
        self,
        tools: Registry | Iterable[ToolLike] = (),
        *,
        workspace: Workspace | None = None,
        permissions: Permissions | None = None,
        middleware: Sequence[Middleware] = (),
        cache: ResultCache | None = None,
        locks: Locks | None = None,
        approvals: Approvals | None = None,
        timeout: float = TIMEOUT,
        max_output: int = MAX_OUTPUT,
        concurrency: int = 16,
    ) -> None:
        self.registry = tools if isinstance(tools, Registry) else Registry(tools)
        self.workspace: Workspace = workspace if workspace is not None else MemoryWorkspace()
        self.permissions = permissions or Permissions()
        self.approvals = approvals or Approvals()
        self.relay: Callable[[Event, bool], object] | None = None
        """Where events of agents go that work for this one, or (False) for one of those."""
        self.left: Callable[[], Any] | None = None
        """What of its budget is left, for agents that work for this one."""
        self.elsewhere: Callable[[str], Tool] | None = None
        """Finds tools that are not in the registry, where a model brings tools of its own."""
        self.shared: Sequence[Middleware] = ()
        """What stands around the calls of agents that work for this one, before their own middleware."""
        self.keep = Keep()
        self.locks = locks or Locks()
        self.alarm = Alarm()
        self.timeout = timeout
        self.max_output = max_output
        self.concurrency = concurrency
        self._cache = cache
        self.middleware = middleware
        self._is_plain = not middleware and cache is None
        self._run: Next = _compose(middleware, self._invoke)

    async def execute(self, calls: Sequence[ToolCall], emit: Emit) -> list[ToolResult]:
        """Run the calls of one message. Raises nothing but cancellation; the results are whole even then."""
        batch = self.batch(calls, emit)
        await batch.run()
        return batch.results

    def batch(
        self,
        calls: Sequence[ToolCall],
        emit: Emit,
        notes: Mapping[str, str] | None = None,
        host: Host | None = None,
        attempts: Mapping[str, int] | None = None,
    ) -> Batch:
        """The calls of one message, ready to run. Notes are put in front of the results of the calls they are for.

        With a host, a call that is alone runs in the host's task; all others get tasks of their own. `attempts` counts
        calls that are run again.
        """
        return Batch(self, calls, emit, notes, host, attempts)

    async def close(self) -> None:
        await self.keep.close()
        self.workspace.close()

    # --- the steps of a call, as a batch takes them ------------------------------------------------------------------

    def plan(self, call: ToolCall) -> Planned | ToolFault:
        """Find and validate: the call as it may run, or why it may not."""
        if call.invalid is not None:
            return ToolFault(call.invalid.message, status="invalid_input")
        tool = self.registry.find(call.name)
        if tool is None and self.elsewhere is not None:
            tool = self.elsewhere(call.name)
        if tool is None:
            return self._unknown(call.name)
        arguments, problem = tool.validator.check(call.input)
        if problem is not None:
            return _invalid(problem)
        try:
            values = _values(tool, arguments)
        except ToolFault as fault:
            return fault
        return Planned(call, tool, arguments, values, tool.access(arguments) if tool.access is not None else ())

    def decide(self, planned: Planned) -> Decision:
        """What rules and mode say to a call."""
        return self.permissions.decide(planned.tool, planned.arguments, self._real)

    def _real(self, path: str) -> str:
        """The path without links on its way. Rules go by it; the resolver is what holds."""
        if self.workspace.is_project or not self.workspace.root:
            return path
        top = os.path.realpath(self.workspace.root)
        real = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
        return path if real.startswith("..") else real

    def allows(self, planned: Planned) -> bool:
        """Nobody need be asked."""
        return self.decide(planned).verdict == "allow"

    async def permit(self, planned: Planned, emit: Emit) -> Planned:
        """The call as it was allowed, by whoever has to be asked; raises ToolFault if it was not."""
        decision = self.decide(planned)
        if decision.verdict == "deny":
            raise ToolFault(f"This call is not permitted. {decision.reason}".strip(), status="denied")
        digest = self._digest(planned)
        if decision.verdict == "allow" or digest in self.permissions.always:
            return planned
        approval = await self.approvals.approve(planned.call, digest, call_in_full(planned.arguments), emit)
        if not approval.allowed:
            raise ToolFault(f"The user did not allow this call. {approval.reason}".strip(), status="denied")
        return self._as_approved(planned, approval)

    def _as_approved(self, planned: Planned, approval: Approval) -> Planned:
        """Arguments that the approver changed are checked like the model's, against rules that forbid as well."""
        if approval.arguments is not None:
            changed = self.plan(ToolCall(id=planned.call.id, name=planned.tool.name, input=approval.arguments))
            if isinstance(changed, ToolFault):
                raise changed
            decision = self.decide(changed)
            if decision.verdict == "deny":
                raise ToolFault(f"The changed call is not permitted. {decision.reason}", status="denied")
            planned = replace(changed, call=planned.call, changed=True)
        if approval.always:
            self.permissions.always.add(self._digest(planned))
        return planned

    def _digest(self, planned: Planned) -> str:
        return digest_of(planned.tool.name, planned.arguments, self.workspace.root)

    async def run(self, planned: Planned, context: ToolContext) -> Any:
        """Run the body, through middleware."""
        if self._is_plain:
            return await planned.tool.run(planned.values, context)
        return await self._run(Invocation(planned.tool, planned.call, planned.arguments, context, planned))

    async def _invoke(self, invocation: Invocation) -> Any:
        tool, context = invocation.tool, invocation.context
        if self._cache is None or not tool.pure:
            return await tool.run(invocation.values(), context)
        known, value = self._cache.find(tool.name, invocation.arguments, self.workspace)
        if known:
            return value
        context.workspace = watched = WatchedWorkspace(self.workspace)  # pyright: ignore[reportAttributeAccessIssue]
        value = await tool.run(invocation.values(), context)
        self._cache.keep(tool.name, invocation.arguments, watched, value)
        return value

    def _unknown(self, name: str) -> ToolFault:
        near = self.registry.nearest(name)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(t.name for t in self.registry) or 'none'}."
        return ToolFault(f"UNKNOWN_TOOL: there is no tool named {name[:100]!r}; {hint}", status="unknown_tool")


def _values(tool: Tool, arguments: JsonObject) -> JsonObject:
    if tool.convert is None:
        return arguments
    try:
        return tool.convert(arguments)
    except ValueError as error:
        raise _invalid(str(error)) from None


def _invalid(problem: str) -> ToolFault:
    return ToolFault(f"The arguments do not fit, so nothing was run: {problem}.", status="invalid_input")


def _compose(middleware: Sequence[Middleware], innermost: Next) -> Next:
    run = innermost
    for layer in reversed(middleware):
        run = _around(layer, run)
    return run


def _around(layer: Middleware, inner: Next) -> Next:
    return lambda invocation: layer(invocation, inner)
