"""strands: an `Agent` streamed over Chat Completions."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# The library is only partly typed.

from functools import cache

from openai import AsyncOpenAI
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.openai import OpenAIModel

from benchmarks.row import API_KEY, Row, Seen
from benchmarks.scenarios import PROMPT, Wire
from benchmarks.tools import add, create_file


@cache
def _client(base_url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{base_url}/v1", api_key=API_KEY, max_retries=0)


async def converse(base_url: str, _wire: Wire, model: str) -> Seen:
    agent = Agent(
        model=OpenAIModel(client=_client(base_url), model_id=model),
        tools=[tool(add), tool(create_file)],
        callback_handler=None,
        conversation_manager=NullConversationManager(),
    )
    deltas = 0
    text: list[str] = []
    async for event in agent.stream_async(PROMPT):
        if "data" in event:
            deltas += 1
            text.append(event["data"])
        elif event.get("type") == "tool_use_stream":
            deltas += 1
    return Seen("".join(text), deltas)


ROW = Row("strands-agents", "import strands, strands.models.openai", ("chat",), converse)
