"""`heald chat` without a terminal: each line of standard input is a request, answers are printed as plain text."""

import asyncio
import sys

from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.core.messages import Image, user_message
from heald.tools.workspace.base import Workspace
from heald_cli.chat.session import ChatSession
from heald_cli.chat.stdin_lines import StdinLines
from heald_cli.commands.run import EXIT_CODES
from heald_cli.console_printer import ConsolePrinter
from heald_cli.output_guard import OutputGuard
from heald_cli.questions import ask_approval, ask_question

_LEAVING = ("/exit", "/quit")


async def chat_plain(chat: ChatSession, prompt: str | None = None) -> int:
    """Answer a first request, if there is one, then the lines of standard input, one after the other. Returns the exit
    code of the last that failed."""
    session = chat.session
    guard = OutputGuard(ConsolePrinter(), session.cancel)
    session.subscribe(guard)
    session.answer_with(on_approval=ask_approval, on_question=ask_question)
    if sys.stdin.isatty():
        print_note("Each line is a request; /exit ends.")
    code = 0
    if prompt and prompt.strip():
        code = await _answer(chat, prompt.strip())
        guard.check()
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
    from heald_cli.chat.attachments import hide_in_attachments

    attached = await asyncio.to_thread(_attach, request, chat.session.workspace)
    changed = await chat.saved.describe_outside_changes()
    parts = [*attached, *([f"\n\n{changed}"] if changed else [])]
    result = await chat.session.run(user_message(*await hide_in_attachments(chat.session, parts)))
    if result.error is not None:
        print_note(result.error.message)
    return EXIT_CODES[result.status]


def _expand(chat: ChatSession, text: str) -> str:
    """Replace a command that the user or the project wrote by its text."""
    if not text.startswith("/"):
        return text
    name, _, arguments = text[1:].partition(" ")
    command = chat.find_own_command(name)
    if command is None:
        raise ConfigurationError(f"/{name[:40]} works in a terminal only; here each line is a request.")
    return command.expand(arguments.strip())


def _attach(text: str, workspace: Workspace) -> "list[str | Image]":
    from heald_cli.chat.attachments import attach_files

    request = attach_files(text, workspace)
    for fault in request.faults:
        print_note(fault)
    return list(request.parts)
