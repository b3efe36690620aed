"""The tool `lock_part`: locks a part of the page that is being changed, so that no change alters it."""

from heald.core.errors import HealdError
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_studio.projects.lock import LockKind, NewLock
from heald_studio.tools.context import FindContext


def lock_tool(find: FindContext) -> Tool:
    @tool(
        name="lock_part",
        effect="write",
        summary=lambda arguments: (
            f"Lock {arguments['kind']} {arguments.get('path') or arguments.get('text') or ''}".strip()
        ),
        timeout=120,
        idempotent=True,
    )
    async def lock_part(kind: LockKind, path: str = "", text: str = "", page: str = "", file: str = "") -> ToolOutput:
        """Lock a part of the design as it was before this change: a change that alters it is refused.

        Use it when the person says that something must stay as it is. Only the person can unlock it.

        Args:
            kind: element (its pixels and markup), text (its words and how they are drawn), style (how it is drawn, its
                words may change) or file.
            path: The CSS selector of the element, for element and style, and for a text that occurs more than once.
            text: The words, for text.
            page: The file of the page that shows it; the first page if it is left out.
            file: The path of the file, for file.
        """
        work = await find()
        try:
            lock = await work.lock(NewLock(kind=kind, path=path, text=text, page=page, file=file))
        except HealdError as error:
            raise ToolFault(str(error)) from None
        return ToolOutput(content=f"Locked: {lock.label}. It stays as it was before this change.", summary=lock.label)

    return lock_part
