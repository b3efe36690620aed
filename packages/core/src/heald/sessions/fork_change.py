"""What differs in a fork of a session, from the event on at which it begins."""

from dataclasses import dataclass
from typing import Any

from heald.agent.model_chain import ModelLike
from heald.agent.request_message import Prompt, as_user_message
from heald.core.errors import ConfigurationError
from heald.core.events import ForkedPart
from heald.core.messages import Message, ToolCall, ToolResult
from heald.tools.approvals import Approval
from heald.tools.client_results import parse_client_result
from heald.tools.result_text import truncate_content
from heald.tools.runtime import MAX_OUTPUT
from heald.tools.tool_fault import ToolFault


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkChange:
    """What differs in a fork: another prompt, result or approval, and with each of them, or alone, another model.

    Without any of them, the turn is requested again as it was.
    """

    model: ModelLike | None = None
    """The model that is asked for the turn of the event, and for all later ones."""
    prompt: Prompt | None = None
    """The request of the exchange of the event: the exchange is run anew."""
    result: Any = None
    """The result of a call, as a text, parts or JSON: the next turn is requested with it."""
    is_error: bool = False
    """Whether the result is that of a call that failed."""
    approval: bool | Approval | None = None
    """The decision on a call: it is run or refused."""
    call: str | None = None
    """The id of that call. By default it is the call that the event belongs to."""

    def __post_init__(self) -> None:
        parts = [part for part in self.changed if part != "model"]
        if len(parts) > 1:
            raise ConfigurationError(
                f"ForkChange: {' and '.join(parts)} exclude each other; fork once for each of them."
            )
        if self.is_error and self.result is None:
            raise ConfigurationError("ForkChange: is_error says how a result is meant; give result= too.")
        if self.call is not None and not {"result", "approval"} & set(parts):
            raise ConfigurationError("ForkChange: call names the call of a result or an approval; give one of them.")
        self.message()
        self.tool_result(ToolCall(id="", name="", input={}))

    @property
    def changed(self) -> list[ForkedPart]:
        """The parts that differ."""
        parts: dict[ForkedPart, object] = {
            "model": self.model,
            "prompt": self.prompt,
            "result": self.result,
            "approval": self.approval,
        }
        return [part for part, change in parts.items() if change is not None]

    @property
    def model_name(self) -> str:
        """The name of the other model. Empty without one, and for one that has no name."""
        if isinstance(self.model, str):
            return self.model
        return "" if self.model is None else str(getattr(self.model, "name", ""))

    def message(self) -> Message | None:
        """Return the other request."""
        return None if self.prompt is None else as_user_message(self.prompt)

    def decision(self) -> Approval | None:
        """Return the other decision."""
        return Approval(self.approval) if isinstance(self.approval, bool) else self.approval

    def tool_result(self, call: ToolCall) -> ToolResult | None:
        """Return the other result, as that of a call."""
        if self.result is None:
            return None
        output = parse_client_result(self.result, self.is_error)
        if isinstance(output, ToolFault):
            raise ConfigurationError("A result cannot be a denial; change the approval of the call instead.")
        content, is_cut = truncate_content(output.content, MAX_OUTPUT)
        status = "error" if output.is_error else "ok"
        return ToolResult(id=call.id, name=call.name, status=status, content=content, truncated=is_cut)
