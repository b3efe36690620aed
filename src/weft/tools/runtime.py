"""Runs tool calls: find, validate, permit, lock, run, record. Caches the results of pure tools.

Each call gets exactly one result; an error is a result too. Calls of one message run concurrently. Calls that share a
resource run in call order. Results are returned in call order.
"""

import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from weft.core.envelope import Event
from weft.core.json import JsonObject
from weft.core.messages import ToolCall, ToolResult
from weft.tools.approvals import Approval, PendingApprovals, digest_of
from weft.tools.call_batch import CallBatch, CallHost, PlannedCall
from weft.tools.context import Emit, SessionObjects, ToolContext
from weft.tools.definitions import Tool
from weft.tools.function_tools import Registry, ToolLike
from weft.tools.permissions import Decision, Permissions
from weft.tools.results import ToolFault
from weft.tools.scheduling import DeadlineTimer, Locks
from weft.tools.summaries import describe_call_in_full
from weft.tools.workspace.base import PathFault, Workspace, WorkspaceEntry
from weft.tools.workspace.memory import MemoryWorkspace

Seen = dict[tuple[str, ...], str]
"""Maps each workspace access of a call to a digest of its result."""


class ResultCache:
    """An LRU cache of results, keyed by tool and arguments and validated against the files that were read."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._kept: OrderedDict[str, tuple[Seen, Any]] = OrderedDict()

    def find(self, name: str, arguments: JsonObject, workspace: Workspace) -> tuple[bool, Any]:
        """Return whether a valid result is cached, and the result."""
        key = digest_of(name, arguments, workspace.root)
        cached = self._kept.get(key)
        if cached is None:
            return False, None
        seen, value = cached
        watched = WatchedWorkspace(workspace)
        if any(watched.digest_of_read(what) != digest for what, digest in seen.items()):
            del self._kept[key]
            return False, None
        self._kept.move_to_end(key)
        return True, value

    def store(self, name: str, arguments: JsonObject, workspace: "WatchedWorkspace", value: Any) -> None:
        self._kept[digest_of(name, arguments, workspace.root)] = (workspace.seen, value)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)


class WatchedWorkspace:
    """A workspace that records every read."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.seen: Seen = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    @property
    def root(self) -> str:
        return self._workspace.root

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        self._record_read("read", path)
        return self._workspace.read(path, limit=limit, remember=remember)

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        self._record_read("read", path)
        return self._workspace.read_text(path, limit=limit, remember=remember)

    def exists(self, path: str) -> bool:
        self._record_read("exists", path)
        return self._workspace.exists(path)

    def list(self, path: str = "", *, depth: int | None = 1, hidden: bool = True) -> Iterable[WorkspaceEntry]:
        self._record_read("list", path, str(depth), str(hidden))
        return self._workspace.list(path, depth=depth, hidden=hidden)

    def _record_read(self, *what: str) -> None:
        self.seen[what] = self.digest_of_read(what)

    def digest_of_read(self, what: tuple[str, ...]) -> str:
        """Return a digest of the current result of a recorded read."""
        try:
            match what:
                case ("read", path):
                    return sha256(self._workspace.read(path, remember=False)).hexdigest()
                case ("exists", path):
                    return str(self._workspace.exists(path))
                case (_, path, depth, hidden):
                    deep = None if depth == "None" else int(depth)
                    entries = self._workspace.list(path, depth=deep, hidden=hidden == "True")
                    return sha256(repr(list(entries)).encode()).hexdigest()
                case _:
                    return ""
        except PathFault as fault:
            return fault.kind


MAX_OUTPUT = 60_000
"""Maximum characters of a result that is sent to the model."""
TIMEOUT = 600.0


@dataclass(slots=True)
class Invocation:
    """A call about to run, as passed to middleware. Change arguments with `dataclasses.replace`."""

    tool: Tool
    call: ToolCall
    arguments: JsonObject
    context: ToolContext
    planned: PlannedCall

    def values(self) -> JsonObject:
        """Return the arguments as the function accepts them."""
        if self.arguments is self.planned.arguments:
            return self.planned.values
        return _values(self.tool, self.arguments)


Next = Callable[[Invocation], Awaitable[Any]]
Middleware = Callable[[Invocation, Next], Awaitable[Any]]
"""Wraps every run. It may call the next layer, change its input or its result, or skip it."""


class ToolRuntime:
    """The tools of one session and their shared state: workspace, permissions, locks and approvals."""

    def __init__(
        self,
        tools: Registry | Iterable[ToolLike] = (),
        *,
        workspace: Workspace | None = None,
        permissions: Permissions | None = None,
        middleware: Sequence[Middleware] = (),
        cache: ResultCache | None = None,
        locks: Locks | None = None,
        approvals: PendingApprovals | None = None,
        timeout: float = TIMEOUT,
        max_output: int = MAX_OUTPUT,
        concurrency: int = 16,
    ) -> None:
        self.registry = tools if isinstance(tools, Registry) else Registry(tools)
        self.workspace: Workspace = workspace if workspace is not None else MemoryWorkspace()
        self.permissions = permissions or Permissions()
        self.approvals = approvals or PendingApprovals()
        self.relay: Callable[[Event, bool], object] | None = None
        """Receives the events of subagents. The flag is False for events of deeper levels."""
        self.remaining_budget: Callable[[], Any] | None = None
        """Returns the remaining budget for subagents."""
        self.find_hosted: Callable[[str], Tool] | None = None
        """Finds tools that are not in the registry but are hosted by the model's provider."""
        self.shared_middleware: Sequence[Middleware] = ()
        """Middleware that wraps the calls of subagents, outside their own middleware."""
        self.session_objects = SessionObjects()
        self.locks = locks or Locks()
        self.timer = DeadlineTimer()
        self.timeout = timeout
        self.max_output = max_output
        self.concurrency = concurrency
        self._cache = cache
        self.middleware = middleware
        self._is_plain = not middleware and cache is None
        self._run: Next = _compose(middleware, self._invoke)

    async def execute(self, calls: Sequence[ToolCall], emit: Emit) -> list[ToolResult]:
        """Run the calls of one message. Raises only CancelledError; every call has a result even then."""
        batch = self.batch(calls, emit)
        await batch.run()
        return batch.results

    def batch(
        self,
        calls: Sequence[ToolCall],
        emit: Emit,
        notes: Mapping[str, str] | None = None,
        host: CallHost | None = None,
        attempts: Mapping[str, int] | None = None,
    ) -> CallBatch:
        """Return the calls of one message, ready to run. `notes` maps call ids to text that precedes the result.

        With a host, a single call runs in the host's task. Otherwise each call gets its own task. `attempts` gives the
        attempt number of repeated calls.
        """
        return CallBatch(self, calls, emit, notes, host, attempts)

    async def close(self) -> None:
        await self.session_objects.close()
        self.workspace.close()

    # --- the steps of a call -----------------------------------------------------------------------------------------

    def plan(self, call: ToolCall) -> PlannedCall | ToolFault:
        """Find the tool and validate the arguments. Return the planned call, or the fault."""
        if call.invalid is not None:
            return ToolFault(call.invalid.message, status="invalid_input")
        tool = self.registry.find(call.name)
        if tool is None and self.find_hosted is not None:
            tool = self.find_hosted(call.name)
        if tool is None:
            return self._unknown(call.name)
        arguments, problem = tool.validator.check(call.input)
        if problem is not None:
            return _invalid(problem)
        try:
            values = _values(tool, arguments)
        except ToolFault as fault:
            return fault
        return PlannedCall(call, tool, arguments, values, tool.access(arguments) if tool.access is not None else ())

    def decide(self, planned: PlannedCall) -> Decision:
        """Return the decision of the permission rules and mode on a call."""
        return self.permissions.decide(planned.tool, planned.arguments, self._real)

    def _real(self, path: str) -> str:
        """Return the path with links resolved, for permission rules. The resolver enforces the boundary."""
        if self.workspace.is_project or not self.workspace.root:
            return path
        top = os.path.realpath(self.workspace.root)
        real = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
        return path if real.startswith("..") else real

    def allows(self, planned: PlannedCall) -> bool:
        """Return whether the call may run without approval."""
        return self.decide(planned).verdict == "allow"

    async def permit(self, planned: PlannedCall, emit: Emit) -> PlannedCall:
        """Wait for approval if it is needed and return the approved call. Raises ToolFault if it is denied."""
        decision = self.decide(planned)
        if decision.verdict == "deny":
            raise ToolFault(f"This call is not permitted. {decision.reason}".strip(), status="denied")
        digest = self._digest(planned)
        if decision.verdict == "allow" or digest in self.permissions.always:
            return planned
        approval = await self.approvals.approve(planned.call, digest, describe_call_in_full(planned.arguments), emit)
        if not approval.allowed:
            raise ToolFault(f"The user did not allow this call. {approval.reason}".strip(), status="denied")
        return self._as_approved(planned, approval)

    def _as_approved(self, planned: PlannedCall, approval: Approval) -> PlannedCall:
        """Return the approved call. Changed arguments are validated and checked against deny rules."""
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

    def _digest(self, planned: PlannedCall) -> str:
        return digest_of(planned.tool.name, planned.arguments, self.workspace.root)

    async def run(self, planned: PlannedCall, context: ToolContext) -> Any:
        """Run the tool through the middleware."""
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
        self._cache.store(tool.name, invocation.arguments, watched, value)
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
