"""Connects keys, requests, slash commands and the screen of `weft chat`."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from time import monotonic
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyPressEvent
from prompt_toolkit.keys import Keys

from weft.cli.chat.attachments import attach_files, clipboard_picture, complete_mention, normalize_paste
from weft.cli.chat.display import EventDisplay
from weft.cli.chat.screen import ChatScreen
from weft.cli.chat.session import ChatSession
from weft.cli.chat.work_commands import compact_conversation, review_changes, run_shell_line, show_diff
from weft.cli.event_printer import Transcript
from weft.cli.mcp_input import attach_resources, complete_resource, expand_prompt, prompt_commands
from weft.cli.sessions import format_time
from weft.cli.terminal import BOLD, DIM, RED, YELLOW, Colours
from weft.core.errors import ConfigurationError, WeftError
from weft.core.messages import Image, ResultPart
from weft.sessions.store import SessionInfo
from weft.tools.approvals import NotPending
from weft.tools.sanitize import sanitize_text

if TYPE_CHECKING:
    from weft.tools.mcp import McpServers

_log = logging.getLogger("weft.chat")
_THINK_SECONDS = 0.4
"""Seconds after a call is shown in which a key press does not decide it."""
_TWICE_SECONDS = 2.0
_HISTORY_LINES = 60
_FRAME_SECONDS = 0.06
_MAX_CHARACTERS = 200_000
_PASTE_LINES, _PASTE_CHARACTERS = 20, 4_000
"""A longer paste is shown as a marker."""
_INTERRUPTED = "The person interrupted."
_KEY_HELP = (
    "Enter sends; Alt-Enter or Ctrl-J begins a new line. Requests wait while an answer runs.",
    "Esc interrupts. Ctrl-C clears the line, then interrupts, then leaves; Ctrl-D leaves.",
    "@path attaches a file or the list of a folder (Tab completes); a path to a picture attaches the picture.",
    "@server:address attaches a resource of an MCP server, /server:prompt uses a prompt of it.",
    "Ctrl-V attaches the picture in the clipboard.",
    "!command runs a command of yours in the folder; the model sees it and its output with your next request.",
)


class ChatConsole:
    """One run of `weft chat`."""

    def __init__(
        self,
        chat: ChatSession,
        screen: ChatScreen,
        display: EventDisplay,
        paint: Colours,
        servers: "McpServers | None" = None,
    ) -> None:
        self.chat = chat
        self.servers = servers
        self.screen = screen
        self.paint = paint
        self._display = display
        self._requests: asyncio.Queue[str] = asyncio.Queue()
        self._interrupted_at = -_TWICE_SECONDS
        self._pictures: dict[str, Image] = {}  # from the clipboard, by their marker in the line
        self._pastes: dict[str, str] = {}  # long texts, by their marker in the line
        self._clipboard: asyncio.Task[None] | None = None
        self._bind_keys()

    async def run(self) -> None:
        """Read and send requests until the person quits."""
        loop = asyncio.get_running_loop()
        tasks = [
            loop.create_task(self._refresh(), name="weft-chat-refresh"),
            loop.create_task(self._process_requests(), name="weft-chat-requests"),
        ]
        loop.add_signal_handler(signal.SIGTERM, self.quit)
        try:
            await self.screen.run()
        finally:
            tasks += [self._clipboard] if self._clipboard is not None else []
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def quit(self) -> None:
        self.screen.close()

    def note(self, *lines: str) -> None:
        self.screen.print(*(self.paint(sanitize_text(line), DIM) for line in lines))

    def show_error(self, error: Exception) -> None:
        self.screen.print(self.paint(sanitize_text(str(error)), RED))

    async def show_history(self) -> None:
        """Print the end of the conversation so far."""
        transcript = Transcript(self.paint)
        lines = [line for event in await self.chat.history() for line in transcript.lines(event)]
        left = len(lines) - _HISTORY_LINES
        if left > 0:
            self.note(f"… {left} earlier lines; `weft sessions show {self.chat.session.session}` prints all")
        self.screen.print(*lines[-_HISTORY_LINES:])
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
            ("c-v",): lambda _: self._attach_picture(is_asked=True),
            (Keys.BracketedPaste,): lambda event: self._paste(event.data),
        }
        for names, handler in keys.items():
            self.screen.bindings.add(*names)(_handle(handler))
        is_deciding = Condition(lambda: self._display.approval is not None and not self.screen.buffer.text)
        for name in "yYnNaA":
            self.screen.bindings.add(name, filter=is_deciding)(self._decide)

    def _decide(self, event: KeyPressEvent) -> None:
        """Decide a call by one key press. A text that was typed ahead or pasted decides nothing."""
        request = self._display.approval
        if request is None or event.key_processor.input_queue:
            self.screen.buffer.insert_text(event.data)
            return
        if monotonic() - self._display.approval_since < _THINK_SECONDS:
            return
        session = self.chat.session
        answer = event.data.lower()
        with suppress(NotPending):  # its exchange has just ended
            if answer == "n":
                session.deny(request.approval, "The person said no.")
            else:
                session.approve(request.approval, always=answer == "a", digest=request.digest)

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
            self._clipboard = asyncio.get_running_loop().create_task(reading, name="weft-chat-clipboard")

    async def _read_clipboard(self, is_asked: bool) -> None:
        """Add the picture in the clipboard to the request that is typed."""
        try:
            picture = await asyncio.to_thread(clipboard_picture)
        except WeftError as error:
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
            text, names = complete_command(before, [each.command for each in prompt_commands(self.servers)])
        else:
            text, names = complete_mention(before, self.chat.session.workspace)
            if not names:
                text, names = complete_resource(self.servers, before)
        self.screen.set_text(text + after, len(text))
        if text == before and len(names) > 1:
            self.note("  ".join(names[:40]))

    # --- requests ----------------------------------------------------------------------------------------------------

    def _submit(self, text: str) -> None:
        text = sanitize_text(text)[:_MAX_CHARACTERS]
        if not text.strip():
            return
        if self._display.question is not None and not text.startswith("/"):
            self._answer(self._expand(text).strip())
        else:
            self._requests.put_nowait(text)

    def _expand(self, text: str) -> str:
        """Replace the markers of long pastes by their text."""
        for marker, paste in self._pastes.items():
            text = text.replace(marker, paste)
        return text

    def _answer(self, text: str) -> None:
        question, self._display.question = self._display.question, None
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
                    await self._send(self._expand(text))
            except WeftError as error:
                self.show_error(error)
            except Exception as error:
                _log.exception("A request failed.")
                self.show_error(WeftError(f"Weft failed ({type(error).__name__}); chat.log has the details."))

    async def _send(self, text: str) -> None:
        session = self.chat.session
        request = await asyncio.to_thread(attach_files, text, session.workspace, dict(self._pictures))
        resources, faults = await attach_resources(self.servers, text)
        for fault in [*request.faults, *faults]:
            self.screen.print(self.paint(sanitize_text(fault), YELLOW))
        await self.send_parts(text, [*request.parts, *resources])

    async def send_parts(self, text: str, parts: "Sequence[str | ResultPart]") -> None:
        """Send a request that begins with the text."""
        session = self.chat.session
        if self.chat.is_busy:
            self.note(f"(waits for its turn) {text.splitlines()[0][:100]}")
        await session.accepted(session.send(list(parts)))

    async def _refresh(self) -> None:
        while True:
            session = self.chat.session if self.chat.is_busy else None
            waiting = session.engine.waiting if session is not None else 0
            self.screen.tail = self._display.tail
            has_text = bool(self.screen.buffer.text)
            self.screen.status = self._display.status(busy=session is not None, waiting=waiting, has_text=has_text)
            self.screen.refresh()
            await asyncio.sleep(_FRAME_SECONDS)


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


# --- slash commands -------------------------------------------------------------------------------------------------


async def run_command(console: ChatConsole, text: str) -> None:
    """Run the command of a line that begins with a slash."""
    name, _, rest = text[1:].strip().partition(" ")
    command = CHAT_COMMANDS.get(name)
    if command is None:
        parts = await expand_prompt(console.servers, text)
        if parts is not None:
            await console.send_parts(text, parts)
            return
        known = [*CHAT_COMMANDS, *(each.command for each in prompt_commands(console.servers))]
        near = get_close_matches(name, known, 1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists all."
        raise ConfigurationError(f"There is no /{name[:40]}; {hint}")
    await command[1](console, rest.strip())


def complete_command(text: str, prompts: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Complete a command or a prompt of an MCP server: the completed text, and all that match."""
    found = [f"/{name}" for name in [*CHAT_COMMANDS, *prompts] if name.startswith(text[1:])]
    return (f"{found[0]} " if len(found) == 1 else text), found


async def _help(console: ChatConsole, _: str) -> None:
    width = max(len(name) for name in CHAT_COMMANDS) + 2
    prompts = [f"{each.usage}  {each.description}" for each in prompt_commands(console.servers)]
    console.note(*(f"/{name:<{width}} {text}" for name, (text, _) in CHAT_COMMANDS.items()), *prompts, *_KEY_HELP)


async def _model(console: ChatConsole, name: str) -> None:
    chat = console.chat
    if not name:
        console.note(f"The model is {chat.model}. /model provider/name changes it:", *await chat.model_names())
        return
    _check_idle(console)
    await chat.change_model(name)
    console.note(f"From here on with {name}.")


async def _undo(console: ChatConsole, _: str) -> None:
    _check_idle(console)
    console.note(*await console.chat.undo())


async def _cost(console: ChatConsole, _: str) -> None:
    console.note(await console.chat.cost())


async def _resume(console: ChatConsole, which: str) -> None:
    _check_idle(console)
    earlier = await console.chat.earlier()
    if not earlier:
        console.note("There is no earlier conversation in this folder.")
        return
    if not which:
        numbered = enumerate(earlier, 1)
        titles = [f"{number:>3}. {format_time(info.updated)}  {info.title[:70]}" for number, info in numbered]
        console.note(*titles, "/resume 1 goes on with the first.")
        return
    await console.chat.resume(_find_conversation(earlier, which))
    await console.show_history()
    console.note(f"Going on with {console.chat.model}.")


async def _new(console: ChatConsole, _: str) -> None:
    _check_idle(console)
    await console.chat.begin()
    console.note("A new conversation. /resume has the earlier ones.")


async def _clear(console: ChatConsole, _: str) -> None:
    await _new(console, "")
    console.screen.clear()


async def _mcp(console: ChatConsole, _: str) -> None:
    servers = console.servers
    if servers is None:
        console.note("No MCP server is named; --mcp or an [mcp.NAME] table in weft.toml names one.")
        return
    for name in servers.names:
        fault = servers.failures.get(name)
        tools = sum(tool.name.startswith(f"{name}__") for tool in servers.tools)
        prompts = sum(prompt.server == name for prompt in servers.prompts)
        resources = sum(server == name for server, _, _ in servers.resources)
        about = str(fault) if fault is not None else f"{tools} tools, {prompts} prompts, {resources} resources"
        console.note(f"{name}: {about}")


async def _exit(console: ChatConsole, _: str) -> None:
    console.quit()


def _find_conversation(earlier: list[SessionInfo], which: str) -> SessionInfo:
    if which.isdecimal() and 1 <= int(which) <= len(earlier):
        return earlier[int(which) - 1]
    found = [info for info in earlier if info.id.startswith(which)]
    if len(found) != 1:
        raise ConfigurationError(f"{which[:40]!r} is not in the list; give a number from 1 to {len(earlier)}.")
    return found[0]


def _check_idle(console: ChatConsole) -> None:
    if console.chat.is_busy:
        raise ConfigurationError("An answer is being written; wait for its end, or interrupt it with Esc.")


CHAT_COMMANDS: dict[str, tuple[str, Callable[[ChatConsole, str], Awaitable[None]]]] = {
    "help": ("this list", _help),
    "model": ("list models, or /model NAME to change it", _model),
    "diff": ("show what this conversation changed, or /diff PATH", show_diff),
    "undo": ("undo the last exchange and its changes of files", _undo),
    "review": ("let the model review the changes, or /review WHAT", review_changes),
    "compact": ("let the model summarise the conversation; /compact undo restores it", compact_conversation),
    "clear": ("begin a new conversation and clear the screen", _clear),
    "resume": ("list earlier conversations of this folder, or /resume N to continue one", _resume),
    "new": ("begin a new conversation", _new),
    "mcp": ("show the MCP servers, and how many tools, prompts and resources each has", _mcp),
    "cost": ("show tokens and cost so far", _cost),
    "exit": ("leave; the conversation is stored", _exit),
    "quit": ("the same", _exit),
}
