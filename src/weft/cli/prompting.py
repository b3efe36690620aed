"""Approvals and questions on the terminal. Where nobody is there, the model is told so."""

import asyncio
import sys

from weft.core.events import ApprovalRequested, QuestionAsked
from weft.tools.approvals import Approval
from weft.tools.printable import printable

_NOBODY = "Nobody is there to be asked. Whoever started this can allow it with --permissions auto or --rule."


async def decide(request: ApprovalRequested) -> Approval:
    """Ask with a line, take one letter."""
    if not sys.stdin.isatty():
        return Approval(False, _NOBODY)
    print(f"\nweft: {printable(request.name)}\n{printable(request.summary)}", file=sys.stderr)
    while True:
        answer = (await _read("allow? [y]es, [n]o, [a]lways this: ")).strip().lower()
        if answer in ("y", "yes"):
            return Approval(True)
        if answer in ("a", "always"):
            return Approval(True, always=True)
        if answer in ("n", "no"):
            return Approval(False, (await _read("why? (for the model; may be empty) ")).strip())


async def reply(question: QuestionAsked) -> str:
    if not sys.stdin.isatty():
        return "Nobody is there to answer. Decide by yourself, and say what you assumed."
    print(f"\nweft: {printable(question.text)}", file=sys.stderr)
    for number, suggestion in enumerate(question.suggestions, 1):
        print(f"  {number}. {printable(suggestion)}", file=sys.stderr)
    answer = (await _read("a number, or an answer of your own: ")).strip()
    if answer.isdecimal() and 1 <= int(answer) <= len(question.suggestions):
        return question.suggestions[int(answer) - 1]
    return answer


async def _read(prompt: str) -> str:
    """A line from the terminal. The wait for it can be cancelled, as a thread's could not."""
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
