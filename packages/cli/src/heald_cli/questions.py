"""Asks the person at the terminal: approvals of calls, and questions of the model."""

import asyncio
import sys

from heald.commands.terminal import Colours
from heald.core.events import ApprovalRequested, QuestionAsked
from heald.tools.approvals import NOBODY, Approval
from heald.tools.sanitize import sanitize_text

_NOBODY = "There is no terminal for a question. To allow the call, run the command with --permissions auto or --rule."


async def ask_approval(request: ApprovalRequested, asker: str = "heald") -> Approval:
    """Show a call and read the decision as one letter. `asker` is named before it."""
    if not sys.stdin.isatty():
        return Approval(False, _NOBODY)
    from heald_cli.approval_view import approval_lines

    details = "\n".join(approval_lines(request, Colours(sys.stderr)))
    print(f"\n{asker}: {sanitize_text(request.name)}\n{details}", file=sys.stderr)
    while True:
        answer = (await read_line("allow? [y]es, [n]o, [a]lways this: ")).strip().lower()
        if answer in ("y", "yes"):
            return Approval(True)
        if answer in ("a", "always"):
            return Approval(True, always=True)
        if answer in ("n", "no"):
            return Approval(False, (await read_line("why? (for the model; may be empty) ")).strip())


async def ask_question(question: QuestionAsked, asker: str = "heald") -> str:
    """Show a question of the model and read the answer. `asker` is named before it."""
    if not sys.stdin.isatty():
        return NOBODY
    print(f"\n{asker}: {sanitize_text(question.text)}", file=sys.stderr)
    for number, suggestion in enumerate(question.suggestions, 1):
        print(f"  {number}. {sanitize_text(suggestion)}", file=sys.stderr)
    answer = (await read_line("a number, or an answer of your own: ")).strip()
    if answer.isdecimal() and 1 <= int(answer) <= len(question.suggestions):
        return question.suggestions[int(answer) - 1]
    return answer


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
