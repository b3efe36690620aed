"""Tools that run in a model's own loop, represented as tools of Weft.

Each has a stand-in, so that its calls are permitted, published and recorded like all calls. The body of the stand-in
lets the call run in the other loop and waits for it. See `weft.providers.base`.
"""

from functools import partial

from weft.core.json import JsonObject
from weft.core.messages import ToolDefinition
from weft.providers.base import OutcomeLost, ProviderSession, ToolHost
from weft.tools.context import ToolContext
from weft.tools.definitions import Effect, Tool
from weft.tools.results import ToolFault, ToolOutput
from weft.tools.runtime import ToolRuntime

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
_SUBJECTS = ("file_path", "notebook_path", "path", "url", "query", "pattern")


def attach_tool_host(session: ProviderSession, runtime: ToolRuntime) -> ToolHost | None:
    """Return the session as a host of tools, if it is one, and register its tools with the runtime."""
    if not hasattr(session, "perform") or not isinstance(session, ToolHost):  # `hasattr` is ten times as fast
        runtime.find_hosted = None
        return None
    runtime.find_hosted = partial(hosted_tool, session)
    session.judge = partial(_check_permission, session, runtime)
    return session


def hosted_tool(host: ToolHost, name: str) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        try:
            outcome = await host.perform(context.call.id, arguments, partial(context.output, channel="progress"))
        except OutcomeLost as lost:
            raise ToolFault(str(lost), status="interrupted") from None
        return ToolOutput(content=outcome.content, is_error=outcome.is_error)

    return Tool(
        definition=ToolDefinition(name=name, input_schema={"type": "object"}),
        run=run,
        effect=_EFFECTS.get(name, "any"),
        subjects=_subjects,
        timeout=_DAY,
    )


def _subjects(arguments: JsonObject) -> list[str] | None:
    """Return what permission rules match: the commands of a command line, a path, an address."""
    command = arguments.get("command")
    if isinstance(command, str):
        from weft.tools.shell.commands import split_commands  # most agents host no commands

        parts = split_commands(command)
        return None if parts is None else [*parts, *(_by_name(part) for part in parts)]
    return [value for name in _SUBJECTS if isinstance(value := arguments.get(name), str)]


def _by_name(part: str) -> str:
    """Replace the path of a program by its name."""
    program, space, rest = part.partition(" ")
    return program.rpartition("/")[2] + space + rest


def _check_permission(host: ToolHost, runtime: ToolRuntime, name: str, arguments: JsonObject) -> str | None:
    decision = runtime.permissions.decide(hosted_tool(host, name), arguments)
    if decision.verdict == "allow":
        return None
    if decision.verdict == "ask":
        return "Nobody can be asked about the calls of a subagent; a rule has to allow them."
    return f"This call is not permitted. {decision.reason}".strip()
