"""Runs tool calls: find, validate, permit, lock, run, record.

Each call gets exactly one result; an error is a result too. Calls of one message run concurrently. Calls that share a
resource run in call order. Results are returned in call order.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from heald.core.arguments import check_value
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.lazy import lazy_property
from heald.core.messages import Text, ToolCall, ToolDefinition, ToolResult, WholeResult
from heald.tools.approvals import Approval, ApprovalQuestion, PendingApprovals, digest_of
from heald.tools.asked_files import decide_asked_file, find_asked_file
from heald.tools.call_account import CallAccount
from heald.tools.call_batch import CallBatch
from heald.tools.client_calls import PendingClientCalls
from heald.tools.client_tools import CLIENT_TOOL_TIMEOUT, ClientPrecedence, check_names, client_tool
from heald.tools.context import Emit, EmitResult, ToolContext
from heald.tools.definitions import Tool
from heald.tools.model_requests import AskModel
from heald.tools.permissions import Decision, PermissionRule, Permissions, reads_secrets
from heald.tools.planned_call import PlannedCall
from heald.tools.registry import Registry, ToolLike
from heald.tools.result_cache import ResultCache
from heald.tools.result_text import plain_text
from heald.tools.scheduling import DeadlineTimer, Locks
from heald.tools.secret_mask import SecretMask
from heald.tools.secrets import hide_file_values, is_secret_file
from heald.tools.session_objects import SessionObjects
from heald.tools.summaries import describe_call_in_full, describe_change
from heald.tools.text_call_trust import TextCallTrust, is_text_call
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import Parts
from heald.tools.visible_text import escape_line
from heald.tools.watched_workspace import WatchedWorkspace
from heald.tools.whole_results import SHORT, WholeResults, first_page, read_result_tool
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import PathFault
from heald.tools.workspace_secrets import WorkspaceSecrets, environment_mask, secrets_of

MAX_OUTPUT = 60_000
"""Maximum characters of a result that are sent to the model at once."""
TIMEOUT = 600.0
_DEPS_ADVICE = "pass it to run, send, stream, open_session or App."
_MAX_SEARCHED = 4 << 20
_HARMLESS = ("none", "read")
_NO_FILES = ("none", "network")
"""Effects of tools that neither read nor change a file."""


class Invocation(msgspec.Struct):
    """A call about to run, as passed to middleware. Change arguments with `msgspec.structs.replace`."""

    tool: Tool
    call: ToolCall
    arguments: JsonObject
    context: ToolContext[Any]
    planned: PlannedCall

    @property
    def is_checked(self) -> bool:
        """Whether hooks have accepted these arguments, before a person was asked about the call."""
        return self.planned.is_checked and self.arguments is self.planned.arguments

    def values(self) -> JsonObject:
        """Return the arguments as the function accepts them."""
        if self.arguments is self.planned.arguments:
            return self.planned.values
        return _values(self.tool, self.arguments)


Next = Callable[[Invocation], Awaitable[Any]]
Middleware = Callable[[Invocation, Next], Awaitable[Any]]
"""Wraps every run. It may call the next layer, change its input or its result, or skip it."""


@runtime_checkable
class CheckingMiddleware(Protocol):
    """Middleware that can refuse a call before a person is asked about it."""

    def __call__(self, invocation: Invocation, run: Next, /) -> Awaitable[Any]: ...

    async def check(self, call: PlannedCall, root: str | None, /) -> None:
        """Raise ToolFault if the call, in the folder `root`, is refused."""
        ...


HandOver = Callable[[str, str, ToolContext[Any]], Awaitable[str]]
"""Hands a conversation over to the agent of a name, for a reason. Returns the text that this agent reads first."""


class ToolRuntime:
    """The tools of one session and their shared state: workspace, permissions, locks and approvals."""

    has_client_tools = False
    """Whether there are, or were, tools that clients run."""
    relay: Callable[[Event, bool], object] | None = None
    """Receives the events of subagents. The flag is False for events of deeper levels."""
    deps: object = None
    """What the program gave to the running exchange for its tools: `ToolContext.deps`. Subagents share it."""
    account: CallAccount | None = None
    """The account of the running exchange. Subagents share it."""
    find_hosted: Callable[[str], Tool | None] | None = None
    """Finds tools that are not in the registry, such as those that are hosted by the model's provider."""
    on_result: Callable[[ToolResult], object] | None = None
    """Called with each result before it is published."""
    shared_middleware: Sequence[Middleware] = ()
    """Middleware that wraps the calls of subagents, outside their own middleware."""
    ask_model: AskModel | None = None
    """Asks the agent's model, apart from its conversation."""
    hand_over: HandOver | None = None
    """Hands the conversation over to another agent."""
    further_names: Sequence[str] = ()
    """Tools of other agents that the conversation may be handed over to. Rules may name them."""
    on_new_tool: Callable[[], object] | None = None
    """Called when a tool is added while an exchange runs."""
    shows_secrets = False
    """Whether the user lets models see the secrets of this folder."""
    check_written: Callable[[ToolCall], ToolCall | ToolFault] | None = None
    """Returns the call that a model's call stands for, or why it is not run, before it is planned."""
    output_bytes: int | None = None
    """The most bytes of a result that the model gets at once: a share of its context, once that is known."""
    _client_precedence: ClientPrecedence = "distinct"
    _shadowed_client_tools: Sequence[ToolDefinition] = ()  # whose names the agent that speaks uses itself
    _idle_rules: Sequence[PermissionRule] = ()  # rules for tools that may come later
    _run: Next | None = None  # a tool within the middleware, if there is any

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
        client_calls: PendingClientCalls | None = None,
        client_tool_timeout: float = CLIENT_TOOL_TIMEOUT,
        timeout: float = TIMEOUT,
        max_output: int = MAX_OUTPUT,
        concurrency: int = 16,
    ) -> None:
        self.registry = tools if isinstance(tools, Registry) else Registry(tools)
        self.workspace: Workspace = workspace if workspace is not None else MemoryWorkspace()
        self.permissions = permissions or Permissions()
        self.approvals = approvals or PendingApprovals()
        if client_calls is not None:
            self.client_calls = client_calls
        self.client_tool_timeout = client_tool_timeout
        self.text_calls = TextCallTrust()
        self.needs_text_calls: Callable[[], bool] = lambda: False
        """Whether the model is known to write its calls as text."""
        if locks is not None:
            self.locks = locks
        self.timeout = timeout
        self.max_output = max_output
        """The most characters of a result that the model gets at once."""
        self.concurrency = concurrency
        self._wrap(middleware, cache)

    # --- the parts that only some exchanges need ---------------------------------------------------------------------

    @lazy_property
    def client_calls(self) -> PendingClientCalls:
        """Calls that wait for a client."""
        return PendingClientCalls()

    @lazy_property
    def whole_results(self) -> WholeResults:
        return WholeResults()

    @lazy_property
    def session_objects(self) -> SessionObjects:
        return SessionObjects()

    @lazy_property
    def locks(self) -> Locks:
        return Locks()

    @lazy_property
    def timer(self) -> DeadlineTimer:
        return DeadlineTimer()

    @lazy_property
    def _secrets(self) -> WorkspaceSecrets:
        return secrets_of(self.workspace)

    # --- the tools ---------------------------------------------------------------------------------------------------

    def _wrap(self, middleware: Sequence[Middleware], cache: ResultCache | None) -> None:
        self.middleware = middleware
        self._checks = [
            layer.check
            for layer in middleware
            if hasattr(layer, "check") and isinstance(layer, CheckingMiddleware)  # the second check is slow
        ]
        self._cache = cache
        self._run = _compose(middleware, self._invoke) if middleware or cache is not None else None
        self.is_plain = self._run is None
        """Whether nothing is run around a tool."""

    def change_agent(
        self, registry: Registry, permissions: Permissions, middleware: Sequence[Middleware], cache: ResultCache | None
    ) -> None:
        """Continue with the tools, permissions and middleware of another agent. The tools that clients run stay, unless
        the agent has its own of the same name. Called while no call runs."""
        definitions = [*self.client_tools, *self._shadowed_client_tools]
        self.registry, self.permissions = registry, permissions
        self._wrap(middleware, cache)
        names = registry.agent_names if self._client_precedence == "distinct" else ()
        usable = [definition for definition in definitions if definition.name not in names]
        self.set_client_tools(usable, self._client_precedence)
        self._shadowed_client_tools = [definition for definition in definitions if definition.name in names]
        if self.whole_results:
            self.offer_read_result()

    @property
    def deps_types(self) -> tuple[Any, ...]:
        """The types that the tools need `ToolContext.deps` to have."""
        return tuple(dict.fromkeys(kind for tool in self.registry for kind in tool.deps_types))

    def check_deps(self, deps: object) -> None:
        """Raise ConfigurationError if a tool needs `deps` of another type."""
        for tool in self.registry:
            for kind in tool.deps_types:
                check_value(f"The tool {tool.name!r}", "deps", deps, kind, _DEPS_ADVICE)

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
        attempts: Mapping[str, int] | None = None,
        waiting: Collection[str] = (),
        emit_result: EmitResult | None = None,
    ) -> CallBatch:
        """Return the calls of one message, ready to run. `notes` maps call ids to text that precedes the result.

        Each call gets its own task. `attempts` gives the attempt number of repeated calls. `waiting` names calls of an
        earlier process that have started and still wait: for a client, or for the answer to a question. `emit_result`
        publishes the end of a call in one moment.
        """
        return CallBatch(self, calls, emit, notes, attempts, waiting, emit_result)

    @property
    def client_tools(self) -> list[ToolDefinition]:
        """The tools that clients run."""
        return [tool.definition for tool in self.registry if tool.on_client]

    def set_client_tools(
        self, definitions: Sequence[ToolDefinition], precedence: ClientPrecedence = "distinct"
    ) -> None:
        """Replace the tools that clients run. Raises ConfigurationError for a name of the agent's, where it may not."""
        if precedence == "distinct":
            check_names(definitions, self.registry.agent_names)
        made = [client_tool(definition, self.client_tool_timeout) for definition in definitions]
        self.registry.set_client_tools(made, only=precedence == "only")
        self.has_client_tools = self.has_client_tools or bool(made)
        self._client_precedence, self._shadowed_client_tools = precedence, ()
        if made and self._idle_rules:
            try:
                self.check_rules(may_grow=True)
            except ConfigurationError as error:  # the operator wrote the rule, not the client that brings the tool
                logging.getLogger("heald").warning("%s", error)

    def check_rules(self, *, may_grow: bool) -> None:
        """Raise ConfigurationError for a permission rule that no tool can match. With `may_grow` more tools come."""
        from heald.tools.rule_names import find_idle_rules

        names = [*(tool.name for tool in self.registry), *self.further_names]
        self._idle_rules = find_idle_rules(self.permissions.rules, names, may_grow=may_grow)

    def refresh_tools(self) -> None:
        """Read the tools of sources that changed, and check the rules that matched none so far."""
        if self.registry.refresh() and self._idle_rules:
            self.check_rules(may_grow=True)

    def expect_client_calls(self, calls: Sequence[ToolCall]) -> None:
        """Accept the results of the clients' calls among these, which are about to be published."""
        for call in calls:
            tool = self.registry.find(call.name)
            if tool is not None and tool.on_client:
                self.client_calls.expect(call.id)

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
        if tool.stands_for is not None:
            return self._plan_other(call, tool.stands_for, arguments)
        if tool.effect not in _HARMLESS and (mark := self._secrets.find_mark(arguments, self.workspace)):
            return _invalid(
                f"they hold {mark}, which stands for a secret value that you do not see; leave out the lines with it, "
                "and change other lines only"
            )
        try:
            values = arguments if tool.convert is None else tool.convert(arguments)
        except ToolFault as fault:
            return fault
        except ValueError as error:
            return _invalid(str(error))
        return PlannedCall(call, tool, arguments, values, tool.access(arguments) if tool.access is not None else ())

    def _plan_other(
        self, call: ToolCall, stands_for: Callable[[JsonObject], ToolCall], arguments: JsonObject
    ) -> PlannedCall | ToolFault:
        """Plan the call that another one stands for. It keeps the id of that one."""
        try:
            other = replace(stands_for(arguments), id=call.id, form=call.form)
        except ToolFault as fault:
            return fault
        tool = self.registry.find(other.name)
        if tool is None:
            return self._unknown(other.name)
        if tool.on_client or tool.stands_for is not None:
            return ToolFault(f"Call {tool.name!r} itself, so nothing was run.", status="invalid_input")
        return self.plan(other)

    def decide(self, planned: PlannedCall) -> Decision:
        """Return the decision of the permission rules and mode on a call."""
        decision = self.permissions.decide(planned.tool, planned.arguments, self._real)
        if decision.verdict == "allow" and planned.tool.effect == "write" and not self.workspace.is_project:
            asked = find_asked_file(planned, self.permissions.rules, self._real)
            if asked is not None:
                decision = decide_asked_file(asked, attended=self._is_attended)
        if not self._is_doubtful(planned):
            return decision
        return self.text_calls.judge(decision, attended=self._is_attended and self.approvals.can_be_answered())

    @property
    def _is_attended(self) -> bool:
        """Whether a call may be asked for, whatever the mode is."""
        return self.permissions.mode != "auto" or self.approvals.attended

    def _is_doubtful(self, planned: PlannedCall) -> bool:
        """Whether a call that does more than read was written as text by a model that need not do so."""
        return is_text_call(planned.call) and planned.tool.effect not in _HARMLESS and not self.needs_text_calls()

    def fits(self, name: str, arguments: JsonObject) -> bool:
        """Return whether there is a tool of this name that accepts these arguments, and not one that calls another."""
        tool = self.registry.find(name)
        if tool is None and self.find_hosted is not None:
            tool = self.find_hosted(name)
        if tool is None or tool.stands_for is not None:
            return False
        checked, problem = tool.validator.check(arguments)
        try:
            _values(tool, checked)
        except ToolFault:
            return False
        return problem is None

    def hides_secrets(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return whether a call reads a file whose values are hidden."""
        return not self.shows_secrets and reads_secrets(tool, arguments, self._real)

    @property
    def secret_mask(self) -> SecretMask:
        """Hides the secret values that are known by now in everything that a model, the log and clients get."""
        return environment_mask() if self.shows_secrets else self._secrets.mask

    def sees_files(self, tool: Tool | None = None) -> bool:
        """Return whether there may be files with secret values, and the tool may read or change them."""
        if tool is not None and tool.effect in _NO_FILES:
            return False
        return not (isinstance(self.workspace, MemoryWorkspace) and self.workspace.is_empty)

    async def refresh_secrets(self, tool: Tool | None = None) -> None:
        """Look for new secret values in the workspace, unless the tool can neither read nor change a file."""
        if self.sees_files(tool):
            await self._secrets.refresh(self.workspace)

    def find_secrets(self, tool: Tool | None = None) -> None:
        """Do what `refresh_secrets` does, at once. Blocks."""
        if tool is None or tool.effect not in _NO_FILES:
            self._secrets.find(self.workspace)

    def hide_secrets(self, text: str, path: str = "") -> str:
        """Hide secret values in a text; all values, if it is of a file that holds secrets."""
        text = self.secret_mask.hide(text)
        return hide_file_values(text, path) if is_secret_file(path) and not self.shows_secrets else text

    def holds_secrets(self, path: str) -> bool:
        """Return whether a file holds values that are hidden: all of one whose name says so, known ones in others."""
        if self.shows_secrets:
            return False
        if is_secret_file(path) or is_secret_file(self._real(path)):
            return True
        mask = self.secret_mask
        if not mask or not self.workspace.exists(path):
            return False
        try:
            text = self.workspace.read_text(path, limit=_MAX_SEARCHED, remember=False)
        except PathFault:
            return False
        return mask.hide(text) != text

    def secret_path(self, planned: PlannedCall) -> str:
        """Return the path of a file that holds secrets and that a call reads or writes; empty if there is none."""
        if self.shows_secrets or planned.tool.effect not in ("read", "write"):
            return ""
        from heald.tools.files.access import named_paths

        paths = [access.resource.removeprefix("file:") for access in planned.access]
        paths += named_paths(planned.arguments)
        return next((path for path in paths if is_secret_file(path) or is_secret_file(self._real(path))), "")

    def _hide_in_diff(self, diff: str, planned: PlannedCall) -> str:
        """Hide secret values in the diff that a person decides on; what the call adds stays, unless it is one."""
        path = self.secret_path(planned)
        lines = self.secret_mask.hide(diff).split("\n")
        return "\n".join(line if line.startswith("+") or not path else hide_file_values(line, path) for line in lines)

    def may_show(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return whether the model may be shown what a call reads without having asked for it."""
        decision = self.permissions.decide(tool, arguments, self._real)
        return decision.verdict == "allow" and not self.hides_secrets(tool, arguments)

    def _real(self, path: str) -> str:
        """Return the path with links resolved, for permission rules. The resolver enforces the boundary."""
        if self.workspace.is_project or not self.workspace.root:
            return path
        top = os.path.realpath(self.workspace.root)
        try:
            real = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
        except ValueError:  # no file can have this name, such as one with a zero byte; the tool refuses it
            return path
        return path if real.startswith("..") else real

    async def permit(self, planned: PlannedCall, emit: Emit) -> PlannedCall:
        """Wait for approval if it is needed and return the approved call. Raises ToolFault if it is denied."""
        if not self._is_doubtful(planned) or self.text_calls.approved:
            return await self._ask_permission(planned, emit)
        async with self.text_calls.asking:
            return await self._ask_permission(planned, emit)

    async def _ask_permission(self, planned: PlannedCall, emit: Emit) -> PlannedCall:
        decision = self.decide(planned)
        if decision.verdict == "deny":
            raise ToolFault(f"This call is not permitted. {decision.reason}".strip(), status="denied")
        digest = self.digest(planned)
        if decision.verdict == "allow" or digest in self.permissions.always:
            return planned
        if (unanswerable := self.approvals.find_unanswerable(planned.tool.name)) is not None:
            raise ToolFault(str(unanswerable), status="denied")
        for check in self._checks:
            await check(planned, self.workspace.root)
        planned.is_checked = True
        await self.refresh_secrets(planned.tool)
        mask = self.secret_mask
        diff = await asyncio.to_thread(describe_change, planned.tool, planned.arguments, self.workspace, mask)
        diff = self._hide_in_diff(diff, planned)
        summary = describe_call_in_full(planned.arguments)
        if decision.reason:
            summary = f"{summary}\n({escape_line(decision.reason)})"
        question = ApprovalQuestion(planned.arguments, digest, summary, diff, decision.reason)
        approval = await self.approvals.approve(planned.call, question, emit)
        if not approval.allowed:
            raise ToolFault(f"The user did not allow this call. {approval.reason}".strip(), status="denied")
        return self._as_approved(planned, approval)

    def _as_approved(self, planned: PlannedCall, approval: Approval) -> PlannedCall:
        """Return the approved call. Changed arguments are validated and checked against deny rules."""
        self.text_calls.approved = self.text_calls.approved or self._is_doubtful(planned)
        if approval.arguments is not None:
            changed = self.plan(ToolCall(id=planned.call.id, name=planned.tool.name, input=approval.arguments))
            if isinstance(changed, ToolFault):
                raise changed
            decision = self.decide(changed)
            if decision.verdict == "deny":
                raise ToolFault(f"The changed call is not permitted. {decision.reason}", status="denied")
            planned = replace(changed, call=planned.call, changed=True)
        if approval.always:
            self.permissions.always.add(self.digest(planned))
        return planned

    def digest(self, planned: PlannedCall) -> str:
        """Return the digest that an approval of the call is bound to."""
        tool = planned.tool
        name = f"{tool.name} {tool.identity}" if tool.identity else tool.name
        return digest_of(name, planned.arguments, self.workspace.root)

    def run(self, planned: PlannedCall, context: ToolContext) -> Awaitable[Any]:
        """Run the tool through the middleware."""
        if self._run is None:
            return planned.tool.run(planned.values, context)
        return self._run(Invocation(planned.tool, planned.call, planned.arguments, context, planned))

    async def _invoke(self, invocation: Invocation) -> Any:
        tool, context = invocation.tool, invocation.context
        if self._cache is None or not tool.pure:
            return await tool.run(invocation.values(), context)
        is_cached, value = await self._cache.find(tool.name, invocation.arguments, self.workspace)
        if is_cached:
            context.cached = True
            return value
        context.workspace = watched = WatchedWorkspace(self.workspace)  # pyright: ignore[reportAttributeAccessIssue]
        try:
            value = context.join(await tool.run(invocation.values(), context))
            self._cache.store(tool.name, invocation.arguments, watched, value)
        finally:
            self._cache.finish(tool.name, invocation.arguments, self.workspace)
        return value

    def output_limit(self, content: Parts) -> int:
        """Return the characters of a result that the model gets at once."""
        if self.output_bytes is None:
            return self.max_output
        texts = [content] if isinstance(content, str) else [part.text for part in content if isinstance(part, Text)]
        characters = sum(map(len, texts))
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if size <= self.output_bytes:
            return self.max_output
        return min(self.max_output, self.output_bytes * characters // size)

    def fit_content(self, content: Parts, limit: int, *, offer_rest: bool = True) -> tuple[Parts, WholeResult | None]:
        """Return the content if the model may get it at once, else its first page and the handle of the whole. With
        `offer_rest` the model is offered the tool that reads on in it."""
        if isinstance(content, str) and len(content) <= min(limit, SHORT):
            return plain_text(content), None
        content, whole = first_page(content, limit, self.whole_results)
        if whole is not None and offer_rest:
            self.offer_read_result()
        return content, whole

    def offer_read_result(self) -> None:
        """Offer the tool that reads large results page by page, from the first such result on."""
        tool = read_result_tool()
        if tool.name not in self.registry.agent_names:
            self.registry.add(tool, stands=True)
            if self.on_new_tool is not None:
                self.on_new_tool()

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
