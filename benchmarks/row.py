"""The interface of a row: one client library, and how it holds a whole conversation with the mock server."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.native import native
from benchmarks.scenarios import Wire

API_KEY = "sk-bench"


@dataclass(frozen=True)
class Ask:
    """What a row is asked for: the wire and the model, which chooses the scenario, and what was said before."""

    base_url: str
    wire: Wire
    model: str
    past: Sequence[Any] = ()
    """The conversation so far, in the row's own form. It is used again and must not be changed."""
    pieces: Callable[[], list[str]] = list
    """Makes the list that the pieces of text are appended to as they arrive."""


@dataclass(frozen=True)
class Seen:
    """What reached the row: its text as a whole, and the number of deltas of text and of arguments."""

    text: str
    deltas: int


Converse = Callable[[Ask], Awaitable[Seen]]
Remember = Callable[[Wire, Sequence[EarlierExchange]], Sequence[Any]]


@dataclass(frozen=True)
class Row:
    """A row of the table.

    `converse(ask)` sends the prompt after the past, with the two tools, looks at every delta as it arrives,
    executes the calls that the model makes, sends the results back, and returns when the model makes no more.

    `imports` is the statement whose time is measured; `package` is the distribution whose version is shown.
    `remember` puts a past conversation into the row's own form; it is called before anything is measured.
    """

    package: str
    imports: str
    wires: tuple[Wire, ...]
    converse: Converse
    remember: Remember = native
    joins: bool = False
    """Deltas that came in one read reach the row as one, so their number says nothing. Their text is compared."""
