"""Asks the person at the terminal: approvals of calls, and questions of the model."""

import asyncio
import sys
from weakref import WeakKeyDictionary

from heald.commands.terminal import Colours
from heald.core.events import ApprovalRequested, QuestionAsked
from heald.tools.approvals import NOBODY, Approval
from heald.tools.text_call_trust import TEXT_CALL
from heald.tools.visible_text import escape_line

_NOBODY = "There is no terminal for a question. To allow the call, run the command with --permissions auto or --rule."
_NOBODY_FOR_TEXT = (
    "There is no terminal for a question, and a call that is written as text may only be a quotation. If the server of "
    "the model does not parse calls, run `heald conform` once, or this command with --edit-format text."
)
TERMINAL = "terminal"
"""The name in logs of the person at the terminal."""

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def ask_approval(request: ApprovalRequested, asker: str = "heald") -> Approval:
    """Show a call and read the decision as one letter. `asker` is named before it."""
    if not sys.stdin.isatty():
        return Approval(False, _NOBODY_FOR_TEXT if TEXT_CALL in request.reason else _NOBODY)
    async with _turn():
        return await _ask_approval(request, asker)


async def _ask_approval(request: ApprovalRequested, asker: str) -> Approval:
    from heald_cli.approval_view import show_approval

    paint = Colours(sys.stderr)
    view = show_approval(request, paint)
    print("", f"{asker}: {escape_line(request.name)}", *view.lines, sep="\n", file=sys.stderr)
    more = f", [v]iew all ({view.left_out:,} characters are left out)" if view.left_out else ""
    while True:
        answer = (await read_line(f"allow? [y]es, [n]o, [a]lways this{more}: ")).strip().lower()
        if answer in ("v", "view"):
            print(*show_approval(request, paint, whole=True).lines, sep="\n", file=sys.stderr)
        if answer in ("y", "yes"):
            return Approval(True, by=TERMINAL)
        if answer in ("a", "always"):
            return Approval(True, always=True, by=TERMINAL)
        if answer in ("n", "no"):
            reason = (await read_line("why? (for the model; may be empty) ")).strip()
            return Approval(False, reason, by=TERMINAL)


async def ask_question(question: QuestionAsked, asker: str = "heald") -> str:
    """Show a question of the model and read the answer. `asker` is named before it."""
    if not sys.stdin.isatty():
        return NOBODY
    async with _turn():
        return await _ask_question(question, asker)


async def _ask_question(question: QuestionAsked, asker: str) -> str:
    from heald_cli.question_view import question_lines

    lines = question_lines(question, f"{asker}: ", Colours(sys.stderr))
    print("", *lines, sep="\n", file=sys.stderr)
    answer = (await read_line("a number, or an answer of your own: ")).strip()
    if answer.isdecimal() and 1 <= int(answer) <= len(question.suggestions):
        return question.suggestions[int(answer) - 1]
    return answer


def _turn() -> asyncio.Lock:
    """The lock of the terminal: a question is answered before the next is shown, so no answer is for another one."""
    return _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def read_line(prompt: str) -> str:
    """Read a line. Unlike a thread that reads, this wait can be cancelled."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sys.stdin)
    line = sys.stdin.readline()
    if not line:
        raise EOFError("standard input was closed")
    return line
