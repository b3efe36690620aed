"""The interface of a row: one client library, and how it holds a whole conversation with the mock server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.scenarios import Wire

API_KEY = "sk-bench"


@dataclass(frozen=True)
class Seen:
    """What reached the row: its text as a whole, and the number of deltas of text and of arguments."""

    text: str
    deltas: int


Converse = Callable[[str, Wire, str], Awaitable[Seen]]


@dataclass(frozen=True)
class Row:
    """A row of the table.

    `converse(base_url, wire, model)` sends the prompt with the two tools, looks at every delta as it arrives,
    executes the calls that the model makes, sends the results back, and returns when the model makes no more.
    The model's name chooses the scenario.

    `imports` is the statement whose time is measured; `package` is the distribution whose version is shown.
    """

    package: str
    imports: str
    wires: tuple[Wire, ...]
    converse: Converse
