"""Hooks in the format of Claude Code's `settings.json`: commands that run before and after calls of tools.

    {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}

A hook gets the call on its standard input in the words of Claude Code. Exit code 2, or a decision that it prints as
JSON, refuses the call, and the model gets the reason. A hook never allows what the permissions do not allow.
"""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject, as_object, as_objects, encode
from heald.core.messages import Text
from heald.tools.claude_names import ClaudeCall, claude_calls
from heald.tools.hook_process import HookExit, changed_script, find_scripts, run_hook_process
from heald.tools.planned_call import PlannedCall
from heald.tools.process_environment import environment_without_keys
from heald.tools.runtime import Invocation, Next
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import HOOK_REFUSED, ToolOutput, add_hook_failures, to_content
from heald.tools.visible_text import escape_hidden

Moment = Literal["PreToolUse", "PostToolUse"]
MOMENTS: tuple[Moment, ...] = ("PreToolUse", "PostToolUse")
"""The events of Claude Code whose hooks are run."""
_SECONDS = 60.0
_MAX_SECONDS = 600.0
_MAX_OUTPUT = 4_000
_BLOCKING_CODE = 2
_PROJECT_VARIABLE = re.compile(r"\"?\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})\"?")


class ClaudeHook(msgspec.Struct, frozen=True):
    """One hook: its moment, the names of tools that it is for, and its command line."""

    moment: Moment
    matcher: str
    command: str
    seconds: float = _SECONDS

    def matching_name(self, call: ClaudeCall) -> str | None:
        """Return the name of a call that the hook is for."""
        if self.matcher in ("", "*"):
            return call.names[0]
        return next((name for name in call.names if self._matches(name)), None)

    def _matches(self, name: str) -> bool:
        try:
            return re.fullmatch(self.matcher, name) is not None
        except re.error:
            return self.matcher == name

    def find_scripts(self, folder: str) -> Mapping[str, str]:
        """Return the files of the project that the command names, with their digests."""
        return find_scripts(_PROJECT_VARIABLE.sub(".", self.command), folder)


def parse_claude_hooks(content: bytes) -> list[ClaudeHook]:
    """Return the command hooks of a `settings.json` that are run. A damaged file and other kinds of hooks have none."""
    try:
        settings: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    table = as_object(settings)
    if table.get("disableAllHooks") is True:
        return []
    hooks = as_object(table.get("hooks"))
    return [
        hook for moment in MOMENTS for group in as_objects(hooks.get(moment)) for hook in _parse_group(moment, group)
    ]


def _parse_group(moment: Moment, group: JsonObject) -> Iterator[ClaudeHook]:
    matcher = group.get("matcher")
    for entry in as_objects(group.get("hooks")):
        command, seconds = entry.get("command"), entry.get("timeout")
        if entry.get("type", "command") != "command" or not isinstance(command, str) or not command.strip():
            continue
        limit = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else _SECONDS
        yield ClaudeHook(moment, matcher.strip() if isinstance(matcher, str) else "", command, min(limit, _MAX_SECONDS))


class ClaudeHooks:
    """The hooks of a folder, as middleware. The scripts that they name must stay as they are now."""

    def __init__(self, hooks: Sequence[ClaudeHook], folder: str) -> None:
        self._hooks = [(hook, hook.find_scripts(folder)) for hook in hooks]

    async def __call__(self, invocation: Invocation, run: Next) -> Any:
        """Run a call between its hooks."""
        return await self.run_around(invocation, run)

    async def check(self, call: "Invocation | PlannedCall", root: str | None) -> None:
        """Run the hooks before a call. Raises ToolFault if one refuses it."""
        for outcome in [outcome async for outcome in self._outcomes("PreToolUse", call, root or "", None)]:
            if outcome.refusal:
                raise ToolFault(f"{HOOK_REFUSED} {outcome.refusal}", status="denied")

    async def run_around(self, invocation: Invocation, run: Next) -> Any:
        """Run a call between its hooks (middleware)."""
        root = invocation.context.workspace.root or ""
        if not invocation.is_checked:
            await self.check(invocation, root)
        value = await run(invocation)
        outcomes = [outcome async for outcome in self._outcomes("PostToolUse", invocation, root, value)]
        failures = [outcome.refusal for outcome in outcomes if outcome.refusal]
        return add_hook_failures(value, failures, [outcome.context for outcome in outcomes if outcome.context])

    async def _outcomes(
        self, moment: Moment, planned: "Invocation | PlannedCall", folder: str, value: Any
    ) -> AsyncIterator["HookOutcome"]:
        calls = claude_calls(planned.tool, planned.arguments, folder)
        for hook, scripts in self._hooks:
            if hook.moment != moment:
                continue
            for call in calls:
                if (name := hook.matching_name(call)) is None:
                    continue
                outcome = await _run_hook(
                    hook, scripts, _describe(moment, name, call, planned.call.id, folder, value), folder
                )
                yield outcome
                if outcome.refusal and moment == "PreToolUse":
                    return


class HookOutcome(msgspec.Struct, frozen=True):
    """What a hook says: why a call is refused, and what the model should know."""

    refusal: str = ""
    context: str = ""


async def _run_hook(hook: ClaudeHook, scripts: Mapping[str, str], message: JsonObject, folder: str) -> HookOutcome:
    if (script := changed_script(scripts)) is not None:
        return HookOutcome(f"The hook `{hook.command}` is not run: {script} was changed since the start.")
    ending = await run_hook_process(
        hook.command,
        encode(message),
        folder=folder,
        environment={**environment_without_keys(), "CLAUDE_PROJECT_DIR": folder},
        seconds=hook.seconds,
        has_errors_apart=True,
    )
    if ending is None:
        return HookOutcome(f"The hook `{hook.command}` was stopped after {hook.seconds:g} s.")
    return read_outcome(hook, ending)


def read_outcome(hook: ClaudeHook, ending: HookExit) -> HookOutcome:
    """Read the exit code of a hook and the decision that it printed. Another exit code than 0 and 2 has no effect."""
    if ending.code == _BLOCKING_CODE:
        return HookOutcome(_clean(ending.errors) or f"The hook `{hook.command}` gave no reason.")
    if ending.code or not ending.output.lstrip().startswith(b"{"):
        return HookOutcome()
    try:
        printed: Any = msgspec.json.decode(ending.output)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return HookOutcome()
    answer = as_object(printed)
    specific = as_object(answer.get("hookSpecificOutput"))
    context = _clean(specific.get("additionalContext"))
    decision = specific.get("permissionDecision") or answer.get("decision")
    reason = _clean(specific.get("permissionDecisionReason")) or _clean(answer.get("reason"))
    if answer.get("continue") is False:
        return HookOutcome(_clean(answer.get("stopReason")) or "The hook ends the work.", context)
    if decision in ("deny", "block"):
        return HookOutcome(reason or f"The hook `{hook.command}` gave no reason.", context)
    if hook.moment == "PreToolUse" and decision == "ask":
        return HookOutcome(f"The hook requests that a person makes this call. {reason}".strip(), context)
    if hook.moment == "PreToolUse" and specific.get("updatedInput") is not None:
        return HookOutcome("The hook changes the arguments, which is not supported; make the call as it says.", context)
    return HookOutcome("", context)


def _clean(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return escape_hidden(text.strip())[:_MAX_OUTPUT] if isinstance(text, str) else ""


def _describe(moment: Moment, name: str, call: ClaudeCall, call_id: str, folder: str, value: Any) -> JsonObject:
    message: JsonObject = {
        "session_id": "",
        "transcript_path": "",
        "cwd": folder,
        "permission_mode": "default",
        "hook_event_name": moment,
        "tool_name": name,
        "tool_input": call.tool_input,
        "tool_use_id": call_id,
    }
    if moment == "PostToolUse":
        content = value.content if isinstance(value, ToolOutput) else to_content(value)
        text = content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))
        message["tool_response"] = {"content": text, "filePath": call.tool_input.get("file_path", ""), "success": True}
    return message
