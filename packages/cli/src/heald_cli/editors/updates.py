"""Encodes the event log of a session as `session/update` notifications, live and when a session is loaded."""

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from acp import schema

from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ExchangeRequest,
    FileChanged,
    MessageDiscarded,
    MessageStart,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
    ToolOutputDelta,
    ToolUseContentBlockStart,
    UserMessage,
)
from heald.core.json import JsonObject
from heald.core.messages import Message, Reasoning, Text, ToolCall, ToolResult
from heald.tools.argument_text import argument_texts
from heald.tools.definitions import Effect
from heald.tools.summaries import describe_call_in_full
from heald.tools.visible_text import cut_line, escape_line
from heald_cli.editors.content import encodable, fence, result_blocks, text_block, to_blocks

Update = (
    schema.UserMessageChunk
    | schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
)
Content = schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
ContentAt = Callable[[str, int | None], str | None]
"""Returns the text of a file at a revision, or as it is now; "" if there is no file, None if the text is not known."""

BREAK_OFF = "\n\n*This answer broke off and begins anew:*\n\n"
"""Text that follows an attempt which failed: an editor cannot take back what it has."""
_IN_DIFF = ("content", "old_text", "new_text", "edits")
"""Arguments that a diff shows."""
_SHOWN_OUTPUT = 4_000
"""The last characters of a running command's output that are shown."""
_KINDS: dict[str, schema.ToolKind] = {
    "read_file": "read",
    "list_files": "search",
    "glob": "search",
    "find_file": "search",
    "search_files": "search",
    "fetch_url": "fetch",
    "todo_list": "think",
    "ask_user": "think",
}
_BY_EFFECT: dict[str, schema.ToolKind] = {"read": "read", "write": "edit", "run": "execute", "network": "fetch"}
_PLAN: dict[str, schema.PlanEntryStatus] = {"pending": "pending", "in_progress": "in_progress", "done": "completed"}


def agent_text(text: str, message: str | None = None) -> schema.AgentMessageChunk:
    return schema.AgentMessageChunk(
        session_update="agent_message_chunk", content=text_block(text), message_id=message or None
    )


def agent_thought(text: str, message: str | None = None) -> schema.AgentThoughtChunk:
    return schema.AgentThoughtChunk(
        session_update="agent_thought_chunk", content=text_block(text), message_id=message or None
    )


@dataclass(slots=True)
class _Call:
    """The state of a call that the editor shows."""

    name: str
    input: JsonObject = field(default_factory=dict[str, Any])
    diffs: list[Content] = field(default_factory=list[Content])
    terminal: str | None = None
    output: str = ""


class UpdateEncoder:
    """Encodes the events of one session. `feed` returns the updates of one event, in order.

    With `replay`, whole messages are encoded instead of deltas, so that failed attempts are not shown.
    """

    def __init__(
        self,
        session: str,
        root: str,
        *,
        effects: Callable[[str], Effect],
        summarize: Callable[[ToolCall], str],
        content_at: ContentAt,
        replay: bool = False,
    ) -> None:
        self._session = session
        self._root = root
        self._effects = effects
        self._summarize = summarize
        self._content_at = content_at
        self._replay = replay
        self._calls: dict[str, _Call] = {}
        self._message = ""  # the id of the last message
        self._attempt: list[str] = []  # calls of the message that is being written
        self._written = False
        self._broke_off = False  # the last attempt had shown text

    def feed(self, event: Event) -> list[Update]:
        if event.session != self._session:
            return []  # of a subagent: the call that started it shows its progress
        match event.data:
            case ExchangeRequest():
                self._broke_off = False
            case MessageStart(message_id=message):
                begins_anew, self._written, self._broke_off = self._broke_off, False, False
                self._message, self._attempt = message, []
                return [agent_text(BREAK_OFF, message)] if begins_anew else []
            case TextDelta(text=text) if not self._replay:
                self._written = True
                return [agent_text(text, self._message)]
            case ThinkingDelta(text=text) if not self._replay:
                return [agent_thought(text, self._message)]
            case MessageDiscarded():
                self._broke_off = self._written
                dropped, self._attempt = self._attempt, []
                return [_progress(call, status="failed") for call in dropped]
            case RetryScheduled(error=error, delay_s=delay) if not self._replay:
                return [agent_thought(f"{error.message} The next attempt follows in {delay:.0f} s.\n")]
            case ToolUseContentBlockStart(id=key, name=name) if not self._replay:
                self._attempt.append(key)
                return [self._start(key, name)]
            case ToolCall():
                return self._on_call(event.data)
            case ToolExecuting():
                return [self._on_executing(event.data)]
            case ToolOutputDelta() if not self._replay:
                return self._on_output(event.data)
            case FileChanged():
                self._on_change(event.data)
            case ToolResult():
                return self._on_result(event.data)
            case UserMessage(message=message) if self._replay:
                return [
                    schema.UserMessageChunk(session_update="user_message_chunk", content=block)
                    for block in to_blocks(message.content)
                ]
            case _:
                return self._on_message(event) if self._replay else []
        return []

    def attach_terminal(self, call: str, terminal: str) -> schema.ToolCallProgress:
        """Show a terminal of the editor in a call."""
        self._call(call, "run_command").terminal = terminal
        content: list[Content] = [schema.TerminalToolCallContent(type="terminal", terminal_id=terminal)]
        return _progress(call, status="in_progress", content=content)

    def describe(self, call: str) -> schema.ToolCallUpdate:
        """Return a call that waits for the user."""
        state = self._call(call)
        return schema.ToolCallUpdate(
            tool_call_id=call,
            title=self._title(ToolCall(id=call, name=state.name, input=state.input)),
            kind=self._kind(state.name),
            status="pending",
            raw_input=encodable(state.input),
            locations=self._locations(state.input) or None,
            content=self._planned_diffs(state) or None,
        )

    def describe_approval(self, request: ApprovalRequested) -> schema.ToolCallUpdate:
        """Return a call for the user who decides on it: every argument, as a diff or as text without hidden characters.

        An editor shows a diff as it likes, so the text also tells what the diff hides.
        """
        state = self._call(request.call_id, request.name)
        arguments = request.input or state.input
        call = self.describe(request.call_id)
        diffs = self._planned_diffs(_Call(request.name, arguments))
        texts = argument_texts(arguments)
        rest = {name: value for name, value in arguments.items() if not diffs or name not in ("path", *_IN_DIFF)}
        is_clear = diffs and not rest and not request.reason and not any(text.notes for text in texts)
        details = request.summary
        if diffs and not any(text.notes for text in texts):
            reason = [f"({escape_line(request.reason)})"] if request.reason else []
            details = "\n".join([describe_call_in_full(rest), *reason]).strip()
        content = [*diffs, *([] if is_clear else list[Content](result_blocks(fence(details))))]
        title = call.title
        if request.name == "run_command":
            title = cut_line(str(arguments.get("command", "")))
        return call.model_copy(update={"title": title, "raw_input": encodable(arguments), "content": content or None})

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, key: str, name: str = "") -> _Call:
        return self._calls.setdefault(key, _Call(name))

    def _start(self, key: str, name: str) -> schema.ToolCallStart:
        self._calls[key] = _Call(name)
        return schema.ToolCallStart(
            session_update="tool_call", tool_call_id=key, title=name, kind=self._kind(name), status="pending"
        )

    def _on_call(self, call: ToolCall) -> list[Update]:
        updates: list[Update] = [] if call.id in self._calls else [self._start(call.id, call.name)]
        state = self._call(call.id, call.name)
        state.input = call.input
        updates.append(
            _progress(
                call.id,
                title=self._title(call),
                raw_input=encodable(call.input),
                locations=self._locations(call.input) or None,
            )
        )
        return updates

    def _on_executing(self, executing: ToolExecuting) -> schema.ToolCallProgress:
        return _progress(executing.id, status="in_progress")

    def _on_output(self, delta: ToolOutputDelta) -> list[Update]:
        state = self._call(delta.id)
        if state.terminal is not None:
            return []  # the terminal shows it
        state.output = (state.output + delta.text)[-_SHOWN_OUTPUT:]
        return [_progress(delta.id, content=list[Content](result_blocks(fence(state.output))))]

    def _on_change(self, change: FileChanged) -> None:
        if change.cause not in self._calls:
            return
        state = self._calls[change.cause]
        before, after = (
            self._content_at(change.path, change.revision - 1),
            self._content_at(change.path, change.revision),
        )
        if before is not None and after is not None:
            state.diffs.append(_diff(self._absolute(change.path), before, after))
            return
        planned = self._planned_diffs(state)
        state.diffs = planned or [*state.diffs, *result_blocks(fence(change.diff, "diff"))]

    def _on_result(self, result: ToolResult) -> list[Update]:
        state = self._call(result.id, result.name)
        content: list[Content] = []
        if state.terminal is not None:
            content.append(schema.TerminalToolCallContent(type="terminal", terminal_id=state.terminal))
        elif state.diffs:
            content += state.diffs
        if not content or result.status != "ok":
            content += result_blocks(result.content)
        updates: list[Update] = [
            _progress(
                result.id,
                status="completed" if result.status == "ok" and not result.is_error else "failed",
                content=content,
                raw_output=result.data if result.data is not None else {"status": result.status, "text": result.text},
            )
        ]
        if state.name == "todo_list" and result.status == "ok":
            updates.append(_plan(state.input))
        return updates

    # --- replay ------------------------------------------------------------------------------------------------------

    def _on_message(self, event: Event) -> list[Update]:
        message = getattr(event.data, "message", None)
        if event.type != "assistant_message" or not isinstance(message, Message):
            return []
        updates: list[Update] = []
        for part in message.content:
            if isinstance(part, Text):
                updates.append(agent_text(part.text, self._message))
            elif isinstance(part, Reasoning):
                updates.append(agent_thought(part.text, self._message))
        return updates

    # --- fields ------------------------------------------------------------------------------------------------------

    def _title(self, call: ToolCall) -> str:
        summary = " ".join(self._summarize(call).split())[:300]
        return f"{call.name}: {summary}" if summary and call.name != "run_command" else summary or call.name

    def _kind(self, name: str) -> schema.ToolKind:
        return _KINDS.get(name) or _BY_EFFECT.get(self._effects(name), "other")

    def _absolute(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._root, path))

    def _locations(self, arguments: JsonObject) -> list[schema.ToolCallLocation]:
        files = _objects(arguments.get("files")) or [arguments]
        locations: list[schema.ToolCallLocation] = []
        for file in files if self._root else ():
            path, line = file.get("path"), file.get("start_line")
            if isinstance(path, str):
                line = line if isinstance(line, int) else None
                locations.append(schema.ToolCallLocation(path=self._absolute(path), line=line))
        return locations

    def _planned_diffs(self, call: _Call) -> list[Content]:
        """Return the change that the arguments of a call describe, for a person who decides on it."""
        path, content = call.input.get("path"), call.input.get("content")
        if not isinstance(path, str):
            return []
        place = self._absolute(path)
        if call.name in ("create_file", "write_file") and isinstance(content, str):
            return [_diff(place, self._content_at(path, None) or "", content)]
        if call.name != "edit_file":
            return []
        return [
            _diff(place, str(edit["old_text"]), str(edit["new_text"]))
            for edit in _objects(call.input.get("edits")) or [call.input]
            if edit.get("old_text") is not None and edit.get("new_text") is not None
        ]


def _progress(call: str, **fields: Any) -> schema.ToolCallProgress:
    present = {name: value for name, value in fields.items() if value is not None}
    return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=call, **present)


def _diff(path: str, before: str, after: str) -> schema.FileEditToolCallContent:
    old, new = encodable(before) or None, encodable(after)
    return schema.FileEditToolCallContent(type="diff", path=encodable(path), old_text=old, new_text=new)


def _objects(value: object) -> list[JsonObject]:
    """Return the objects of a list; nothing if it is not a list."""
    if not isinstance(value, list):
        return []
    return [cast(JsonObject, item) for item in cast("list[object]", value) if isinstance(item, dict)]


def _plan(arguments: JsonObject) -> schema.AgentPlanUpdate:
    items = _objects(arguments.get("items"))
    return schema.AgentPlanUpdate(
        session_update="plan",
        entries=[
            schema.PlanEntry(
                content=str(item.get("text", "")),
                priority="medium",
                status=_PLAN.get(str(item.get("status", "pending")), "pending"),
            )
            for item in items
        ],
    )
