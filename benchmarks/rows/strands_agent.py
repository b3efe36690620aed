"""strands: an `Agent` streamed over Chat Completions."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# The library is only partly typed.

from collections.abc import Sequence
from functools import cache
from typing import Any

from openai import AsyncOpenAI
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.openai import OpenAIModel

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT, Wire
from benchmarks.tools import add, create_file


@cache
def _client(base_url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{base_url}/v1", api_key=API_KEY, max_retries=0)


def remember(_wire: Wire, past: Sequence[EarlierExchange]) -> list[Any]:
    messages: list[Any] = []
    for exchange in past:
        call = {"toolUseId": exchange.call_id, "name": "add", "input": exchange.arguments}
        result = {"toolUseId": exchange.call_id, "status": "success", "content": [{"text": exchange.result}]}
        messages += (
            {"role": "user", "content": [{"text": exchange.question}]},
            {"role": "assistant", "content": [{"toolUse": call}]},
            {"role": "user", "content": [{"toolResult": result}]},
            {"role": "assistant", "content": [{"text": exchange.answer}]},
        )
    return messages


async def converse(ask: Ask) -> Seen:
    agent = Agent(
        model=OpenAIModel(client=_client(ask.base_url), model_id=ask.model),
        messages=list(ask.past),
        tools=[tool(add), tool(create_file)],
        callback_handler=None,
        conversation_manager=NullConversationManager(),
    )
    deltas = 0
    text = ask.pieces()
    async for event in agent.stream_async(PROMPT):
        if "data" in event:
            deltas += 1
            text.append(event["data"])
        elif event.get("type") == "tool_use_stream":
            deltas += 1
    return Seen("".join(text), deltas)


ROW = Row("strands-agents", "import strands, strands.models.openai", ("chat",), converse, remember)
