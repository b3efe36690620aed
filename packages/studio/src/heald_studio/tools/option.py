"""The tool `retrieve_option`: the files of another variant."""

from typing import Annotated

import msgspec

from heald.core.errors import HealdError
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_studio.prompt.history import decode_text
from heald_studio.tools.context import Files, FindContext

_Number = Annotated[int, msgspec.Meta(ge=1)]
_MAX_OPTION_CHARACTERS = 100_000


def option_tool(find: FindContext) -> Tool:
    @tool(
        name="retrieve_option",
        effect="read",
        summary=lambda arguments: f"Read option {arguments['option_number']}",
        max_output=_MAX_OPTION_CHARACTERS + 20_000,
        idempotent=True,
    )
    async def retrieve_option(option_number: _Number) -> ToolOutput:
        """Read the files of another option (variant) of this design.

        Args:
            option_number: Which one, counted from 1.
        """
        work = await find()
        try:
            files = await work.read_option(option_number)
        except HealdError as error:
            raise ToolFault(str(error)) from None
        if files is None:
            raise ToolFault(f"There is no option {option_number}; they are counted from 1.", "not_found")
        if not files:
            return ToolOutput(content=f"Option {option_number} has no files yet.", summary="no files")
        return _option_result(option_number, files)

    return retrieve_option


def _option_result(number: int, files: Files) -> ToolOutput:
    parts = [f"Option {number} has {len(files)} file{'s' * (len(files) != 1)}."]
    room, cut = _MAX_OPTION_CHARACTERS, False
    for path, data in sorted(files.items()):
        text = decode_text(data)
        if text is None:
            parts.append(f"=== {path} ({len(data):,} bytes, not text) ===")
            continue
        parts.append(f"=== {path} ({len(text):,} characters) ===\n{text[:room]}")
        if len(text) > room:
            parts.append(f"[Cut here: {len(text) - room:,} characters of {path} are left out.]")
            cut = True
        room = max(0, room - len(text))
    return ToolOutput(content="\n".join(parts), summary=f"{len(files)} files", truncated=cut)
