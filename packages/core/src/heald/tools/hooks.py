"""Hooks: commands of the user that run before and after calls of tools.

A hook is a tool with an optional pattern, as in a permission rule, a colon and a command line:

    edit_file(*.py): ruff format "$HEALD_PATH"

It runs for each call that could be what its pattern describes, and for each call that cannot be judged.

The command runs in the folder of the workspace, outside of the sandbox, with the call as JSON on its standard input. A
hook before a call that fails refuses the call; its output is the reason that the model gets. The model also gets the
output of a hook after a call that fails. A script of the folder that a hook names must stay as it was at the start: a
model that could change it would get out of the sandbox.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, encode
from heald.core.messages import Text
from heald.tools.hook_process import changed_script, find_scripts, run_hook_process
from heald.tools.permissions import PermissionRule, subjects_of
from heald.tools.process_environment import environment_without_keys
from heald.tools.runtime import Invocation, Next
from heald.tools.subjects import TextSubject
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput, join_output, to_content
from heald.tools.visible_text import escape_hidden

SECONDS = 60.0
_MAX_OUTPUT = 4_000


class ToolHook(msgspec.Struct, frozen=True):
    """One hook: the calls that it is for, and its command line."""

    rule: PermissionRule
    command: str
    scripts: Mapping[str, str]
    """The files of the folder that the command names, with their digests."""

    @classmethod
    def parse(cls, text: str, folder: str | None = None) -> "ToolHook":
        pattern, colon, command = text.partition(": ")
        problem = ConfigurationError(f"{text!r} is no hook; write it as 'edit_file(*.py): ruff check'.")
        if not colon or not command.strip():
            raise problem
        try:
            rule = PermissionRule.parse(f"allow {pattern}")
        except ConfigurationError:
            raise problem from None
        return cls(rule, command.strip(), find_scripts(command, folder) if folder else {})

    @property
    def changed_script(self) -> str | None:
        """A script of the command that was changed since the start."""
        return changed_script(self.scripts)

    def is_for(self, invocation: Invocation) -> bool:
        tool, arguments = invocation.tool, invocation.arguments
        if not self.rule.is_for(tool.name):
            return False
        if self.rule.about is None or self.rule.argument is not None:
            return self.rule.may_match(TextSubject(""), arguments)
        subjects = subjects_of(tool, arguments)
        return bool(subjects.unreadable) or any(self.rule.may_match(item, arguments) for item in subjects.items)


class ToolHooks:
    """The hooks of an agent, as middleware. Raises ConfigurationError for one that cannot be read."""

    def __init__(
        self,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        *,
        folder: str | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._before = [ToolHook.parse(text, folder) for text in before]
        self._after = [ToolHook.parse(text, folder) for text in after]
        self._seconds = seconds

    def __bool__(self) -> bool:
        return bool(self._before or self._after)

    async def run_around(self, invocation: Invocation, run: Next) -> Any:
        """Run a call between its hooks (middleware)."""
        for hook in self._before:
            if hook.is_for(invocation) and (problem := await self._run(hook, invocation, "before", None)):
                raise ToolFault(f"A hook refused this call. {problem}", status="denied")
        value = await run(invocation)
        after = [hook for hook in self._after if hook.is_for(invocation)]
        problems = [problem for hook in after if (problem := await self._run(hook, invocation, "after", value))]
        return join_output([Text("\n".join(problems))], value) if problems else value

    async def _run(self, hook: ToolHook, invocation: Invocation, when: str, value: Any) -> str:
        """Run a hook. Returns a sentence with its output if it fails, else nothing."""
        if (script := hook.changed_script) is not None:
            return f"The hook `{hook.command}` is not run: {script} was changed since the start."
        root = invocation.context.workspace.root
        ending = await run_hook_process(
            hook.command,
            encode(_describe_call(invocation, when, value)),
            folder=root,
            environment=_variables(invocation, when),
            seconds=self._seconds,
        )
        if ending is None:
            return f"The hook `{hook.command}` was stopped after {self._seconds:g} s."
        if not ending.code:
            return ""
        text = escape_hidden(ending.output.decode("utf-8", "replace").strip())
        left = len(text) - _MAX_OUTPUT
        excerpt = text if left <= 0 else f"{text[:_MAX_OUTPUT]}\n… {left:,} more characters"
        return f"The hook `{hook.command}` failed with exit code {ending.code}:\n{excerpt}".rstrip(":\n")


def _variables(invocation: Invocation, when: str) -> Mapping[str, str]:
    path = invocation.arguments.get("path")
    named = {"HEALD_PATH": path} if isinstance(path, str) and "\0" not in path else {}
    return {**environment_without_keys(), "HEALD_HOOK": when, "HEALD_TOOL": invocation.tool.name, **named}


def _describe_call(invocation: Invocation, when: str, value: Any) -> JsonObject:
    call: JsonObject = {
        "hook": when,
        "tool": invocation.tool.name,
        "arguments": invocation.arguments,
        "workspace": invocation.context.workspace.root,
    }
    if when == "after":
        content = value.content if isinstance(value, ToolOutput) else to_content(value)
        call["result"] = (
            content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))
        )
    return call
