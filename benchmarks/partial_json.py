"""What it costs to parse tool arguments while they arrive, against only keeping them.

Realistic escaped HTML arrives in 8-byte deltas. All contenders take turns in one run; the figures are CPU
time for each byte of arguments, and the multiple of the first contender, which only keeps the deltas.

    python -m benchmarks.partial_json
"""

import argparse
import gc
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import jiter

from benchmarks.content import cut, html, to_json
from benchmarks.report import table
from heald.wires.partial_json import PartialJson

SIZES = {"2 KB": 2_000, "20 KB": 20_000, "200 KB": 200_000, "2 MB": 2_000_000}
TARGET_SIZE = "200 KB"
LOOK_EVERY = 128

_SECONDS = 0.03


class Appended:
    """Bare concatenation: a list of deltas, joined at the end."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def feed(self, text: str) -> None:
        self._pieces.append(text)

    @property
    def value(self) -> str:
        return "".join(self._pieces)


class Concatenated:
    """The other bare concatenation: one string, longer with each delta."""

    def __init__(self) -> None:
        self.value = ""

    def feed(self, text: str) -> None:
        self.value += text


@dataclass(frozen=True)
class Contender:
    """A way to take the deltas; `largest` is the size after which it takes too long to be shown."""

    name: str
    take: Callable[[Sequence[str]], object]
    largest: int = max(SIZES.values())


def append(deltas: Sequence[str]) -> str:
    text = Appended()
    for delta in deltas:
        text.feed(delta)
    return text.value


def concatenate(deltas: Sequence[str]) -> str:
    text = Concatenated()
    for delta in deltas:
        text.feed(delta)
    return text.value


def parse_each_delta(deltas: Sequence[str]) -> object:
    parser = PartialJson()
    for delta in deltas:
        parser.feed(delta)
        parser.grow()
    return parser.close()


def parse_now_and_then(deltas: Sequence[str]) -> object:
    parser = PartialJson()
    for number, delta in enumerate(deltas):
        parser.feed(delta)
        if number % LOOK_EVERY == 0:
            parser.grow()
    return parser.close()


def parse_at_the_end(deltas: Sequence[str]) -> object:
    parser = PartialJson()
    for delta in deltas:
        parser.feed(delta)
    return parser.close()


def jiter_each_delta(deltas: Sequence[str]) -> object:
    buffer = bytearray()
    value: object = None
    for delta in deltas:
        buffer += delta.encode()
        value = jiter.from_json(bytes(buffer), partial_mode="trailing-strings")
    return value


BARE = Contender("append, join at the end", append)
GROWN = Contender("self.text += delta", concatenate, largest=200_000)
PARSERS = (
    Contender("PartialJson, growth at each delta", parse_each_delta),
    Contender("PartialJson, growth once a kilobyte", parse_now_and_then),
    Contender("PartialJson, value at the end", parse_at_the_end),
)
CONTENDERS = (
    BARE,
    GROWN,
    *PARSERS,
    Contender("jiter partial mode at each delta", jiter_each_delta, largest=20_000),
)


def nanoseconds_a_byte(take: Callable[[Sequence[str]], object], deltas: Sequence[str], size: int) -> float:
    """The mean of as many runs as fit in a moment."""
    gc.collect()
    runs = 0
    start = time.process_time_ns()
    while True:
        take(deltas)
        runs += 1
        spent = time.process_time_ns() - start
        if spent >= _SECONDS * 1e9:
            return spent / runs / size


def check(text: str, deltas: Sequence[str]) -> None:
    """The parser must give what `json` gives, and the growths must add up to it."""
    whole = json.loads(text)
    parser = PartialJson()
    grown: list[str] = []
    for delta in deltas:
        parser.feed(delta)
        grown += [piece for path, piece in parser.grow() if path == ("content",)]
    assert parser.close() == whole
    assert "".join(grown) == whole["content"]


def measure(size: int, rounds: int) -> dict[str, float]:
    """The median of interleaved rounds for each contender that can take this size."""
    text = to_json({"path": "src/pages/dashboard.html", "content": html(size)})
    deltas = cut(text)
    check(text, deltas)
    length = len(text.encode())
    able = [contender for contender in CONTENDERS if size <= contender.largest]
    samples: dict[str, list[float]] = {contender.name: [] for contender in able}
    for _ in range(rounds + 1):
        for contender in able:
            samples[contender.name].append(nanoseconds_a_byte(contender.take, deltas, length))
    return {name: median(values[1:]) for name, values in samples.items()}


def _cell(costs: dict[str, float], name: str) -> str:
    if name not in costs:
        return "too slow"
    return f"{costs[name]:.1f} ns ({costs[name] / costs[BARE.name]:.2f}×)"


def _sentence(name: str, measured: dict[str, dict[str, float]]) -> str:
    at_target = measured[TARGET_SIZE]
    costs = [measured[label][name] for label in SIZES]
    return (
        f"- {name}: at {TARGET_SIZE} {at_target[name] / at_target[BARE.name]:.2f}× of `{BARE.name}` and"
        f" {at_target[name] / at_target[GROWN.name]:.2f}× of `{GROWN.name}`;"
        f" a byte costs {min(costs):.0f} to {max(costs):.0f} ns from the smallest to the largest size."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.partial_json", description="The partial JSON parser.")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds after a warm-up")
    rounds = parser.parse_args().rounds
    measured = {label: measure(size, rounds) for label, size in SIZES.items()}
    rows = [[contender.name, *(_cell(measured[label], contender.name) for label in SIZES)] for contender in CONTENDERS]
    print("### Arguments in 8-byte deltas: CPU for each byte, and as a multiple of the bare concatenation\n")
    print(table(["contender", *SIZES], rows))
    print("\n" + "\n".join(_sentence(contender.name, measured) for contender in PARSERS))


if __name__ == "__main__":
    main()
