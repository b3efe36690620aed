"""Hooks: commands of the user that run before and after calls of tools.

A hook is a tool with an optional pattern, as in a permission rule, a colon and a command line:

    edit_file(*.py): ruff format "$HEALD_PATH"

It runs for each call that could be what its pattern describes, and for each call that cannot be judged.

The command runs in the folder of the workspace, outside of the sandbox, with the call as JSON on its standard input. A
hook before a call runs before a person is asked about it; one that fails refuses the call, and its output is the reason
that the model gets. The model also gets the output of a hook after a call that fails, and the call is shown as failed.
A script of the folder that a hook names must stay as it was at the start: a model that could change it would get out of
the sandbox.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, encode
from heald.core.messages import Text
from heald.tools.hook_process import changed_script, find_scripts, run_hook_process
from heald.tools.permissions import PermissionRule, subjects_of
from heald.tools.planned_call import PlannedCall
from heald.tools.process_environment import environment_without_keys
from heald.tools.runtime import Invocation, Next
from heald.tools.subjects import TextSubject
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import HOOK_REFUSED, ToolOutput, add_hook_failures, to_content
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
        problem = ConfigurationError(f"{text!r} is not a hook; write it as 'edit_file(*.py): ruff check'.")
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

    def is_for(self, call: "Invocation | PlannedCall") -> bool:
        tool, arguments = call.tool, call.arguments
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

    async def __call__(self, invocation: Invocation, run: Next) -> Any:
        """Run a call between its hooks."""
        return await self.run_around(invocation, run)

    async def check(self, call: "Invocation | PlannedCall", root: str | None) -> None:
        """Run the hooks before a call. Raises ToolFault if one refuses it."""
        for hook in self._before:
            if hook.is_for(call) and (problem := await self._run(hook, call, root, "before", None)):
                raise ToolFault(f"{HOOK_REFUSED} {problem}", status="denied")

    async def run_around(self, invocation: Invocation, run: Next) -> Any:
        """Run a call between its hooks (middleware)."""
        root = invocation.context.workspace.root
        if not invocation.is_checked:
            await self.check(invocation, root)
        value = await run(invocation)
        after = [hook for hook in self._after if hook.is_for(invocation)]
        problems = [problem for hook in after if (problem := await self._run(hook, invocation, root, "after", value))]
        return add_hook_failures(value, problems)

    async def _run(
        self, hook: ToolHook, call: "Invocation | PlannedCall", root: str | None, when: str, value: Any
    ) -> str:
        """Run a hook. Returns a sentence with its output if it fails, else nothing."""
        if (script := hook.changed_script) is not None:
            return f"The hook `{hook.command}` is not run: {script} was changed since the start."
        ending = await run_hook_process(
            hook.command,
            encode(_describe_call(call, root, when, value)),
            folder=root,
            environment=_variables(call, when),
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


def _variables(call: "Invocation | PlannedCall", when: str) -> Mapping[str, str]:
    path = call.arguments.get("path")
    named = {"HEALD_PATH": path} if isinstance(path, str) and "\0" not in path else {}
    return {**environment_without_keys(), "HEALD_HOOK": when, "HEALD_TOOL": call.tool.name, **named}


def _describe_call(call: "Invocation | PlannedCall", root: str | None, when: str, value: Any) -> JsonObject:
    message: JsonObject = {"hook": when, "tool": call.tool.name, "arguments": call.arguments, "workspace": root}
    if when == "after":
        content = value.content if isinstance(value, ToolOutput) else to_content(value)
        message["result"] = (
            content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))
        )
    return message
