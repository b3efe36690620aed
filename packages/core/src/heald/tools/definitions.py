"""`Tool`: its definition for the model, its effect, its locks, and the preview of the file that it will write."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import msgspec

from heald.core.arguments import CheckedFields, check_fields
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.core.messages import ToolCall, ToolDefinition
from heald.core.short_text import quote
from heald.tools.context import ToolContext
from heald.tools.validation import Validator
from heald.tools.workspace.base import Workspace

TOOL_NAME = lazy_pattern(r"[a-zA-Z0-9_-]{1,64}\Z")
"""The names of tools that every provider accepts."""

Growth = tuple[tuple[str | int, ...], str]
"""Path of a string in the arguments and the text appended to it, as `wires.partial_json` reports it."""


class CallPreview(Protocol):
    """Previews the file that a call will write, while its arguments stream in."""

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        """Process new argument text. Yield `(path, text)` for text to append to a file's preview."""
        ...

    def end(self) -> Iterable[tuple[str, str]]:
        """Yield the rest of the preview once the arguments are complete."""
        ...


class WholeFile:
    """The preview of tools with a `path` and a whole-file `content` argument. Text before the path is buffered."""

    def __init__(self, _: Workspace) -> None:
        self._path: list[str] = []
        self._held: list[str] = []  # text received before the path

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        for key, text in growths:
            if key == ("path",):
                self._path.append(text)
            elif key == ("content",):
                if self._path and not self._held:
                    yield "".join(self._path), text
                else:
                    self._held.append(text)

    def end(self) -> Iterable[tuple[str, str]]:
        if self._held and self._path:
            yield "".join(self._path), "".join(self._held)
            self._held = []


Effect = Literal["none", "read", "write", "run", "network", "any"]
"""The side effect of a tool. `any` is the default of functions that declare none."""

Run = Callable[[JsonObject, ToolContext[Any]], Awaitable[Any]]
"""Called with arguments that match the schema. Returns any value or a `ToolOutput`, or raises a `ToolFault`."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that a call needs, such as `file:src/app.py`; `file:` alone is the whole workspace.

    A call waits for earlier calls with a conflicting access. Two reads do not conflict.
    """

    resource: str
    changes: bool = True


def stays_inside(_: JsonObject) -> str | None:
    """The `outside_effect` of a tool whose calls all stay in the workspace."""
    return None


class Tool(msgspec.Struct, frozen=True, kw_only=True, dict=True, metaclass=CheckedFields):
    """A tool that a model may call. `heald.tool` makes one of a function; make one directly for a schema of your own.

    What is not set is unknown, and treated with caution: such a tool may change anything, is never repeated after a
    crash, and its results are not cached.
    """

    definition: ToolDefinition
    """The name, the description and the JSON Schema of the arguments, as the model gets them."""
    run: Run
    """Runs one call: a coroutine function of the arguments and the `ToolContext`."""
    effect: Effect = "any"
    """What a call may do: `none`, `read`, `write`, `run`, `network` or `any`. Permissions decide by it."""
    access: Callable[[JsonObject], Sequence[Access]] | None = None
    """The resources that a call with these arguments locks."""
    subjects: Callable[[JsonObject], Sequence[str] | None] | None = None
    """The strings that permission rules match, such as a path or the commands of a line. None: they cannot be told."""
    outside_effect: Callable[[JsonObject], str | None] | None = None
    """Returns why a call reaches beyond the workspace, or None if it stays inside. Unset: it may reach anything."""
    summary: Callable[[JsonObject], str] | None = None
    """A one-line description of a call for the user interface."""
    convert: Callable[[JsonObject], JsonObject] | None = None
    """Converts valid JSON arguments to the function's types. Raises ValueError with the path of an invalid value."""
    timeout: float | None = None
    """Time limit in seconds. None: the runtime's default."""
    max_output: int | None = None
    """Maximum characters of a result that is sent to the model. None: the runtime's default."""
    preview: Callable[[Workspace], CallPreview] | None = None
    """Previews the file that a call will write, while the model still streams the call."""
    pure: bool = False
    """The result depends only on the arguments and the files, so it may be cached."""
    idempotent: bool = False
    """A repeated call has no further effect, so a call that a crash interrupted is run again."""
    sequential: bool = False
    """Never runs concurrently with another call of the same message."""
    identity: str = ""
    """A digest of the tool if another can appear under its name. A permanent approval counts for one identity."""
    on_client: bool = False
    """A client runs it: the call waits for the result and needs no lock and no slot."""
    stands_for: Callable[[JsonObject], ToolCall] | None = None
    """Returns the call of another tool that a call of this one stands for. That one is permitted, runs and is recorded;
    this one never runs. Raises ToolFault."""
    from_programs: bool = True
    """Whether programs of `run_program` may call it."""
    deps_types: tuple[Any, ...] = ()
    """The types that `ToolContext.deps` must have. A request without them is refused."""

    def __post_init__(self) -> None:
        check_fields(self)
        self._check_name()
        _ = self.validator  # reports a wrong schema when the tool is made

    def _check_name(self) -> None:
        """Refuse a name that APIs refuse, while the tool is made: a request with it would fail."""
        if not TOOL_NAME.match(self.name):
            raise ConfigurationError(
                f"{self.name[:80]!r} is not a valid name for a tool: use at most 64 letters, digits, _ and -."
            )

    @cached_property
    def validator(self) -> Validator:
        """Checks arguments by the schema."""
        return Validator(self.name, self.definition.input_schema, lazy=self.convert is not None)

    @cached_property
    def never_waits(self) -> bool:
        """Whether a call never waits for anything, so that it is run at once. Known of coroutine functions without
        `await` that `heald.tool` made a tool of."""
        return False

    @cached_property
    def ignores_context(self) -> bool:
        """Whether `run` makes no use of the `ToolContext`. Known of functions without a parameter for it that
        `heald.tool` made a tool of."""
        return False

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.definition.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {quote(self.definition.description)}>"
