"""Written files: a model that calls tools, and answers a request for a change with a file as text, is reminded once."""

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from heald.agent.request_intent import read_intent
from heald.agent.strategy import NextRequest, QuickStrategy, Verdict
from heald.agent.text_editing import NothingWritten, TextEditing, resembles_change
from heald.core.lazy import lazy_pattern
from heald.core.messages import Message, Text, user_message
from heald.tools.workspace.paths import PathFault

if TYPE_CHECKING:
    from heald.providers.base import ProviderTurn

FILE_AS_TEXT = (
    "Your answer contains a file as text, but text does not change files, so nothing was written. Call write_file or "
    "edit_file to make the change."
)
_FAULT = (
    "The model answered with a file as text and called no tool, so nothing has changed; use --edit-format text, or "
    "choose a larger model."
)
_FENCE = lazy_pattern(r"^[ \t]*(?:```|~~~)", re.M)
_NAME = lazy_pattern(r"[\w@~+./-]*\w\.\w+")
_MAX_NAMES = 200
_HARMLESS = ("none", "read")


class WrittenFiles(QuickStrategy):
    """Reminds such a model once in an exchange, then fails: "completed" with nothing done would be wrong."""

    def __init__(self, text_editing: TextEditing) -> None:
        self._text_editing = text_editing
        self._exchange: str | None = None  # to which the fields below belong
        self._first: Message | None = None
        self._is_reminded = False
        self._request: NextRequest | None = None

    def prepare_turn(self, request: NextRequest) -> None:
        self._request = request if self.conversation.runtime.registry.find("edit_file") is not None else None
        if self._request is None or self._exchange == self.conversation.exchange:
            return
        messages = self.conversation.messages
        self._exchange, self._is_reminded = self.conversation.exchange, False
        self._first = next((message for message in reversed(messages) if message.role == "user"), None)

    def after_turn(self, turn: "ProviderTurn") -> Verdict:
        if not self._may_write or turn.tool_calls or turn.stop_reason in ("refusal", "content_filter"):
            return None
        if not (_FENCE.search(turn.text) or resembles_change(turn)) or self._has_acted:
            return None
        words = self._words
        names = self._find_names(f"{words}\n{turn.text}")
        if read_intent(words, names) != "change" or not self._holds_file(turn, names):
            return None
        account = self.conversation.account
        if self._is_reminded or (account is not None and account.is_out_of_turns):
            raise NothingWritten(_FAULT)
        self._is_reminded = True
        return user_message(FILE_AS_TEXT)

    @property
    def _may_write(self) -> bool:
        """Whether the model was offered a tool that writes files in a folder, and may use it."""
        runtime = self.conversation.runtime
        if self._request is None or self._text_editing.is_active or runtime.permissions.planning:
            return False
        edit = runtime.registry.find("edit_file")
        if edit is None or edit.on_client or runtime.workspace.is_project:
            return False
        return any(tool.name == edit.name for tool in self._request.tools)

    @property
    def _words(self) -> str:
        """The words of the person in this exchange. Files may be attached to them."""
        texts: list[str] = []
        for message in reversed(self.conversation.messages):
            if message.role == "user" and message.text != FILE_AS_TEXT:
                texts += [part.text for part in message.content if isinstance(part, Text)][:1]
            if message is self._first:
                break
        return "\n".join(reversed(texts))

    @property
    def _has_acted(self) -> bool:
        """Whether a call of the exchange may have changed something, or was not allowed."""
        registry = self.conversation.runtime.registry
        for message in reversed(self.conversation.messages):
            for result in message.tool_results:
                tool = registry.find(result.name)
                is_harmless = tool is not None and tool.effect in _HARMLESS
                if result.status == "denied" or (result.status == "ok" and not is_harmless):
                    return True
            if message is self._first:
                break
        return False

    def _find_names(self, text: str) -> frozenset[str]:
        """Return the files of the workspace that a text names."""
        workspace = self.conversation.runtime.workspace
        names: set[str] = set()
        for name in list(dict.fromkeys(_NAME.findall(text)))[:_MAX_NAMES]:
            with suppress(PathFault, ValueError, OSError):
                if workspace.exists(workspace.normal(name)):
                    names.add(workspace.normal(name))
        return frozenset(names)

    def _holds_file(self, turn: "ProviderTurn", names: frozenset[str]) -> bool:
        """Whether a model that writes files as text would have written one with this answer."""
        if resembles_change(turn):
            return True
        from heald.wires.text_edits import FilePiece, TextEdits, TextFiles

        sizes = dict.fromkeys(names, 0)
        reader = TextEdits(TextFiles(workspace_paths=names, sizes=sizes, texts=dict.fromkeys(names, "")))
        pieces = [*reader.feed(turn.text), *reader.close()]
        return any(isinstance(piece, FilePiece) for piece in pieces)
