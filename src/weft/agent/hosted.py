"""Tools that run in a model's own loop, as calls of Weft's.

Each has a stand-in here, so that its calls are permitted, told and recorded as all calls are. The stand-in's body lets
the call run over there and waits. See `weft.providers.hosting`.
"""

from functools import partial

from weft.core.json import JsonObject
from weft.core.tools import ToolDefinition
from weft.providers.base import ProviderSession
from weft.providers.hosting import Lost, ToolHost
from weft.tools.context import ToolContext
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.runtime import ToolRuntime
from weft.tools.shell.commands import split_commands
from weft.tools.tool import Effect, Tool

_DAY = 86_400.0  # the loop over there has time limits of its own
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


def welcome(session: ProviderSession, runtime: ToolRuntime) -> ToolHost | None:
    """The session as a host of tools, if it is one; the runtime knows its tools from now on."""
    if not isinstance(session, ToolHost):
        runtime.elsewhere = None
        return None
    runtime.elsewhere = partial(stand_in, session)
    session.judge = partial(_judge, session, runtime)
    return session


def stand_in(host: ToolHost, name: str) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        try:
            outcome = await host.perform(context.call.id, arguments, partial(context.output, channel="progress"))
        except Lost as lost:
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
    """What a rule looks at: the parts of a command line, a path, an address."""
    command = arguments.get("command")
    if isinstance(command, str):
        parts = split_commands(command)
        return None if parts is None else [*parts, *(_by_name(part) for part in parts)]
    return [value for name in _SUBJECTS if isinstance(value := arguments.get(name), str)]


def _by_name(part: str) -> str:
    """A program that is named by its path, by its name."""
    program, space, rest = part.partition(" ")
    return program.rpartition("/")[2] + space + rest


def _judge(host: ToolHost, runtime: ToolRuntime, name: str, arguments: JsonObject) -> str | None:
    decision = runtime.permissions.decide(stand_in(host, name), arguments)
    if decision.verdict == "allow":
        return None
    if decision.verdict == "ask":
        return "Nobody can be asked about the calls of a subagent; a rule has to allow them."
    return f"This call is not permitted. {decision.reason}".strip()
