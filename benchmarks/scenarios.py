"""The scenarios: the model name that asks for each, what the server answers, and what a row must have seen.

A scenario travels as the model name of the request, so every client can ask for one without a special header.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from benchmarks.content import cut, html, text_deltas, to_json

Kind = Literal["text", "turns", "calls", "args", "history", "paced"]
Wire = Literal["chat", "responses", "messages", "gemini"]

WIRES: tuple[Wire, ...] = get_args(Wire)
DEFAULT: tuple[str, ...] = ("text-1", "text-1000", "turns-20", "calls-8", "history-20", "args-20k", "args-200k")
PAST = 200
"""Turns that a conversation holds already, where a `history` scenario names no other number."""
FINAL_TEXT = "All done."
PROMPT = "Go."

_NAME = re.compile(r"(?:bench-)?(?:(text|turns|calls|args|paced)-(\d+)(k?)|(history)-(\d+)(?:-over-(\d+))?)")


@dataclass(frozen=True)
class Call:
    """One tool call that the server asks for; `number` makes its id unique in the conversation."""

    number: int
    name: str
    arguments: Mapping[str, str | int]

    @property
    def deltas(self) -> Sequence[str]:
        """The arguments as JSON text, as it is streamed."""
        return cut(to_json(self.arguments))


@dataclass(frozen=True)
class Expected:
    """What a row that did all the work has seen at the end of a scenario."""

    text: str
    deltas: int
    calls: int
    characters: int


@dataclass(frozen=True)
class Scenario:
    """A kind of load and its size: deltas, turns, parallel calls, or bytes of arguments; `past` counts the turns before
    it."""

    name: str
    kind: Kind
    size: int
    past: int = 0

    def calls(self, results: int) -> tuple[Call, ...]:
        """The calls of the answer after this many tool results since the prompt; none if it is a text."""
        if self.kind in ("turns", "history") and results < self.size:
            return (_addition(results),)
        if self.kind == "calls" and results == 0:
            return tuple(map(_addition, range(self.size)))
        if self.kind == "args" and results == 0:
            return (Call(0, "create_file", {"path": "src/pages/dashboard.html", "content": html(self.size)}),)
        return ()

    @property
    def text(self) -> tuple[str, ...]:
        """The deltas of the answer without calls."""
        return text_deltas(self.size) if self.kind in ("text", "paced") else (FINAL_TEXT,)

    @property
    def turns(self) -> int:
        """The answers that the server gives in one run."""
        if self.kind in ("turns", "history"):
            return self.size + 1
        return 2 if self.kind in ("args", "calls") else 1

    @property
    def expected(self) -> Expected:
        """The deltas are a lower bound: a client may fold the first fragments of a call into its start."""
        if self.kind in ("turns", "history", "calls"):
            return Expected(FINAL_TEXT, deltas=1, calls=self.size, characters=0)
        if self.kind == "args":
            content = html(self.size)
            return Expected(FINAL_TEXT, deltas=len(content) // 8, calls=1, characters=len(content))
        deltas = text_deltas(self.size)
        return Expected("".join(deltas), deltas=len(deltas), calls=0, characters=0)


def _addition(number: int) -> Call:
    return Call(number, "add", {"a": number, "b": 1000})


@cache
def scenario(name: str) -> Scenario:
    """The scenario of a name such as `text-1000` or `history-20-over-800`, with or without `bench-` before it."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"no scenario named {name!r}; examples are {', '.join(DEFAULT)}, paced-200")
    name = name.removeprefix("bench-")
    if match[4] is not None:
        return Scenario(name, "history", int(match[5]), int(match[6] or PAST))
    kind: Kind = match[1]  # pyright: ignore[reportAssignmentType]
    return Scenario(name, kind, int(match[2]) * (1000 if match[3] else 1))
