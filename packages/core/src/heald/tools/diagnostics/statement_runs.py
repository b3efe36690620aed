"""Runs statements of failing tests on a file that a model wrote, in the sandbox, before the file is written."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import which

import msgspec

from heald.core.json import encode_text, loads
from heald.tools.diagnostics.confined_program import ConfinedProgram
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault

_SECONDS = 20.0
_LATE = "It does not end in time."


class StatementRun(msgspec.Struct, frozen=True):
    """What became of a statement."""

    statement: str
    passes: bool
    fault: str = ""
    """What it raised."""


async def run_statements(
    sandbox: Sandbox, root: str, path: str, text: str, statements: Sequence[str]
) -> list[StatementRun]:
    """Run statements on a file of Python, with the folder read-only and without a network. Those that name what only
    their test defines are left out; so are all of them if there is no sandbox, or no Python."""
    python = which("python3", path=sandbox.path)
    if python is None or not statements or sandbox.available() is not None:
        return []
    try:
        running = await ConfinedProgram.start(sandbox, root, [python, "-B", "-c", _read_program()])
    except ToolFault:
        return []
    task = encode_text({"path": path, "text": text, "statements": list(statements)})
    lines: list[bytes] = []
    is_late = False
    try:
        async with asyncio.timeout(_SECONDS):
            assert running.process.stdin is not None and running.process.stdout is not None
            running.process.stdin.write(task.encode("utf-8", "surrogatepass"))
            running.process.stdin.close()
            while len(lines) < len(statements) and (line := await running.process.stdout.readline()):
                lines.append(line)
    except TimeoutError:
        is_late = True
    except (ConnectionError, ValueError):  # it has ended, or printed a line without an end
        pass
    finally:
        await asyncio.shield(running.stop())
    runs = _read_lines(lines, statements)
    late = statements[len(lines) : len(lines) + 1] if is_late else ()
    return [*runs, *(StatementRun(statement, passes=False, fault=_LATE) for statement in late)]


def _read_lines(lines: Sequence[bytes], statements: Sequence[str]) -> list[StatementRun]:
    runs: list[StatementRun] = []
    for statement, line in zip(statements, lines, strict=False):
        try:
            outcome, fault = msgspec.convert(loads(line), tuple[str, str])
        except (ValueError, msgspec.ValidationError):
            return runs  # the file has written to the report
        if outcome != "unknown":
            runs.append(StatementRun(statement, outcome == "passes", fault))
    return runs


@cache
def _read_program() -> str:
    return Path(__file__).with_name("statement_program.py").read_text("utf-8")
