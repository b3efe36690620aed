"""A tool: what the model is told of it, what it may do, and how it runs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weft.core.json import JsonObject
from weft.core.tools import ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.preview import Preview
from weft.tools.validation import Validator
from weft.tools.workspace.base import Workspace

Effect = Literal["none", "read", "write", "run", "network", "any"]
"""What a tool can do beyond answering. `any` is a function that has not said."""

Run = Callable[[JsonObject, ToolContext], Awaitable[Any]]
"""Runs with arguments that match the schema. It returns any value, or a `ToolOutput`, or raises a `ToolFault`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A resource that a call needs, such as `file:src/app.py`; `file:` alone is the whole workspace.

    A call waits for the earlier ones that change what it needs; two that only read go side by side.
    """

    resource: str
    changes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    definition: ToolDefinition
    run: Run
    effect: Effect = "any"
    access: Callable[[JsonObject], Sequence[Access]] | None = None
    """What a call with these arguments needs for itself."""
    subjects: Callable[[JsonObject], Sequence[str] | None] | None = None
    """What permission rules look at: the parts of a command line, a path. None: too complex to be judged."""
    summary: Callable[[JsonObject], str] | None = None
    """The call in one line, for people."""
    convert: Callable[[JsonObject], JsonObject] | None = None
    """Turns valid JSON arguments into what the function takes; raises ValueError with a path where it cannot."""
    timeout: float | None = None
    """Seconds after which the call is ended. None: the runtime's own."""
    max_output: int | None = None
    """Characters of a result that the model is given. None: the runtime's own."""
    preview: Callable[[Workspace], Preview] | None = None
    """Shows the file that a call will write while the model still writes the call."""
    pure: bool = False
    """Same arguments and same files, same result: it may be cached."""
    idempotent: bool = False
    sequential: bool = False
    """Never beside another call of the same message."""

    validator: Validator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "validator", Validator(self.name, self.definition.input_schema))

    @property
    def name(self) -> str:
        return self.definition.name
