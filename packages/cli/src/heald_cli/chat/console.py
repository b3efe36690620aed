"""Connects keys, requests, slash commands and the screen of `heald chat`."""

import argparse
import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyPressEvent
from prompt_toolkit.keys import Keys

from heald.agent.interface import WhenBusy
from heald.commands.amounts import format_usd
from heald.commands.terminal import BOLD, DIM, RED, YELLOW, Colours
from heald.commands.text_columns import truncate
from heald.core.errors import HealdError
from heald.core.events import AssistantMessage
from heald.core.messages import Image, ResultPart, user_message
from heald.tools.approvals import NotPending
from heald.tools.sanitize import sanitize_text
from heald.tools.shell.background_commands import BackgroundCommand
from heald_cli.chat.attachments import attach_files, complete_mention, hide_in_attachments
from heald_cli.chat.clipboard import clipboard_picture, normalize_paste
from heald_cli.chat.commands import complete_command, more_commands, run_command
from heald_cli.chat.display import EventDisplay
from heald_cli.chat.modes import find_mode
from heald_cli.chat.planning import plan_request
from heald_cli.chat.screen import ChatScreen
from heald_cli.chat.session import ChatSession
from heald_cli.chat.work_commands import describe_job, run_shell_line
from heald_cli.end_signals import call_at_end
from heald_cli.mcp_input import attach_resources, complete_resource
from heald_cli.questions import TERMINAL
from heald_cli.transcript import Transcript

if TYPE_CHECKING:
    from heald.tools.mcp import McpServers
    from heald_cli.chat.goal_command import Goal
    from heald_cli.subagents.sub_agent import SubAgent

_log = logging.getLogger("heald.chat")
_THINK_SECONDS = 0.4
"""Seconds after a call is shown in which a key press does not decide it."""
_TWICE_SECONDS = 2.0
_HISTORY_LINES = 60
_CONNECT_AFTER = 0.3
"""Seconds after the prompt at which the chat connects to the model: the prompt comes first."""
_FRAME_SECONDS = 0.06
_FOOTER_SECONDS = 0.5
_JOB_COLUMNS, _MAX_JOB_ROWS = 32, 4
_SERVER_SECONDS = 2.0
"""Seconds that a request waits for MCP servers that are starting."""
_MAX_CHARACTERS = 200_000
_PASTE_LINES, _PASTE_CHARACTERS = 20, 4_000
"""A longer paste is shown as a marker."""
_INTERRUPTED = "The person interrupted."
_DENIED = "The person denied it."
_WHEN_BUSY: dict[WhenBusy, str] = {
    "queue": "waits for its turn",
    "steer": "joins at the model's next turn",
    "interrupt": "interrupts",
}


class ChatConsole:
    """One run of `heald chat`."""

    def __init__(
        self,
        chat: ChatSession,
        screen: ChatScreen,
        display: EventDisplay,
        paint: Colours,
        options: argparse.Namespace,
        servers: "McpServers | None" = None,
    ) -> None:
        self.chat = chat
        self.options = options
        """The options of `heald chat`, which attempts have too."""
        self.applied_seq: int | None = None
        """The last event when the result of an attempt was applied, until it is undone."""
        self.goal: Goal | None = None
        """What the model works towards until a check passes."""
        self.servers = servers
        self.screen = screen
        self.paint = paint
        self.display = display
        self._requests: asyncio.Queue[str] = asyncio.Queue()
        self._when_busy: dict[str, WhenBusy] = {}  # of typed requests that do not wait for their turn
        self._interrupted_at = -_TWICE_SECONDS
        self._pictures: dict[str, Image] = {}  # from the clipboard, by their marker in the line
        self._pastes: dict[str, str] = {}  # long texts, by their marker in the line
        self._clipboard: asyncio.Task[None] | None = None
        self._checkpoint_problem = ""
        self._ended_jobs: list[BackgroundCommand] = []
        chat.on_agent_end = self._note_agent_end
        self._bind_keys()

    async def run(self) -> None:
        """Read and send requests until the person quits."""
        self.follow_session()
        self.screen.buffer.on_text_changed += self._on_typed
        loop = asyncio.get_running_loop()
        connecting = loop.call_later(_CONNECT_AFTER, self.chat.session.connect_early)
        own = [
            loop.create_task(self._refresh(), name="heald-chat-refresh"),
            loop.create_task(self._process_requests(), name="heald-chat-requests"),
        ]
        for task in own:  # without one of them the chat would look alive and do nothing
            task.add_done_callback(lambda _: self.quit())
        call_at_end(self.quit)
        try:
            await self.screen.run()
        finally:
            connecting.cancel()
            tasks = own + ([self._clipboard] if self._clipboard is not None else [])
            tasks += [self.goal.task] if self.goal is not None and self.goal.task is not None else []
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in own:
            if not task.cancelled():
                task.result()

    def _on_typed(self, _: object) -> None:
        """Connect to the model while a request is typed, if the last connection was closed meanwhile."""
        if not self.chat.is_busy and len(self.screen.buffer.text) == 1:
            self.chat.session.connect_early()

    def quit(self) -> None:
        self.screen.close()

    def note(self, *lines: str) -> None:
        self.screen.print(*(self.paint(sanitize_text(line), DIM) for line in lines))

    def show_error(self, error: Exception) -> None:
        self.screen.print(self.paint(sanitize_text(str(error)), RED))

    async def show_history(self) -> None:
        """Print the end of the conversation so far, with its answers as Markdown."""
        transcript = Transcript(self.paint)
        entries = [(event, lines) for event in await self.chat.history() if (lines := transcript.lines(event))]
        count, start = 0, len(entries)
        while start and count < _HISTORY_LINES:
            start -= 1
            count += len(entries[start][1])
        cut = max(count - _HISTORY_LINES, 0)
        if left := sum(len(lines) for _, lines in entries[:start]) + cut:
            self.note(f"… {left} earlier lines; `heald sessions show {self.chat.session.session}` prints all")
        if cut:
            self.screen.print(*entries[start][1][cut:])
            start += 1
        for event, lines in entries[start:]:
            if isinstance(event.data, AssistantMessage):
                self.display.show_answer(event.data.message.text)
            else:
                self.screen.print(*lines)
        self.chat.show_events()

    # --- keys --------------------------------------------------------------------------------------------------------

    def _bind_keys(self) -> None:
        keys: dict[tuple[str, ...], Callable[[KeyPressEvent], object]] = {
            ("enter",): lambda _: self._submit(self.screen.submit()),
            ("c-j",): lambda event: event.current_buffer.insert_text("\n"),
            ("escape", "enter"): lambda event: event.current_buffer.insert_text("\n"),
            ("escape",): lambda _: self._interrupt(),
            ("escape", "["): _skip_sequence,
            ("escape", "O"): _skip_sequence,
            ("c-c",): lambda _: self._press_ctrl_c(),
            ("c-d",): lambda _: self.screen.buffer.delete() if self.screen.buffer.text else self.quit(),
            ("c-l",): lambda _: self.screen.clear(),
            ("tab",): lambda _: self._complete(),
            ("s-tab",): lambda _: self._requests.put_nowait("/mode next"),
            ("c-o",): lambda _: self.display.open_output(),
            ("c-s",): lambda _: self._submit_now("steer"),
            ("c-x",): lambda _: self._submit_now("interrupt"),
            ("c-v",): lambda _: self._attach_picture(is_asked=True),
            (Keys.BracketedPaste,): lambda event: self._paste(event.data),
        }
        for names, handler in keys.items():
            self.screen.bindings.add(*names)(_handle(handler))
        is_deciding = Condition(
            lambda: self.display.approval is not None and not self.display.is_refusing and not self.screen.buffer.text
        )
        for name in "yYnNaAvV":
            self.screen.bindings.add(name, filter=is_deciding)(self._decide)
        has_plan = Condition(
            lambda: self.display.plan is not None and not self.chat.is_busy and not self.screen.buffer.text
        )
        for name in "yYnNeEvV":
            self.screen.bindings.add(name, filter=has_plan & ~is_deciding)(self._decide_plan)

    def _decide_plan(self, event: KeyPressEvent) -> None:
        """Carry the plan out, edit it or go on planning, by one key press."""
        if event.key_processor.input_queue:
            self.screen.buffer.insert_text(event.data)
            return
        if monotonic() - self.display.approval_since < _THINK_SECONDS:
            return
        match event.data.lower():
            case "y":
                self._requests.put_nowait("/plan go")
            case "e":
                self._requests.put_nowait("/plan edit")
            case "v":
                self.display.show_plan()
            case _:
                self.display.plan = None
                self.note("Describe what the plan should have, or /plan off.")

    def _decide(self, event: KeyPressEvent) -> None:
        """Decide a call by one key press. A text that was typed ahead or pasted decides nothing."""
        request = self.display.approval
        if request is None or event.key_processor.input_queue:
            self.screen.buffer.insert_text(event.data)
            return
        if monotonic() - self.display.approval_since < _THINK_SECONDS:
            return
        session = self.chat.session
        answer = event.data.lower()
        if answer == "v":
            self.display.show_whole_call()
            return
        if answer == "n":
            self.display.is_refusing = True
            return
        with suppress(NotPending):  # its exchange has just ended
            session.approve(request.approval, always=answer == "a", digest=request.digest, by=TERMINAL)

    def _deny(self, reason: str) -> None:
        """Deny the call that waits, with the reason that was typed."""
        request, self.display.is_refusing = self.display.approval, False
        if request is None:
            return
        with suppress(NotPending):
            self.chat.session.deny(request.approval, reason or _DENIED, by=TERMINAL)

    def _interrupt(self) -> bool:
        return self.chat.is_busy and self.chat.session.cancel(_INTERRUPTED)

    def _press_ctrl_c(self) -> None:
        """Clear the line, else interrupt the answer, else quit at the second time."""
        if self.screen.buffer.text:
            self.screen.set_text("")
            return
        if self._interrupt():
            return
        now = monotonic()
        if now - self._interrupted_at < _TWICE_SECONDS:
            self.quit()
            return
        self._interrupted_at = now
        self.note("Press Ctrl-C again, or Ctrl-D, to leave.")

    def _paste(self, data: str) -> None:
        if not data:  # a terminal sends this for a picture
            self._attach_picture(is_asked=False)
            return
        text = data.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
        text = sanitize_text(normalize_paste(text))[:_MAX_CHARACTERS]
        lines = len(text.splitlines())
        if lines > _PASTE_LINES or len(text) > _PASTE_CHARACTERS:
            size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
            marker = f"[paste {len(self._pastes) + 1}: {size}]"
            self._pastes[marker] = text
            text = f"{marker} "
        self.screen.buffer.insert_text(text)

    def _attach_picture(self, *, is_asked: bool) -> None:
        if self._clipboard is None or self._clipboard.done():
            reading = self._read_clipboard(is_asked)
            self._clipboard = asyncio.get_running_loop().create_task(reading, name="heald-chat-clipboard")

    async def _read_clipboard(self, is_asked: bool) -> None:
        """Add the picture in the clipboard to the request that is typed."""
        try:
            picture = await asyncio.to_thread(clipboard_picture)
        except HealdError as error:
            if is_asked:
                self.note(str(error))
            return
        marker = f"[picture {len(self._pictures) + 1}]"
        self._pictures[marker] = picture
        self.screen.buffer.insert_text(f"{marker} ")

    def _complete(self) -> None:
        document = self.screen.buffer.document
        before, after = document.text_before_cursor, document.text_after_cursor
        if before.startswith("/"):
            text, names = complete_command(before, more_commands(self))
        else:
            text, names = complete_mention(before, self.chat.session.workspace)
            if not names:
                text, names = complete_resource(self.servers, before)
        self.screen.set_text(text + after, len(text))
        if text == before and len(names) > 1:
            self.note("  ".join(names[:40]))

    # --- requests ----------------------------------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Send a line as if it was typed."""
        self._submit(text)

    def _submit_now(self, when_busy: WhenBusy) -> None:
        """Send the typed text to the running exchange, or instead of it. A command, and a text while nothing runs or
        something is asked, is sent as by Enter."""
        text = self.screen.submit()
        is_plain = text.strip() and not text.startswith(("/", "!"))
        is_asked = self.display.question is not None or self.display.is_refusing
        if is_plain and not is_asked and self.chat.is_busy:
            self._when_busy[text] = when_busy
        self._submit(text)

    def _submit(self, text: str) -> None:
        text = sanitize_text(text)[:_MAX_CHARACTERS]
        if self.display.is_refusing:
            self._deny(self._expand(text).strip())
            return
        if not text.strip():
            return
        if self.display.question is not None and not text.startswith("/"):
            self._answer(self._expand(text).strip())
        else:
            self._requests.put_nowait(text)

    def _expand(self, text: str) -> str:
        """Replace the markers of long pastes by their text."""
        for marker, paste in self._pastes.items():
            text = text.replace(marker, paste)
        return text

    def _answer(self, text: str) -> None:
        question, self.display.question = self.display.question, None
        assert question is not None
        if text.isdecimal() and 1 <= int(text) <= len(question.suggestions):
            text = question.suggestions[int(text) - 1]
        self.screen.print(self.paint(f"› {sanitize_text(text)}", BOLD))
        with suppress(NotPending):
            self.chat.session.answer(question.question, text)

    async def _process_requests(self) -> None:
        while True:
            text = await self._requests.get()
            try:
                if text.startswith("/"):
                    await run_command(self, text)
                elif text.startswith("!"):
                    await run_shell_line(self, text[1:].strip())
                else:
                    await self._send(self._expand(text), self._when_busy.pop(text, "queue"))
            except HealdError as error:
                self.show_error(error)
            except Exception as error:
                _log.exception("A request failed.")
                self.show_error(HealdError(f"Heald failed ({type(error).__name__}); chat.log has the details."))

    async def _send(self, text: str, when_busy: WhenBusy) -> None:
        session = self.chat.session
        request = await asyncio.to_thread(attach_files, text, session.workspace, dict(self._pictures))
        await self._wait_for_servers(text)
        resources, faults = await attach_resources(self.servers, text)
        for fault in [*request.faults, *faults]:
            self.screen.print(self.paint(sanitize_text(fault), YELLOW))
        if (problem := self.chat.saved.problem) and problem != self._checkpoint_problem:
            self._checkpoint_problem = problem
            self.note(f"No checkpoint is saved: {problem} /undo restores only what tools wrote.")
        self.note(*self.chat.saved.collect_notes())
        changed = "" if self.chat.is_busy else await self.chat.saved.describe_outside_changes()
        parts = [*request.parts, *resources, *([f"\n\n{changed}"] if changed else [])]
        await self.send_parts(text, parts, when_busy=when_busy)

    async def _wait_for_servers(self, text: str) -> None:
        """Let MCP servers that are starting finish: for a moment, or until they have if the request names one."""
        names = self.servers.names if self.servers is not None else ()
        is_named = any(f"@{name}:" in text for name in names)
        if not await self.chat.wait_for_servers(None if is_named else _SERVER_SECONDS):
            self.note("MCP servers are still starting; their tools join at the model's next turn.")

    async def send_parts(
        self,
        text: str,
        parts: "Sequence[str | ResultPart]",
        *,
        is_command: bool = False,
        when_busy: WhenBusy = "queue",
    ) -> None:
        """Send a request that begins with the text. Of a command, the text is what was typed instead.

        The first part is what the person wrote; in what is added to it, secret values are hidden.
        """
        session = self.chat.session
        parts = await hide_in_attachments(session, parts)
        if self.chat.is_busy:
            self.note(f"({_WHEN_BUSY[when_busy]}) {text.splitlines()[0][:100]}")
        message = user_message(*parts)
        if is_command:
            message = msgspec.structs.replace(message, said=text)
        message = plan_request(text, message) if self.display.planning else message
        await session.accepted(session.send(message, when_busy=when_busy))

    async def set_planning(self, planning: bool) -> None:
        """Begin or end plan mode."""
        await self.chat.session.set_planning(planning)
        self.follow_session()

    async def set_mode(self, name: str) -> None:
        """Switch to the mode of a name, or to the next one. Calls that are asked for already still wait."""
        mode = self.chat.next_mode() if name == "next" else find_mode(name)
        await self.chat.set_mode(mode)
        self.display.planning = mode.is_planning
        self.note(f"Mode {mode.name}: {mode.description}.")

    def follow_session(self) -> None:
        """Show the events and the mode of the session that is open now."""
        session = self.chat.session
        self.display.session = session.session
        self.display.planning = session.stored_settings.planning
        self.display.plan = None

    async def _refresh(self) -> None:
        footer_at = 0.0
        while True:
            session = self.chat.session if self.chat.is_busy else None
            waiting = session.queued if session is not None else 0
            self.screen.tail = [*self.display.tail, *self._job_rows(), *self._agent_rows()]
            has_text = bool(self.screen.buffer.text)
            self.screen.status = self.display.status(busy=session is not None, waiting=waiting, has_text=has_text)
            if monotonic() >= footer_at:
                footer_at = monotonic() + _FOOTER_SECONDS
                self.screen.footer = self.paint(self._describe_state(), DIM)
            self.screen.refresh()
            await asyncio.sleep(_FRAME_SECONDS)

    def _describe_state(self) -> str:
        """Describe model, used context and cost in one row."""
        used, size = self.chat.session.context_tokens, self.chat.session.context_size
        share = f"{min(used / size, 1):.0%} of {size // 1000}k" if size else f"about {used:,} tokens"
        usd = self.display.usd + self.chat.outside_usd
        cost = [format_usd(usd)] if usd else []
        mode = self.chat.mode
        label = "plan mode" if self.display.planning else f"mode {mode.name}"
        return " · ".join([self.chat.model, f"context {share}", *cost, label])[: self.screen.columns]

    def _job_rows(self) -> list[str]:
        """The commands that run in the background, each with its last line. The end of one is noted once."""
        rows: list[str] = []
        for job in self.chat.background_commands:
            if job.process.running:
                last = next(iter(job.recent_output.rstrip().splitlines()[-1:]), "")
                command = truncate(" ".join(job.command.split()), _JOB_COLUMNS)
                row = sanitize_text(f"  ⧗ {job.name} ({command}) {last}")
                rows.append(self.paint(truncate(row, self.screen.columns), DIM))
            elif job not in self._ended_jobs:
                self._ended_jobs.append(job)
                self.note(f"{describe_job(job)}; /jobs shows its output.")
        return rows[:_MAX_JOB_ROWS]

    def _agent_rows(self) -> list[str]:
        """The goal, and the sub-agents that work in the background, each with what it does now."""
        rows = [f"  ◎ {self.goal.describe()}"] if self.goal is not None else []
        if (sub_agents := self.chat.sub_agents) is not None:
            rows += [f"  ⧗ {row}" for row in sub_agents.rows[:_MAX_JOB_ROWS]]
        return [self.paint(truncate(sanitize_text(row), self.screen.columns), DIM) for row in rows]

    def _note_agent_end(self, sub_agent: "SubAgent") -> None:
        number = sub_agent.number
        more = f", /agents apply {number} applies it" if sub_agent.has_changes else ""
        self.note(f"{sub_agent.describe()}; /agents {number} shows it{more}.")


def _handle(handler: Callable[[KeyPressEvent], object]) -> Callable[[KeyPressEvent], None]:
    """Make a key binding whose result prompt_toolkit does not wait for."""

    def handle(event: KeyPressEvent) -> None:
        handler(event)

    return handle


def _skip_sequence(event: KeyPressEvent) -> None:
    """Pass over the rest of a key sequence that prompt_toolkit does not know: it is neither Esc nor text."""
    queue = event.key_processor.input_queue
    while queue and not "@" <= queue.popleft().data[:1] <= "~":
        pass
