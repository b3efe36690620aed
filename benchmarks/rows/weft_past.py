"""What both rows of Weft share: the model at the mock server, and a past conversation as Weft keeps it."""

from collections.abc import Sequence

import weft
from benchmarks.past import PastExchange
from benchmarks.row import API_KEY, Ask
from benchmarks.scenarios import Wire
from weft.core.messages import Message, assistant, tool_results, user
from weft.core.tools import ToolCall, ToolResult


def model_of(ask: Ask) -> weft.Model:
    version = "v1beta" if ask.wire == "gemini" else "v1"
    return weft.Model(ask.model, wire=ask.wire, base_url=f"{ask.base_url}/{version}", api_key=API_KEY)


def remember(_wire: Wire, past: Sequence[PastExchange]) -> list[Message]:
    messages: list[Message] = []
    for exchange in past:
        call = ToolCall(id=exchange.call_id, name="add", input=exchange.arguments)
        result = ToolResult(id=call.id, name="add", status="ok", content=exchange.result)
        messages += (
            user(exchange.question),
            Message(role="assistant", content=[call]),
            tool_results([result]),
            assistant(exchange.answer),
        )
    return messages
