"""The built-in tools by name and by family, with `ask_user` and `todo_list`."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from weft.core.errors import ConfigurationError
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.function_tools import tool
from weft.tools.results import ToolFault, ToolOutput

if TYPE_CHECKING:
    from weft.tools.shell.sandbox import Sandbox

PATIENCE = 30 * 24 * 3600.0
"""Timeout of a question in seconds, so long that in effect only the exchange's own limit applies."""

Suggestions = Annotated[list[str], msgspec.Meta(min_length=2, max_length=4)]


@tool(
    effect="none",
    summary=lambda args: f"Ask: {str(args.get('question', ''))[:200]}",
    timeout=PATIENCE,
    idempotent=True,
    sequential=True,
)
async def ask_user(question: str, suggestions: Suggestions, ctx: ToolContext) -> ToolOutput:
    """Ask the user a question and wait for the answer.

    Use it when a choice is theirs and guessing wrong would cost them; not for what you can find out yourself. The user
    may pick a suggestion or answer in other words.

    Args:
        question: One clear question.
        suggestions: Two to four short answers to choose from.
    """
    if not question.strip() or not all(suggestion.strip() for suggestion in suggestions):
        raise ToolFault("The question and each suggestion need some text; ask again with all of them filled in.")
    answer = await ctx.ask(question.strip(), [suggestion.strip() for suggestion in suggestions])
    return ToolOutput(content=answer or "The user gave no answer.", summary=f"Answered: {answer[:200]}")


MAX_ITEMS = 100
MAX_TEXT = 500
_MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}


class TodoItem(msgspec.Struct, frozen=True):
    text: Annotated[str, msgspec.Meta(description="What is to be done, in a few words.", min_length=1)]
    status: Literal["pending", "in_progress", "done"] = "pending"


class TodoList:
    """The todo list of one session. Each call replaces the whole list."""

    def __init__(self) -> None:
        self.items: tuple[TodoItem, ...] = ()

    def render(self) -> str:
        if not self.items:
            return "The list is empty."
        done = sum(item.status == "done" for item in self.items)
        lines = [f"{_MARKS[item.status]} {' '.join(item.text.split())}" for item in self.items]
        return "\n".join([f"{done} of {len(self.items)} done", *lines])


@tool(
    effect="none",
    summary=lambda args: f"Todo list of {len(args.get('items', []))} items",
    idempotent=True,
    sequential=True,
)
async def todo_list(items: list[TodoItem], ctx: ToolContext) -> ToolOutput:
    """Replace the todo list of this session and get it back.

    Use it for work of several steps. Give the whole list every time; keep at most one item in progress and mark items
    done as soon as they are.

    Args:
        items: All items in their order, also the finished ones.
    """
    if len(items) > MAX_ITEMS:
        raise ToolFault(f"A list of {len(items)} items is too long; keep to {MAX_ITEMS} and put small steps together.")
    for number, item in enumerate(items, 1):
        if len(item.text) > MAX_TEXT or not item.text.strip():
            raise ToolFault(f"Item {number} needs a text of 1 to {MAX_TEXT} characters.")
    todo = ctx.keep(TodoList)
    todo.items = tuple(items)
    content = todo.render()
    if sum(item.status == "in_progress" for item in items) > 1:
        content += "\nMore than one item is in progress; finishing one before the next is clearer."
    return ToolOutput(content=content, summary=content.partition("\n")[0])


def families(sandbox: "Sandbox | None" = None) -> dict[str, tuple[Tool, ...]]:
    """Return the built-in tools by family name. An agent without tools loads none of them."""
    from weft.tools.files.edit import edit_file
    from weft.tools.files.listing import find_file, glob, list_files
    from weft.tools.files.patch import apply_patch
    from weft.tools.files.read_write import create_file, read_file, write_file
    from weft.tools.files.search import search_files
    from weft.tools.web.fetch_tool import fetch_url

    reading = (read_file, list_files, glob, search_files, find_file)
    return {
        "files": (create_file, write_file, edit_file, apply_patch, *reading),
        "read": reading,
        "shell": _shell_family(sandbox),
        "web": (fetch_url,),
        "todo": (todo_list,),
        "ask": (ask_user,),
    }


def _shell_family(sandbox: "Sandbox | None") -> tuple[Tool, ...]:
    """The shell tools with a sandbox, made once: every session of a server looks them up."""
    try:
        return _keep_shell_tools(sandbox)
    except TypeError:  # a list in it has no hash
        return _make_shell_tools(sandbox)


def _make_shell_tools(sandbox: "Sandbox | None") -> tuple[Tool, ...]:
    from weft.tools.shell.tools import shell_tools

    return tuple(shell_tools(sandbox))


_keep_shell_tools = lru_cache(16)(_make_shell_tools)


def builtin_tool_names() -> set[str]:
    """Return the names that `named_tools` knows: tools, families and `all`."""
    return {"all"} | {name for family, tools in families().items() for name in (family, *(each.name for each in tools))}


def named_tools(names: Iterable[str], sandbox: "Sandbox | None" = None) -> list[Tool]:
    """Return the tools of these names, without duplicates. A name may be a tool, a family, or `all`."""
    names = list(names)
    if not names:
        return []
    groups = families(sandbox)
    known = {tool.name: (tool,) for family in groups.values() for tool in family}
    offered: dict[str, tuple[Tool, ...]] = {**known, **groups, "all": tuple(t for f in groups.values() for t in f)}
    found: dict[str, Tool] = {}
    for name in names:
        if name not in offered:
            near = get_close_matches(name, offered, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join([*groups, 'all', *known])}."
            raise ConfigurationError(f"There is no tool {name!r}; {hint}")
        found |= {tool.name: tool for tool in offered[name]}
    return list(found.values())
