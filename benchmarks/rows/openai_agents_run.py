"""openai-agents: a streamed `Runner` run over Chat Completions or Responses."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from agents import (
    Agent,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.native import native
from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT, Wire
from benchmarks.tools import add, create_file

_MAX_TURNS = 1000

set_tracing_disabled(True)


@cache
def _agent(base_url: str, wire: Wire, model: str) -> Agent[Any]:
    client = AsyncOpenAI(base_url=f"{base_url}/v1", api_key=API_KEY, max_retries=0)
    spoken: Model = OpenAIChatCompletionsModel(model, client) if wire == "chat" else OpenAIResponsesModel(model, client)
    return Agent(name="bench", model=spoken, tools=[function_tool(add), function_tool(create_file)])


def remember(_wire: Wire, past: Sequence[EarlierExchange]) -> list[Any]:
    """Items of Responses, whatever the wire: they are the library's own form."""
    return native("responses", past)


async def converse(ask: Ask) -> Seen:
    question: str | list[Any] = [*ask.past, {"role": "user", "content": PROMPT}] if ask.past else PROMPT
    run = Runner.run_streamed(_agent(ask.base_url, ask.wire, ask.model), question, max_turns=_MAX_TURNS)
    deltas = 0
    text = ask.pieces()
    async for event in run.stream_events():
        if event.type != "raw_response_event":
            continue
        if event.data.type == "response.output_text.delta":
            deltas += 1
            text.append(event.data.delta)
        elif event.data.type == "response.function_call_arguments.delta":
            deltas += 1
    return Seen("".join(text), deltas)


ROW = Row("openai-agents", "import agents", ("chat", "responses"), converse, remember)
