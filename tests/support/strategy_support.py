"""Strategies for tests."""

from collections.abc import Sequence

from heald.agent.strategy import Strategy
from heald.core.ids import new_id
from heald.core.messages import ToolCall


class WriteAnswer(Strategy):
    """Reads a final answer that begins with `<` as a call that writes it into a file."""

    def read_text(self, text: str) -> Sequence[ToolCall]:
        if not text.startswith("<"):
            return ()
        return [ToolCall(id=new_id("final"), name="create_file", input={"path": "answer.html", "content": text})]
