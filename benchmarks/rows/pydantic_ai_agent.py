"""pydantic-ai: an `Agent` run whose event stream is read delta by delta, over all four wires."""

from collections.abc import AsyncIterable, Sequence
from functools import cache

from pydantic_ai import Agent, AgentStreamEvent, RunContext, UsageLimits
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT, WIRES, Wire
from benchmarks.tools import add, create_file

_NO_LIMIT = UsageLimits(request_limit=None)


def _model(base_url: str, wire: Wire, model: str) -> Model:
    """Loads the client of this wire alone, as who uses one wire would."""
    if wire == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(base_url=base_url, api_key=API_KEY))
    if wire == "gemini":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(model, provider=GoogleProvider(base_url=base_url, api_key=API_KEY))

    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{base_url}/v1", api_key=API_KEY)
    return (
        OpenAIChatModel(model, provider=provider) if wire == "chat" else OpenAIResponsesModel(model, provider=provider)
    )


@cache
def _agent(base_url: str, wire: Wire, model: str) -> Agent[None, str]:
    agent = Agent(_model(base_url, wire, model))
    agent.tool_plain(add)
    agent.tool_plain(create_file)
    return agent


def remember(_wire: Wire, past: Sequence[EarlierExchange]) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for exchange in past:
        messages += (
            ModelRequest([UserPromptPart(exchange.question)]),
            ModelResponse([ToolCallPart("add", exchange.arguments, exchange.call_id)]),
            ModelRequest([ToolReturnPart("add", exchange.result, exchange.call_id)]),
            ModelResponse([TextPart(exchange.answer)]),
        )
    return messages


async def converse(ask: Ask) -> Seen:
    deltas = 0
    text = ask.pieces()

    async def watch(_: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        nonlocal deltas
        async for event in events:
            if isinstance(event, PartDeltaEvent):
                if isinstance(event.delta, TextPartDelta):
                    deltas += 1
                    text.append(event.delta.content_delta)
                elif isinstance(event.delta, ToolCallPartDelta):
                    deltas += 1
            elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                deltas += 1
                text.append(event.part.content)

    agent = _agent(ask.base_url, ask.wire, ask.model)
    await agent.run(PROMPT, message_history=ask.past or None, event_stream_handler=watch, usage_limits=_NO_LIMIT)
    return Seen("".join(text), deltas)


ROW = Row("pydantic-ai-slim", "import pydantic_ai", WIRES, converse, remember)
