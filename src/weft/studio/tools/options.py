"""`retrieve_option`: the code of another variant."""

from typing import Annotated

import msgspec

from weft.core.errors import WeftError
from weft.studio.assignment import Files, FindAssignment
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Tool

_Number = Annotated[int, msgspec.Meta(ge=1)]
_ROOM = 100_000


def option_tool(find: FindAssignment) -> Tool:
    @tool(
        name="retrieve_option",
        effect="read",
        summary=lambda arguments: f"Read option {arguments['option_number']}",
        max_output=_ROOM + 20_000,
        idempotent=True,
    )
    async def retrieve_option(option_number: _Number) -> ToolOutput:
        """Read the files of another option (variant) of this design.

        Args:
            option_number: Which one, counted from 1 as the person sees them.
        """
        work = await find()
        try:
            files = await work.option(option_number)
        except WeftError as error:
            raise ToolFault(str(error)) from None
        if files is None:
            raise ToolFault(f"There is no option {option_number}; they are counted from 1.", "not_found")
        if not files:
            return ToolOutput(content=f"Option {option_number} has no files yet.", summary="no files")
        return _told(option_number, files)

    return retrieve_option


def _told(number: int, files: Files) -> ToolOutput:
    parts = [f"Option {number} has {len(files)} file{'s' * (len(files) != 1)}."]
    room, cut = _ROOM, False
    for path, data in sorted(files.items()):
        text = _text(data)
        if text is None:
            parts.append(f"=== {path} ({len(data):,} bytes, not text) ===")
            continue
        parts.append(f"=== {path} ({len(text):,} characters) ===\n{text[:room]}")
        if len(text) > room:
            parts.append(f"[Cut here: {len(text) - room:,} characters of {path} are left out.]")
            cut = True
        room = max(0, room - len(text))
    return ToolOutput(content="\n".join(parts), summary=f"{len(files)} files", truncated=cut)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
