"""Servers beside which Heald's is measured: each streams the deltas of the mock provider and stores nothing.

    python -m benchmarks.rival_servers proxy|pydantic-ai|langgraph|openai-agents PROVIDER

It prints one line of JSON, `{"port": 8000}`, when it listens. The path of a request names the model. `proxy` is
Starlette, aiohttp and orjson with no framework: it reads chunks, parses each event and sends its text. `pydantic-ai` is
its AG-UI adapter; the others are agents behind FastAPI that send the text of each delta.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import aiohttp
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.row import API_KEY
from benchmarks.scenarios import PROMPT
from benchmarks.server_worker import serve_plain

Pieces = Callable[[str], AsyncIterator[str]]
"""Returns the pieces of text that a model streams, by its name."""


def _event(text: str) -> bytes:
    return b"data: %b\n\n" % orjson.dumps({"text": text})


async def serve_proxy(provider: str) -> None:
    """Each request is a request to the provider."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as client:

        async def stream(model: str) -> AsyncGenerator[bytes]:
            body = {"model": model, "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
            rest = b""
            async with client.post(f"{provider}/v1/chat/completions", json=body) as answer:
                async for data in answer.content.iter_any():
                    *events, rest = (rest + data).split(b"\n\n")
                    out = [_event(text) for event in events if (text := _text_of(event))]
                    if out:
                        yield b"".join(out)

        async def listen(request: Request) -> StreamingResponse:
            return StreamingResponse(stream(request.path_params["model"]), media_type="text/event-stream")

        await serve_plain(Starlette(routes=[Route("/{model}", listen)]))


def _text_of(event: bytes) -> str:
    if not event.startswith(b"data: {"):
        return ""
    choices = orjson.loads(event[6:])["choices"]
    return (choices[0]["delta"].get("content") or "") if choices else ""


def pydantic_ai_app(provider: str) -> ASGIApp:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.ui.ag_ui import AGUIAdapter

    endpoint = OpenAIProvider(base_url=f"{provider}/v1", api_key=API_KEY)

    async def run(request: Request) -> Response:
        agent = Agent(OpenAIChatModel(request.path_params["model"], provider=endpoint))
        return await AGUIAdapter.dispatch_request(request, agent=agent)

    return Starlette(routes=[Route("/{model}", run, methods=["POST"])])


def langgraph_pieces(provider: str) -> Pieces:
    from langchain_core.messages import AIMessageChunk, HumanMessage
    from langchain_openai import ChatOpenAI
    from langgraph.graph import START, MessagesState, StateGraph
    from pydantic import SecretStr

    async def pieces(model: str) -> AsyncGenerator[str]:
        chat = ChatOpenAI(model=model, base_url=f"{provider}/v1", api_key=SecretStr(API_KEY), max_retries=0)

        async def call_model(state: MessagesState) -> dict[str, object]:
            return {"messages": [await chat.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", call_model)  # pyright: ignore[reportUnknownMemberType]
        graph.add_edge(START, "model")
        question = MessagesState(messages=[HumanMessage(PROMPT)])
        async for chunk, _ in graph.compile().astream(question, stream_mode="messages"):  # pyright: ignore
            if isinstance(chunk, AIMessageChunk) and chunk.content:
                yield str(chunk.content)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    return pieces


def openai_agents_pieces(provider: str) -> Pieces:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{provider}/v1", api_key=API_KEY, max_retries=0)

    async def pieces(model: str) -> AsyncGenerator[str]:
        run = Runner.run_streamed(Agent(name="bench", model=OpenAIChatCompletionsModel(model, client)), PROMPT)
        async for event in run.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                yield event.data.delta

    return pieces


def fastapi_app(pieces: Pieces) -> ASGIApp:
    """An endpoint of FastAPI that sends each piece as a server-sent event."""
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse as FastAPIStream

    app = FastAPI()

    async def events(model: str) -> AsyncGenerator[bytes]:
        async for piece in pieces(model):
            yield _event(piece)

    async def listen(model: str) -> FastAPIStream:
        return FastAPIStream(events(model), media_type="text/event-stream")

    app.get("/{model}")(listen)
    return app


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["proxy", address]:
            asyncio.run(serve_proxy(address))
        case ["pydantic-ai", address]:
            asyncio.run(serve_plain(pydantic_ai_app(address)))
        case ["langgraph", address]:
            asyncio.run(serve_plain(fastapi_app(langgraph_pieces(address))))
        case ["openai-agents", address]:
            asyncio.run(serve_plain(fastapi_app(openai_agents_pieces(address))))
        case _:
            sys.exit(__doc__)
