"""`weft chat` without a terminal: each line of standard input is a request, answers are printed as plain text."""

import asyncio
import os
import sys
from contextlib import suppress
from threading import Thread

from weft.agent.reactors import ApprovalReactor, QuestionReactor
from weft.cli.chat.session import ChatSession
from weft.cli.event_printer import ConsolePrinter, OutputGuard
from weft.cli.questions import ask_approval, ask_question
from weft.cli.run import EXIT_CODES
from weft.cli.terminal import print_note
from weft.core.errors import ConfigurationError
from weft.core.messages import Image, user_message
from weft.tools.workspace.base import Workspace

_LEAVING = ("/exit", "/quit")


async def chat_plain(chat: ChatSession) -> int:
    """Answer the lines of standard input, one after the other. Returns the exit code of the first that failed."""
    session = chat.session
    approvals = session.runtime.approvals
    guard = OutputGuard(ConsolePrinter(), session.cancel)
    session.subscribe(guard)
    session.subscribe(ApprovalReactor(ask_approval, approvals.resolve))
    session.subscribe(QuestionReactor(ask_question, approvals.answer))
    if sys.stdin.isatty():
        print_note("Each line is a request; /exit ends.")
    code = 0
    lines = StdinLines()
    while line := await lines.read():
        text = line.strip()
        if text in _LEAVING:
            break
        if text:
            code = await _answer(chat, text) or code
            guard.check()
    return code


async def _answer(chat: ChatSession, text: str) -> int:
    request = _expand(chat, text)
    attached = await asyncio.to_thread(_attach, request, chat.session.workspace)
    result = await chat.session.run(user_message(*attached))
    if result.error is not None:
        print_note(result.error.message)
    return EXIT_CODES[result.status]


def _expand(chat: ChatSession, text: str) -> str:
    """Replace a command that the user or the project wrote by its text."""
    if not text.startswith("/"):
        return text
    name, _, arguments = text[1:].partition(" ")
    own = chat.find_own_command(name)
    if own is None:
        raise ConfigurationError(f"/{name[:40]} works in a terminal only; here each line is a request.")
    return own.expand(arguments.strip())


def _attach(text: str, workspace: Workspace) -> "list[str | Image]":
    from weft.cli.chat.attachments import attach_files

    request = attach_files(text, workspace)
    for fault in request.faults:
        print_note(fault)
    return list(request.parts)


class StdinLines:
    """Lines of standard input. Unlike a thread that reads with `sys.stdin`, a wait for one can be cancelled."""

    def __init__(self) -> None:
        self._held = b""

    async def read(self) -> str:
        """Return the next line; empty at the end."""
        while b"\n" not in self._held and (data := await _read_bytes()):
            self._held += data
        line, end, self._held = self._held.partition(b"\n")
        try:
            return (line + end).decode(sys.stdin.encoding)
        except UnicodeDecodeError:
            raise ConfigurationError("Standard input is not text.") from None


async def _read_bytes() -> bytes:
    """Read what there is of standard input, in a thread that does not hold up the end of the process."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        try:
            data = os.read(sys.stdin.fileno(), 65536)
        except OSError:  # such as a terminal that was closed
            data = b""
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(lambda: found.done() or found.set_result(data))

    Thread(target=read, name="weft-stdin", daemon=True).start()
    return await found
