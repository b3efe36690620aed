"""The tool `todo_list`: the todo list of one session."""

from typing import Annotated, Literal

import msgspec

from heald.tools.context import ToolContext
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

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


FAMILY = (todo_list,)
"""The family `todo`."""
