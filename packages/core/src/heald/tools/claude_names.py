"""The names of Claude Code's tools and those of Heald, for agents and hooks that are written for Claude Code."""

import os
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from heald.core.json import JsonObject
from heald.tools.definitions import Tool

OURS_BY_CLAUDE_NAME: dict[str, tuple[str, ...]] = {
    "Read": ("read_file",),
    "Write": ("create_file", "write_file"),
    "Edit": ("edit_file", "apply_patch"),
    "MultiEdit": ("edit_file", "apply_patch"),
    "Glob": ("glob", "find_file"),
    "LS": ("list_files",),
    "Grep": ("search_files",),
    "Bash": ("run_command", "command_output", "stop_command"),
    "BashOutput": ("command_output",),
    "KillShell": ("stop_command",),
    "WebFetch": ("fetch_url",),
    "TodoWrite": ("todo_list",),
    "AskUserQuestion": ("ask_user",),
}
"""Heald's tools for each of Claude Code's."""
_NAMES: dict[str, tuple[str, ...]] = {
    "read_file": ("Read",),
    "create_file": ("Write",),
    "write_file": ("Write",),
    "edit_file": ("Edit", "MultiEdit"),
    "apply_patch": ("Edit", "MultiEdit", "Write"),
    "glob": ("Glob",),
    "find_file": ("Glob",),
    "list_files": ("LS",),
    "search_files": ("Grep",),
    "run_command": ("Bash",),
    "command_output": ("BashOutput",),
    "stop_command": ("KillShell",),
    "fetch_url": ("WebFetch",),
    "todo_list": ("TodoWrite",),
    "ask_user": ("AskUserQuestion",),
}
_FILE_TOOLS = frozenset({"read_file", "create_file", "write_file", "edit_file", "apply_patch"})


class ClaudeCall(msgspec.Struct, frozen=True):
    """A call in the words of Claude Code: the names that it may have there, and its input."""

    names: tuple[str, ...]
    tool_input: JsonObject


def claude_names(tool: str) -> tuple[str, ...]:
    """Return the names that a tool has in Claude Code; a tool of an MCP server is `mcp__server__tool`."""
    if "__" in tool:
        return (f"mcp__{tool}",)
    return _NAMES.get(tool, (tool,))


def claude_calls(tool: Tool, arguments: JsonObject, folder: str) -> Sequence[ClaudeCall]:
    """Return a call as Claude Code would make it. A call about several files is several there."""
    names = claude_names(tool.name)
    if tool.name in _FILE_TOOLS:
        accesses = tool.access(arguments) if tool.access is not None else ()
        paths = dict.fromkeys(access.resource.removeprefix("file:") for access in accesses)
        rest = _file_input(tool.name, arguments)
        return [ClaudeCall(names, {"file_path": os.path.join(folder, path), **rest}) for path in paths or [""]]
    return [ClaudeCall(names, _plain_input(tool.name, arguments))]


def _file_input(tool: str, arguments: JsonObject) -> JsonObject:
    match tool:
        case "create_file" | "write_file":
            return {"content": arguments.get("content", "")}
        case "edit_file":
            listed: Any = arguments.get("edits")
            entries = cast("list[JsonObject]", listed) if isinstance(listed, list) else [arguments]
            edits = [
                {"old_string": entry.get("old_text", ""), "new_string": entry.get("new_text", "")} for entry in entries
            ]
            return {**edits[0], "edits": edits} if edits else {}
        case "apply_patch":
            return {"patch": arguments.get("patch", "")}
        case _:
            return {}


def _plain_input(tool: str, arguments: JsonObject) -> JsonObject:
    match tool:
        case "run_command":
            seconds: Any = arguments.get("timeout_s")
            timeout = {"timeout": int(seconds * 1000)} if isinstance(seconds, int | float) else {}
            return {
                "command": arguments.get("command", ""),
                "run_in_background": bool(arguments.get("background")),
                **timeout,
            }
        case "find_file":
            return {"pattern": arguments.get("query", "")}
        case "fetch_url":
            return {"url": arguments.get("url", ""), "prompt": ""}
        case "todo_list":
            return {"todos": arguments.get("items", [])}
        case _:
            return arguments
