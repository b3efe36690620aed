"""Text editing: a model that is bad at calling tools is shown the files and writes them as text."""

import asyncio
import re
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, cast

from msgspec.structs import replace

from heald.agent.request_intent import RequestIntent, read_intent
from heald.agent.strategy import NextRequest, QuickStrategy, Verdict
from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.core.messages import Message, Text, ToolResult, user_message
from heald.providers.base import ProviderTurn
from heald.tools.tool_output import NO_CHANGE
from heald.tools.workspace.paths import PathFault
from heald.wires.text_diff import begins_diff

if TYPE_CHECKING:
    from heald.agent.answer_check import AnswerCheck
    from heald.providers.session import WireSession
    from heald.wires.text_edits import TextFiles

EditFormat = Literal["auto", "tools", "text"]
"""How a model changes files: by calling tools, by writing them as text, or text if it is small."""
UNCHANGED = (
    "You have written what the file holds already, so nothing has changed. Find the line that must be different, then "
    "write the complete file with that line changed."
)
SAME_CONTENT = (
    "That is what the file holds already, and it fails:\n- {failure}\nFind the line that is wrong for this "
    "case, and write the complete file with that line changed."
)
AFRESH = (
    "The code that was there fails, for example:\n- {failure}\nIts functions are empty now. Write the complete file "
    "anew, in another way, so that these tests pass."
)
NO_FILE = (
    "Your answer holds no file that could be written, so nothing has changed. Write the path of the file alone on a "
    "line, then a fenced block with the complete new content of the file."
)
_ADVICE = "ask again, name the file and the change, or choose a larger model"
_CALL_MARK = lazy_pattern(r"<tool_call>|<function=|\[TOOL_CALLS\]|^<{5,} ?SEARCH|^>{5,} ?REPLACE", re.M)


class NothingWritten(HealdError):
    """A request asks for a change of files, and the model's answer, after one reminder, holds none that can be
    written."""

    code = "malformed_response"


class TextEditing(QuickStrategy):
    """Offers no tools but shows the files, and ends the exchange once they are written without a fault."""

    def __init__(self, edit_format: EditFormat = "auto", tool_instructions: str = "") -> None:
        """`tool_instructions` are left out of the instructions while the model calls no tools."""
        self.edit_format: EditFormat = edit_format
        self.writes_calls = False
        """A check of the server found that it reports no calls."""
        self._tool_instructions = tool_instructions
        self._exchange: str | None = None  # to which the fields below belong
        self._requests: list[Message] = []
        self._intent: RequestIntent = "either"
        self._reminders: list[str] = []
        self._repeated_paths: list[str] = []  # code that fails, which the model repeated and writes anew
        self._hides_answer = False  # the model would repeat its last answer
        self._check: AnswerCheck | None = None
        self._has_written = False  # the model has tried to write a file
        self._failure = ""  # why its last file was not written
        self._is_sent_back = False  # what it wrote was sent back once, to be made better

    @property
    def is_active(self) -> bool:
        """Whether the model writes files as text, because it is bad at calling tools or a person chose it."""
        return self._is_possible and (self.edit_format == "text" or self.conversation.models.is_small)

    @property
    def needs_text(self) -> bool:
        """Whether the model is known to write its calls as text, because it is small or a check or a person said so."""
        return self.writes_calls or self.edit_format == "text" or self.conversation.models.is_small

    async def find_size(self) -> None:
        """Ask the server for the size of the model, if `needs_text` depends on it."""
        models = self.conversation.models
        if not self.needs_text and models.may_be_small:
            await models.find_size(self.conversation.session)

    @property
    def _is_possible(self) -> bool:
        """Whether the model can write files as text, and a tool can change them."""
        tool = self.conversation.runtime.registry.find("edit_file")
        if tool is None or tool.on_client:  # a client's tool of this name changes files elsewhere
            return False
        return self.edit_format != "tools" and self.conversation.models.writes_text

    async def find_format(self) -> None:
        """Ask the server whether the model is a small one, if nothing else shows it."""
        models = self.conversation.models
        if self.edit_format == "auto" and self._is_possible and models.may_be_small:
            await models.find_size(self.conversation.session)

    def prepare_turn(self, request: NextRequest) -> Awaitable[None] | None:
        return self._show_files(request) if self._is_possible else None

    async def _show_files(self, request: NextRequest) -> None:
        await self.find_format()
        session = cast("WireSession", self.conversation.session)
        if not self.is_active:
            session.text_files = self._check = self.conversation.runtime.check_written = None
            return
        request.tools = []
        request.system = request.system.replace(self._tool_instructions, "").strip()
        request.shows_files = True
        await self._attach_files(session)

    async def _attach_files(self, session: "WireSession") -> None:
        from heald.agent.answer_check import AnswerCheck
        from heald.agent.attached_files import attach_files
        from heald.tools.files.read_tool import read_file

        self._begin_exchange()
        runtime = self.conversation.runtime
        files = await asyncio.to_thread(
            attach_files,
            runtime.workspace,
            list(self.conversation.messages),
            write_tool="write_file" if "write_file" in runtime.registry else "create_file",
            edit_tool="edit_file",
            context_size=self.conversation.window.known_size,
            may_show=lambda path: runtime.may_show(read_file, {"path": path}),
            emptied_paths=self._repeated_paths,
        )
        self._read_requests(files)
        may_write = self._intent != "answer"
        patch_tool = "apply_patch" if "apply_patch" in runtime.registry else ""
        session.text_files = replace(
            files,
            attached=runtime.hide_secrets(files.attached),
            may_write=may_write,
            patch_tool=patch_tool,
            hides_answer=self._hides_answer,
        )
        self._check = AnswerCheck(
            runtime.workspace, self._request_text, files.texts, may_write=may_write, emptied=files.emptied
        )
        runtime.check_written = self._check.check

    def _begin_exchange(self) -> None:
        """Forget the exchange before the running one."""
        if self._exchange != self.conversation.exchange:
            self._exchange = self.conversation.exchange
            self._requests, self._reminders, self._has_written, self._failure = [], [], False, ""
            self._repeated_paths, self._is_sent_back, self._hides_answer = [], False, False

    def _read_requests(self, files: "TextFiles") -> None:
        """Find the messages of the person in the running exchange, and what they ask for."""
        last = next((message for message in reversed(self.conversation.messages) if message.role == "user"), None)
        if last is None or last.text in self._reminders or any(last is request for request in self._requests):
            return
        self._requests.append(last)
        self._intent = read_intent(self._request_text, files.workspace_paths)

    @property
    def _request_text(self) -> str:
        """The words of the person. Files may be attached to them."""
        texts = [[part.text for part in message.content if isinstance(part, Text)][:1] for message in self._requests]
        return "\n".join(text for parts in texts for text in parts)

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """End the exchange once files are written. A model that wrote none, or a wrong one, is reminded once."""
        check = self._check
        if check is None or turn.stop_reason in ("refusal", "content_filter") or self._intent == "answer":
            return None
        if not turn.tool_calls:
            return self._after_words(turn)
        from heald.agent.answer_check import WRITING_TOOLS

        if any(call.name not in WRITING_TOOLS for call in turn.tool_calls):
            return None
        results = [result for result in self.conversation.messages[-1].tool_results if result.id not in check.examples]
        failed = [result for result in results if result.status != "ok"]
        if any(result.status not in ("error", "invalid_input") for result in failed):
            return None
        if failed and self._intent == "either" and all(result.id in check.quotations for result in failed):
            return "end"
        self._has_written = True
        if failed and self._is_sent_back:
            return "end"  # what was written before stays
        if failed:
            refusal = check.refusals.get(failed[0].id)
            reason = failed[0].text.partition("\n")[0].partition(". ")[0].rstrip(".")
            return self._after_failure(f"{refusal}, so it was not written" if refusal else reason)
        self._failure = ""
        if not self._has_changed:
            fault = "The model wrote what the file holds already, so nothing has changed"
            return self._remind(self._unchanged_reminder(turn), fault)
        fault = self._find_fault(turn)
        if fault is None or self._reminders:
            return "end"
        self._reminders.append(fault)
        self._is_sent_back = True
        return user_message(fault)

    def _after_words(self, turn: ProviderTurn) -> Verdict:
        """An answer in words completes an exchange that has changed a file, or that asks for no change."""
        if self._is_refused:
            return None
        if self._failure:
            raise NothingWritten(f"{self._failure}; {_ADVICE}.")
        if self._has_changed:
            return None
        if self._intent != "change" and not self._has_written and not self._attempts_change(turn):
            return None
        self._hides_answer = True
        fault = "The model answered without a file that could be written, so nothing has changed"
        return self._remind(self._no_file_reminder(), fault)

    def _no_file_reminder(self) -> str:
        """Names the file, if the model sees only one."""
        files = cast("WireSession", self.conversation.session).text_files
        paths = list(files.texts) if files is not None else []
        return f"{NO_FILE} Begin with the line {paths[0]}." if len(paths) == 1 else NO_FILE

    def _attempts_change(self, turn: ProviderTurn) -> bool:
        """Whether an answer without a file was meant to hold one."""
        from heald.agent.proposed_code import is_cut_in_code, proposes_code

        if resembles_change(turn) or (turn.stop_reason == "max_tokens" and is_cut_in_code(turn.text)):
            return True
        files = cast("WireSession", self.conversation.session).text_files
        return files is not None and proposes_code(turn.text, files)

    def _after_failure(self, reason: str) -> Verdict:
        """The model sees why its file was not written, and the file again, once."""
        if self._reminders or self._is_out_of_turns:
            raise NothingWritten(f"{reason}; {_ADVICE}.")
        self._failure = reason
        self._reminders.append(reason)
        return None

    def _remind(self, reminder: str, fault: str) -> Verdict:
        if self._reminders or self._is_out_of_turns:
            raise NothingWritten(f"{fault}; {_ADVICE}.")
        self._reminders.append(reminder)
        return user_message(reminder)

    def _unchanged_reminder(self, turn: ProviderTurn) -> str:
        """Names the first failure of a report in the request, which the unchanged code has again. The model sees that
        code no more, because it would repeat it."""
        from heald.agent.emptied_code import empty_bodies
        from heald.wires.pytest_report import read_failures

        failures = read_failures(self._request_text)
        files = cast("WireSession", self.conversation.session).text_files
        if not failures or files is None:
            return UNCHANGED
        paths = [str(call.input.get("path")) for call in turn.tool_calls]
        if self._reminders or not all(empty_bodies(path, files.texts.get(path, "")) for path in paths):
            return SAME_CONTENT.format(failure=failures[0])
        self._repeated_paths, self._hides_answer = paths, True
        return AFRESH.format(failure=failures[0])

    @property
    def _is_out_of_turns(self) -> bool:
        account = self.conversation.account
        return account is not None and account.is_out_of_turns

    @property
    def _has_changed(self) -> bool:
        """Whether a file was changed in the exchange."""
        return any(result.status == "ok" and not result.summary.startswith(NO_CHANGE) for result in self._results())

    @property
    def _is_refused(self) -> bool:
        """Whether a person or a rule did not allow a change."""
        return any(result.status == "denied" for result in self._results())

    def _results(self) -> list[ToolResult]:
        """The results of the exchange."""
        results: list[ToolResult] = []
        first = self._requests[0] if self._requests else None
        for message in reversed(self.conversation.messages):
            if message is first:
                break
            results += message.tool_results
        return results

    def _find_fault(self, turn: ProviderTurn) -> str | None:
        """Describe for the model what is wrong in the files that it wrote: a new parameter without a use, a name
        without a definition, or a function that it should implement and left empty."""
        files = cast("WireSession", self.conversation.session).text_files
        if files is None:
            return None
        for call in turn.tool_calls:
            path = call.input.get("path")
            with suppress(PathFault):
                if isinstance(path, str) and path in files.texts:
                    after = self.conversation.runtime.workspace.read_text(path, remember=False)
                    if (fault := self._judge(path, files.texts[path], after)) is not None:
                        return self.conversation.runtime.hide_secrets(fault)
        return None

    def _judge(self, path: str, before: str, after: str) -> str | None:
        from heald.agent.undefined_name import find_undefined
        from heald.agent.unfinished_function import find_unfinished
        from heald.agent.unused_parameter import find_unused

        return (
            find_unused(path, before, after)
            or find_undefined(path, before, after)
            or find_unfinished(path, before, after, self._request_text)
        )


def resembles_change(turn: ProviderTurn) -> bool:
    """Whether an answer without a file holds a diff, a part or a call that could not be read."""
    if turn.unread_call or _CALL_MARK.search(turn.text):
        return True
    lines = turn.text.split("\n")
    return any(begins_diff(line) and lines[at + 1].startswith(("+++ ", "@@ ")) for at, line in enumerate(lines[:-1]))
