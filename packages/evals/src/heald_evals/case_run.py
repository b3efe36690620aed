"""One run of a case, as its checks see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heald.agent.request_message import Prompt
from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult


@dataclass(frozen=True, repr=False)
class CaseRun:
    """The exchange of a case: its result and its events. A check gets it and decides whether it is right."""

    case: str
    """The name of the case."""
    prompt: Prompt
    expected: Any
    """The `expected` of the case."""
    result: AgentResult[Any]
    events: Sequence[Event]
    """The log of the exchange, with the events of its sub-agents."""

    def __repr__(self) -> str:
        return f"CaseRun({self.case!r}, {self.result.status})"

    @property
    def text(self) -> str:
        """The last text of the model."""
        return self.result.text

    @property
    def output(self) -> Any:
        """The typed output of the agent, or None."""
        return self.result.output

    @property
    def files(self) -> dict[str, str]:
        """The text files that were written, as they were at the end."""
        return self.result.files

    @property
    def calls(self) -> list[ToolCall]:
        """All calls of tools, in their order, with those of sub-agents."""
        return [event.data for event in self.events if isinstance(event.data, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """The results of all calls, in the order in which they ended."""
        return [event.data for event in self.events if isinstance(event.data, ToolResult)]
