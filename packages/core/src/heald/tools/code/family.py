"""The family `code`: `run_program`. It is not part of `all`."""

import asyncio
from functools import lru_cache, partial

from heald.core.json import JsonObject, loads
from heald.core.messages import Text, ToolResult
from heald.tools.code.channel_lines import ChannelAnswer
from heald.tools.code.program import NO_PYTHON, Program, program_sandbox
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool, stays_inside
from heald.tools.function_tools import tool
from heald.tools.inner_calls import InnerCalls, is_for_programs
from heald.tools.registry import Registry
from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.live_output import LiveOutput
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.whole_results import WholeResults

TIMEOUT = 60
LONGEST = 600
_DAY = 86_400.0
"""The time limit of the call: programs and calls have their own, and a person may take long to decide."""
_LONGEST_PROGRAM = 100_000
_NOTHING = "The program printed nothing; print what you need."


def code_family(sandbox: Sandbox | None) -> tuple[Tool, ...]:
    """Return `run_program`, made once for the path of the sandbox: nothing else of it counts for programs."""
    return _cached_tools(sandbox.path if sandbox is not None else None)


@lru_cache(16)
def _cached_tools(path: str | None) -> tuple[Tool, ...]:
    box = program_sandbox(Sandbox(path=path) if path is not None else None)

    @tool(
        effect="none",
        outside_effect=stays_inside,
        summary=_summary,
        timeout=_DAY,
        from_programs=False,
    )
    async def run_program(ctx: ToolContext, program: str, timeout_s: float = TIMEOUT) -> ToolOutput:
        """Run a Python program that calls your other tools as functions, and return what it prints.

        Use it for calls that depend on each other, for loops over many items, and for results of which you need only a
        part: what is not printed costs no tokens. Each of your other tools is a function with the same name and
        arguments: text = read_file(path="a.txt"). A result that is a JSON object or list becomes a dict or list, any
        other a string. A failed call raises ToolError. parallel(read_file, [{"path": "a.txt"}, {"path": "b.txt"}])
        makes the calls concurrently and returns the results in order. Do not use await. The program has the standard
        library of Python, but no files, no network and no environment; nothing is kept for the next program.

        Args:
            program: The program.
            timeout_s: Seconds after which it is stopped, at most 600, not counting the time of its calls.
        """
        return await _run(box, ctx, program, min(max(timeout_s, 0.1), LONGEST))

    return (run_program,)


async def _run(box: Sandbox, ctx: ToolContext, program: str, limit: float) -> ToolOutput:
    if not program.strip():
        raise ToolFault("The program is empty; write one.", "invalid_program")
    if len(program) > _LONGEST_PROGRAM:
        raise ToolFault(f"The program is longer than {_LONGEST_PROGRAM:,} characters.", "invalid_program")
    host = ctx.host
    if host is None:
        raise ToolFault("Programs call the tools of an agent, and there is none.")
    reason = await asyncio.to_thread(box.available)
    if reason is not None:
        raise ToolFault(reason.replace("Commands", "Programs", 1), "sandbox_unavailable")
    inner_calls = InnerCalls(ctx, host)
    live = LiveOutput(ctx)
    output = CommandOutput(live.show)
    run = Program(box, program, _parameters(host.registry), partial(_call, inner_calls, host.whole_results), output)
    in_time = False
    try:
        async with run:
            in_time = await run.wait(limit)
    finally:
        text = output.close()
        live.flush()
    return _result(run, inner_calls, text, None if in_time else limit)


async def _call(
    inner_calls: InnerCalls, whole_results: WholeResults, name: str, arguments: JsonObject
) -> ChannelAnswer:
    """Run a call of a program, and return its result as the program gets it."""
    result = await inner_calls.run(name, arguments)
    if result.is_error:
        return ChannelAnswer(result.text, is_error=True)
    text = result.text if result.whole is None else await whole_results.read(result.whole.handle)
    return ChannelAnswer(_value(_with_pictures(text, result)))


def _with_pictures(text: str, result: ToolResult) -> str:
    others = [] if isinstance(result.content, str) else [part for part in result.content if not isinstance(part, Text)]
    return f"{text}\n[{len(others)} pictures or files are not passed to a program.]".strip() if others else text


def _value(text: str) -> object:
    """Return the JSON object or list that a text is, else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return loads(text)
    except ValueError:
        return text


def _parameters(registry: Registry) -> dict[str, list[str]]:
    """Return the parameters of each tool that a program may call, in the order of its schema."""
    return {
        tool.name: list(tool.definition.input_schema.get("properties", {}))
        for tool in registry
        if is_for_programs(tool)
    }


def _result(run: Program, inner_calls: InnerCalls, text: str, limit: float | None) -> ToolOutput:
    process = run.process
    excess = run.describe_excess()
    if limit is not None and excess is None:
        raise ToolFault(
            f"The program was ended after {limit:g} s, its time limit. {inner_calls.describe()}{_after(text)}",
            "timeout",
            status="timeout",
        )
    if excess is None and not run.has_begun:
        raise ToolFault(NO_PYTHON, "no_python")
    notes = [f"({note})" for note in inner_calls.notes]
    has_failed = excess is not None or process.exit_code != 0
    if has_failed:
        how = (
            f"{excess} It was ended."
            if excess is not None
            else f"The program ended with exit code {process.exit_code}."
        )
        notes.append(f"({how} {inner_calls.describe()})")
    calls = sum(inner_calls.outcomes.values())
    return ToolOutput(
        content="\n".join([*([text.rstrip("\n")] if text.strip() else []), *notes]) or _NOTHING,
        summary=f"{calls} {'call' if calls == 1 else 'calls'}, {process.elapsed:.1f} s",
        truncated=process.output.truncated,
        is_error=has_failed,
    )


def _after(text: str) -> str:
    return f"\n{text}" if text else ""


def _summary(arguments: JsonObject) -> str:
    lines = [line.strip() for line in str(arguments.get("program", "")).splitlines() if line.strip()]
    return f"{lines[0][:100]} … ({len(lines)} lines)" if len(lines) > 1 else "".join(lines)[:100]
