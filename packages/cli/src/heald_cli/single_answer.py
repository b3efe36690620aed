"""One answer of a model outside of a conversation: a commit message, a pull request, a review."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald.agent.agent import Agent
from heald.agent.budget import Budget
from heald.agent.model_chain import ModelLike
from heald.agent.result import AgentResult
from heald.core.errors import HealdError
from heald.core.turn import Reason

if TYPE_CHECKING:
    from heald.tools.registry import ToolLike

_MAX_CHARACTERS = 30_000
_CHARACTERS_A_TOKEN = 2
"""Of code, counted so that half of the context is left."""


class NoAnswer(HealdError):
    """The model gave no answer that can be used."""


class AnswerWriter:
    """Asks a model, each time in a conversation of its own, and counts the cost."""

    def __init__(
        self,
        model: ModelLike,
        *,
        folder: str | None = None,
        tools: "Sequence[ToolLike | str]" = (),
        temperature: float | None = None,
        reasoning: Reason | None = None,
    ) -> None:
        self._model = model
        self._temperature = temperature
        self._reasoning: Reason | None = reasoning
        self._folder = folder
        self._tools = tools
        self.cost_usd: float | None = 0.0
        """The cost of all answers; None if a price is not known."""
        self.results: list[AgentResult] = []

    @property
    def max_characters(self) -> int:
        """The characters of code that fit into a request."""
        size = Agent(self._model).context_size
        return _MAX_CHARACTERS if size is None else min(_MAX_CHARACTERS, size * _CHARACTERS_A_TOKEN)

    async def write(self, request: str, instructions: str) -> str:
        """Return the text of the answer. Raises NoAnswer."""
        agent = Agent(
            self._model,
            instructions=instructions,
            default_instructions=bool(self._tools),
            tools=self._tools,
            workspace=self._folder if self._tools else None,
            permissions="read-only",
            edit_format="tools",
            temperature=self._temperature,
            reasoning=self._reasoning,
            budget=Budget(),
        )
        result = await agent.run(request)
        self.results.append(result)
        if self.cost_usd is not None:
            self.cost_usd = None if result.cost_usd is None else self.cost_usd + result.cost_usd
        if not result.completed:
            reason = result.error.message if result.error is not None else result.note or f"it ended as {result.status}"
            raise NoAnswer(f"The model gave no answer: {reason}")
        return result.text.strip()
