"""Text editing: a model that is bad at calling tools is shown the files and writes them as text."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, cast

from msgspec.structs import replace

from heald.agent.strategy import NextRequest, Strategy, Verdict
from heald.core.messages import ToolResult, user_message
from heald.providers.base import ProviderTurn
from heald.tools.tool_output import NO_CHANGE
from heald.tools.workspace.paths import PathFault
from heald.wires.writer import FILE_FORMS

if TYPE_CHECKING:
    from heald.providers.session import WireSession

EditFormat = Literal["auto", "tools", "text"]
"""How a model changes files: by calling tools, by writing them as text, or text if it is small."""
UNCHANGED = (
    "You have written what the file holds already, so nothing has changed. Find the line that must be different, then "
    "write the complete file with that line changed. If the file is right as it is, explain why."
)


class TextEditing(Strategy):
    """Offers no tools but shows the files, and ends the exchange once they are written without a fault."""

    def __init__(self, edit_format: EditFormat = "auto", tool_instructions: str = "") -> None:
        """`tool_instructions` are left out of the instructions while the model calls no tools."""
        self.edit_format: EditFormat = edit_format
        self._tool_instructions = tool_instructions
        self._corrected: str | None = None  # the exchange in which the model was asked for a correction

    @property
    def is_active(self) -> bool:
        """Whether the model writes files as text, because it is bad at calling tools or a person chose it."""
        return self._is_possible and (self.edit_format == "text" or self.conversation.models.is_small)

    @property
    def _is_possible(self) -> bool:
        """Whether the model can write files as text, and a tool can change them."""
        registry = self.conversation.runtime.registry
        return "edit_file" in registry and self.edit_format != "tools" and self.conversation.models.writes_text

    async def find_format(self) -> None:
        """Ask the server whether the model is a small one, if nothing else shows it."""
        models = self.conversation.models
        if self.edit_format == "auto" and self._is_possible and models.may_be_small:
            await models.find_size(self.conversation.session)

    async def before_turn(self, request: NextRequest) -> None:
        if not self._is_possible:
            return
        await self.find_format()
        session = cast("WireSession", self.conversation.session)
        if not self.is_active:
            session.text_files = None
            return
        request.tools = []
        request.system = request.system.replace(self._tool_instructions, "").strip()
        request.shows_files = True
        await self._attach_files(session)

    async def _attach_files(self, session: "WireSession") -> None:
        from heald.agent.attached_files import attach_files
        from heald.tools.files.read_tool import read_file

        runtime = self.conversation.runtime
        files = await asyncio.to_thread(
            attach_files,
            runtime.workspace,
            list(self.conversation.messages),
            write_tool="write_file" if "write_file" in runtime.registry else "create_file",
            edit_tool="edit_file",
            context_size=self.conversation.window.known_size,
            may_show=lambda path: runtime.may_show(read_file, {"path": path}),
        )
        session.text_files = replace(files, attached=runtime.hide_secrets(files.attached))

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """The model must see the results of its files only if one failed; it may correct a fault once."""
        calls = turn.tool_calls
        if not calls:
            return None
        for call in calls:
            if call.form not in FILE_FORMS:
                return None
        results = [block for block in self.conversation.messages[-1].content if isinstance(block, ToolResult)]
        if any(result.status != "ok" for result in results):
            return None
        fault = self._find_fault(turn, results)
        if fault is None or self._corrected == self.conversation.exchange:
            return "end"
        self._corrected = self.conversation.exchange
        return user_message(self.conversation.runtime.hide_secrets(fault))

    def _find_fault(self, turn: ProviderTurn, results: list[ToolResult]) -> str | None:
        """Describe for the model what is wrong with the files that it wrote: no change, or a fault."""
        files = getattr(self.conversation.session, "text_files", None)
        if files is None:
            return None
        if all(result.summary == NO_CHANGE for result in results):
            return UNCHANGED
        paths = [path for call in turn.tool_calls if isinstance(path := call.input.get("path"), str)]
        after: dict[str, str] = {}
        for path in paths:
            with suppress(PathFault):
                after[path] = self.conversation.runtime.workspace.read_text(path, remember=False)
        messages = reversed(self.conversation.messages)
        request = next((message.text for message in messages if message.role == "user"), "")
        from heald.agent.written_files import find_fault

        return find_fault(files.texts, after, request)
