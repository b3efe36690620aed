"""Tools that run in a model's own loop, represented as tools of Heald.

Each has a stand-in, so that its calls are permitted, published and recorded like all calls. The body of the stand-in
lets the call run in the other loop and waits for it. See `ToolHost` in `heald.providers.base`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from heald.agent.conversation import Conversation
from heald.agent.strategy import NextRequest, QuickStrategy
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition, user_message
from heald.providers.tool_host import OutcomeLost, ToolHost
from heald.tools.context import ToolContext
from heald.tools.definitions import Effect, Tool
from heald.tools.runtime import ToolRuntime
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace.base import Workspace

if TYPE_CHECKING:
    from heald.agent.hosted_call import HostedCall

_DAY = 86_400.0  # the other loop has its own time limits
_EFFECTS: dict[str, Effect] = {
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "LS": "read",
    "TodoWrite": "none",
    "Write": "write",
    "Edit": "write",
    "NotebookEdit": "write",
    "Bash": "run",
    "WebFetch": "network",
    "WebSearch": "network",
}
_CONTINUE = "The process that worked on this has ended. Continue where it stopped."
_SUBJECTS = ("file_path", "notebook_path", "path", "url", "query", "pattern")


class HostedKind(msgspec.Struct, frozen=True):
    """What permissions need to know of a tool in the other loop."""

    effect: Effect = "any"
    rules_of: tuple[str, ...] = ()
    """Tools of Heald that do the same: their rules count for this one as well."""
    subjects: Callable[[JsonObject], Sequence[str]] | None = None
    """What rules match. None: a command line, a path or an address among the arguments."""
    outside_effect: Callable[[JsonObject], str | None] | None = None
    """Returns why a call reaches beyond the workspace, or None if it stays inside. Unset: it may reach anything."""


@runtime_checkable
class WorkspaceHost(Protocol):
    """A `ToolHost` that works on the files of the agent."""

    def use_workspace(self, workspace: Workspace) -> None:
        """Work on these files. Called before each turn."""
        ...

    def describe_tool(self, name: str) -> HostedKind:
        """Describe one of its tools."""
        ...

    def begin_call(self, call_id: str, call: "HostedCall") -> None:
        """Called when a call is permitted, before `perform`."""
        ...


class HostedTools(QuickStrategy):
    """Connects a provider session that has a tool loop of its own with the loop of the agent."""

    def attach(self, conversation: Conversation) -> None:
        super().attach(conversation)
        conversation.runtime.find_hosted = self._find_tool

    def prepare_turn(self, request: NextRequest) -> None:
        host, runtime = self._host, self.conversation.runtime
        runtime.on_result = host.deliver_result if host is not None else None
        if host is None:
            return
        host.judge = partial(_check_permission, host, runtime)
        if isinstance(host, WorkspaceHost):
            host.use_workspace(runtime.workspace)
        if not host.is_running and self.conversation.messages[-1].role == "tool":
            self.conversation.add_user_message(user_message(_CONTINUE))

    async def after_exchange(self, *, completed: bool) -> None:
        host = self._host
        if host is not None:
            await host.end_exchange(cut=not completed)

    @property
    def _host(self) -> ToolHost | None:
        session = self.conversation.session
        if not hasattr(session, "perform") or not isinstance(session, ToolHost):  # `hasattr` is ten times as fast
            return None
        return session

    def _find_tool(self, name: str) -> Tool | None:
        host = self._host
        return hosted_tool(host, name) if host is not None else None


class _HostedTool(Tool, frozen=True, kw_only=True, dict=True):
    """A tool that is offered by the other loop. No request of ours holds its name."""

    rules_of: tuple[str, ...] = ()

    def _check_name(self) -> None:
        return


def hosted_tool(host: ToolHost, name: str) -> Tool:
    kind = HostedKind(_EFFECTS.get(name, "any"))
    if isinstance(host, WorkspaceHost):
        kind = host.describe_tool(name)

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        if isinstance(host, WorkspaceHost) and context.host is not None:
            from heald.agent.hosted_call import HostedCall  # few agents host tools that change files

            host.begin_call(context.call.id, HostedCall(context, context.host))
        try:
            outcome = await host.perform(context.call.id, arguments, partial(context.output, channel="progress"))
        except OutcomeLost as lost:
            raise ToolFault(str(lost), status="interrupted") from None
        return ToolOutput(content=outcome.content, is_error=outcome.is_error)

    return _HostedTool(
        definition=ToolDefinition(name=name, input_schema={"type": "object"}),
        run=run,
        effect=kind.effect,
        subjects=kind.subjects or read_subjects,
        outside_effect=kind.outside_effect,
        timeout=_DAY,
        rules_of=kind.rules_of,
    )


def read_subjects(arguments: JsonObject) -> Sequence[str]:
    """Return what permission rules match: the commands of a command line, a path, an address."""
    command = arguments.get("command")
    if isinstance(command, str):
        from heald.tools.shell.command_line import CommandLine  # most agents host no commands

        return CommandLine.read(command).subjects
    return [value for name in _SUBJECTS if isinstance(value := arguments.get(name), str)]


def _check_permission(host: ToolHost, runtime: ToolRuntime, name: str, arguments: JsonObject) -> str | None:
    decision = runtime.permissions.decide(hosted_tool(host, name), arguments)
    if decision.verdict == "allow":
        return None
    if decision.verdict == "ask":
        return "Nobody can be asked about the calls of a subagent; a rule has to allow them."
    return f"This call is not permitted. {decision.reason}".strip()
