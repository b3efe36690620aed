"""Checks files after an edit (middleware): formats them as their folder is configured, and reports new errors."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import Text
from heald.tools.context import ToolContext
from heald.tools.diagnostics.diagnostic import Diagnostic, new_errors
from heald.tools.diagnostics.formatter import find_formatter, format_text
from heald.tools.diagnostics.language_server import LanguageServer, find_server_kind
from heald.tools.files.access import publish_changes
from heald.tools.runtime import Invocation, Next
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_output import ToolOutput, join_output
from heald.tools.workspace.paths import PathFault

_FIRST_SECONDS = 20.0
_SECONDS = 6.0
_MAX_ERRORS = 10
_MAX_FILES = 5
DIAGNOSTICS_DATA = "diagnostics"
"""The field of a result's data with the new errors."""


class CheckLease:
    """The checks of a session, which end with the last session that has them."""

    def __init__(self) -> None:
        self._checks: set[EditChecks] = set()

    def hold(self, checks: "EditChecks") -> None:
        """Keep the servers of a folder running."""
        if checks not in self._checks:
            self._checks.add(checks)
            checks.holders += 1

    async def aclose(self) -> None:
        for checks in self._checks:
            checks.holders -= 1
            if checks.holders == 0:
                await checks.stop()


class EditChecks:
    """The language servers of one folder, each started once, when the first of its files is changed."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.holders = 0
        """The number of sessions that use them."""
        self._sandbox = sandbox
        self._servers: dict[str, LanguageServer] = {}
        self._warm: set[str] = set()

    async def run_around(self, invocation: Invocation, run: Next) -> Any:
        """Run a call, and check the files that it changed."""
        paths = self._find_paths(invocation)
        if not paths:
            return await run(invocation)
        before = await asyncio.to_thread(_read_files, invocation.context, paths)
        value = await run(invocation)
        if isinstance(value, ToolOutput) and value.is_error:
            return value
        invocation.context.keep(CheckLease).hold(self)
        notes = await self._format(invocation.context, before)
        after = await asyncio.to_thread(_read_files, invocation.context, paths)
        errors, names = await self._find_errors(invocation.context.workspace.root or "", before, after)
        return _add_report(value, notes, errors, names)

    async def stop(self) -> None:
        """End all language servers."""
        servers, self._servers = list(self._servers.values()), {}
        self._warm.clear()
        for server in servers:
            await server.stop()

    def _find_paths(self, invocation: Invocation) -> list[str]:
        """The files that a call may change, and that a program is installed for."""
        tool, workspace = invocation.tool, invocation.context.workspace
        if tool.effect != "write" or tool.subjects is None or not workspace.root:
            return []
        if self._sandbox.available() is not None:
            return []
        paths = [path for path in tool.subjects(invocation.arguments) or () if not os.path.isabs(path)]
        root = workspace.root
        return [path for path in paths if find_server_kind(path) or find_formatter(root, path)][:_MAX_FILES]

    async def _format(self, context: ToolContext[Any], before: Mapping[str, str | None]) -> list[str]:
        """Format the files that were formatted before, and new ones. Returns sentences about it."""
        notes: list[str] = []
        root = context.workspace.root or ""
        for path, old in before.items():
            chosen = find_formatter(root, path)
            text = (await asyncio.to_thread(_read_files, context, [path])).get(path)
            if chosen is None or text is None or text == old:
                continue
            formatter, program = chosen
            formatted = await format_text(self._sandbox, root, path, formatter, program, text)
            if formatted is None or formatted == text:
                continue
            if old is not None and await format_text(self._sandbox, root, path, formatter, program, old) != old:
                continue  # the project does not keep this file formatted
            await asyncio.to_thread(context.workspace.write, path, formatted, on_change=publish_changes(context))
            notes.append(f"{path} was formatted by {formatter.name}; read it before you edit it.")
        return notes

    async def _find_errors(
        self, root: str, before: Mapping[str, str | None], after: Mapping[str, str | None]
    ) -> tuple[list[Diagnostic], list[str]]:
        """Return the errors that are new in the changed files, with the names of the servers that found them."""
        errors: list[Diagnostic] = []
        names: dict[str, None] = {}
        for path, text in after.items():
            server = self._find_server(root, path)
            if server is None or text is None or text == before.get(path):
                continue
            seconds = _SECONDS if server.name in self._warm else _FIRST_SECONDS
            earlier = await server.check(path, before.get(path) or "", seconds)
            current = await server.check(path, text, _SECONDS) if earlier is not None else None
            if earlier is None or current is None:
                continue
            self._warm.add(server.name)
            if added := new_errors(earlier, current):
                errors += added
                names[server.name] = None
        return errors, list(names)

    def _find_server(self, root: str, path: str) -> LanguageServer | None:
        chosen = find_server_kind(path)
        if chosen is None:
            return None
        kind, program = chosen
        if program not in self._servers:
            self._servers[program] = LanguageServer(self._sandbox, root, kind, program)
        return self._servers[program]


def _read_files(context: ToolContext[Any], paths: Sequence[str]) -> dict[str, str | None]:
    """Return the texts of files; None for one that does not exist or is not text."""
    texts: dict[str, str | None] = {}
    for path in paths:
        try:
            place = context.workspace.normal(path)
            exists = context.workspace.exists(place)
            texts[place] = context.workspace.read(place, remember=False).decode("utf-8") if exists else None
        except (PathFault, UnicodeDecodeError, OSError):
            continue
    return texts


def _add_report(value: Any, notes: Sequence[str], errors: Sequence[Diagnostic], names: Sequence[str]) -> Any:
    """Return the output of a call with what the checks found after it."""
    if not notes and not errors:
        return value
    lines = list(notes)
    if errors:
        lines.append(f"Errors that are new since this edit ({', '.join(names)}):")
        lines += [f"- {error.describe()}" for error in errors[:_MAX_ERRORS]]
        if len(errors) > _MAX_ERRORS:
            lines.append(f"- and {len(errors) - _MAX_ERRORS} more")
    output = join_output([], value)
    parts = [Text(output.content)] if isinstance(output.content, str) else list(output.content)
    joined = join_output([*parts, Text("\n" + "\n".join(lines))], "")
    summary = [output.summary] if output.summary else []
    summary += ["formatted"] if notes else []
    if errors:
        count = "1 new error" if len(errors) == 1 else f"{len(errors)} new errors"
        summary.append(f"{count}: {errors[0].describe()}")
    data: JsonObject = {**(output.data or {})}
    if errors:
        data[DIAGNOSTICS_DATA] = [msgspec.to_builtins(error) for error in errors[:_MAX_ERRORS]]
    return msgspec.structs.replace(output, content=joined.content, summary="; ".join(summary), data=data or None)
