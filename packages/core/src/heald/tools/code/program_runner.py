"""Runs inside the sandbox: defines a function for each tool and runs the program of the model.

It is passed to `python3 -c` as text, so it imports nothing of Heald. Its argument is the descriptor of the channel.
Each line of the channel is JSON: first an empty object, which is answered with the program and the tools, then a line
for each call, and a line for each result. Nothing here protects anything: the program may write to the channel what it
likes.
"""

import builtins
import itertools
import json
import keyword
import linecache
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

_FILE = "<program>"
_AT_ONCE = 8


class ToolError(Exception):
    """A call failed; the text is its result."""


class _Channel:
    """Sends calls and waits for their results, also of several threads at once."""

    def __init__(self, descriptor: int) -> None:
        self._output = descriptor
        self._input = os.fdopen(descriptor, "rb", closefd=False)
        self._numbers = itertools.count(1)
        self._sending = threading.Lock()
        self._results: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._send(b"{}\n")
        self.task: dict[str, Any] = json.loads(self._input.readline())
        threading.Thread(target=self._receive, daemon=True).start()

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        number = next(self._numbers)
        line = json.dumps({"id": number, "name": name, "arguments": arguments}, allow_nan=False).encode() + b"\n"
        if len(line) > self.task["max_line"]:
            raise ToolError(f"The arguments of {name} are too long: at most {self.task['max_line']:,} bytes.")
        result: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._results[number] = result
        try:
            self._send(line)
            answer = result.get()
        finally:
            del self._results[number]
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer["value"]

    def _send(self, line: bytes) -> None:
        with self._sending:
            while line:
                line = line[os.write(self._output, line) :]

    def _receive(self) -> None:
        with suppress(OSError):  # the program has closed the channel
            for line in self._input:
                answer = json.loads(line)
                waiting = self._results.get(answer["id"])
                if waiting is not None:
                    waiting.put(answer)
        for waiting in list(self._results.values()):
            waiting.put({"error": "The channel to the tools is closed."})


def _make_function(channel: _Channel, name: str, parameters: list[str]) -> Callable[..., Any]:
    def function(*values: Any, **arguments: Any) -> Any:
        if len(values) > len(parameters):
            raise TypeError(f"{name}() takes at most {len(parameters)} arguments: {', '.join(parameters)}")
        named = dict(zip(parameters, values))  # noqa: B905
        twice = named.keys() & arguments.keys()
        if twice:
            raise TypeError(f"{name}() got two values for {', '.join(sorted(twice))}")
        return channel.call(name, {**named, **arguments})

    function.__name__ = function.__qualname__ = name
    return function


def _identifier(name: str) -> str:
    """Return the name of the function of a tool: one that Python accepts and does not use itself."""
    name = re.sub(r"\W", "_", name)
    if name[:1].isdigit():
        name = f"_{name}"
    is_taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in ("ToolError", "parallel", "call_tool")
    return f"{name}_" if is_taken else name


def parallel(function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
    """Call a function for each item, several at once. An item is a dict of arguments, a tuple, or one argument."""
    from concurrent.futures import ThreadPoolExecutor

    def apply(item: Any) -> Any:
        if isinstance(item, dict):
            return function(**item)
        return function(*item) if isinstance(item, tuple) else function(item)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(apply, items))


def _report(error: BaseException) -> None:
    """Print an error with the lines of the program only."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    lines = traceback.format_exception_only(type(error), error)
    if frames:
        lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames), *lines]
    sys.stdout.flush()
    sys.stderr.write("".join(lines))


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    channel = _Channel(int(sys.argv[1]))
    program: str = channel.task["program"]
    names: dict[str, Any] = {}
    for name, parameters in channel.task["tools"].items():
        names.setdefault(_identifier(name), _make_function(channel, name, parameters))

    def call_tool(name: str, /, *values: Any, **arguments: Any) -> Any:
        return _make_function(channel, name, channel.task["tools"].get(name, []))(*values, **arguments)

    names |= {"__name__": "__main__", "ToolError": ToolError, "parallel": parallel, "call_tool": call_tool}
    linecache.cache[_FILE] = (len(program), None, program.splitlines(keepends=True), _FILE)
    try:
        exec(compile(program, _FILE, "exec"), names)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
