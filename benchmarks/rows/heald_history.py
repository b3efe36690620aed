"""What both rows of Heald share: the model at the mock server, and a past conversation as Heald keeps it."""

from collections.abc import Sequence

import heald
from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.row import API_KEY, Ask
from benchmarks.scenarios import Wire
from heald.core.messages import Message, ToolCall, ToolResult, assistant, tool_results, user_message


def model_of(ask: Ask) -> heald.Model:
    version = "v1beta" if ask.wire == "gemini" else "v1"
    return heald.Model(ask.model, wire=ask.wire, base_url=f"{ask.base_url}/{version}", api_key=API_KEY)


def remember(_wire: Wire, past: Sequence[EarlierExchange]) -> list[Message]:
    messages: list[Message] = []
    for exchange in past:
        call = ToolCall(id=exchange.call_id, name="add", input=exchange.arguments)
        result = ToolResult(id=call.id, name="add", status="ok", content=exchange.result)
        messages += (
            user_message(exchange.question),
            Message(role="assistant", content=[call]),
            tool_results([result]),
            assistant(exchange.answer),
        )
    return messages
