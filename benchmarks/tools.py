"""The two tools that models call in the benchmarks, and a ledger of what was really executed.

They are coroutines, so that no framework sends them to a thread.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


@dataclass
class Ledger:
    """Counts executions, so that a row which skips the work is found out."""

    calls: int = 0
    characters: int = 0

    def clear(self) -> None:
        self.calls = 0
        self.characters = 0


ledger = Ledger()


async def add(a: int, b: int) -> str:
    """Add two numbers."""
    ledger.calls += 1
    return str(a + b)


async def create_file(path: str, content: str) -> str:
    """Create a file with this content."""
    ledger.calls += 1
    ledger.characters += len(content)
    return f"Wrote {path}."


ToolFunction = Callable[..., Awaitable[str]]


@dataclass(frozen=True)
class Tool:
    """A tool as clients without decorators want it: name, description, JSON schema and function."""

    name: str
    description: str
    schema: Mapping[str, object]
    function: ToolFunction


def _schema(**types: str) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": type_} for name, type_ in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }


TOOLS = (
    Tool("add", "Add two numbers.", _schema(a="integer", b="integer"), add),
    Tool(
        "create_file",
        "Create a file with this content.",
        _schema(path="string", content="string"),
        create_file,
    ),
)
FUNCTIONS: Mapping[str, ToolFunction] = {tool.name: tool.function for tool in TOOLS}
