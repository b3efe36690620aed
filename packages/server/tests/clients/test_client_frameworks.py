"""Clients that others build agents and pages with, unchanged from their registry, with the server as their model.

Each is judged by its own messages after a streamed answer, a second turn, a tool, an error and a stop. That a client
stops an answer of many seconds at its first words shows that the answer is streamed.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from heald.core.events import ExchangeResponse
from heald.providers.model import Model
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from registry_clients import npm_folder, run_process
from scripted_agents import LOCATE, slow, weather
from serving_parts import TOKEN, Served, served

pytestmark = pytest.mark.clients

SCRIPTS = Path(__file__).parent / "frameworks"
ALL = "streamed answer, second turn, tool of the client, error, stop"
EARLY = ALL.replace("error", "error before the first word")
CONTINUE = ("@continuedev/openai-adapters@1.37.0",)
LANGGRAPH = ("@langchain/langgraph@1.4.9", "@langchain/openai@1.6.0", "@langchain/core@1.2.13", "zod@4.6.7")
LIBRECHAT = ("@librechat/agents@3.9.2", "@langchain/core@1.2.8")
N8N = ("@langchain/openai@1.4.4", "@langchain/classic@1.0.27", "@langchain/core@1.2.8", "zod@4.6.7")
VERCEL = ("ai@6.0.37",)
ASSISTANT_UI = (
    *("@assistant-ui/react@0.15.20", "@assistant-ui/react-ai-sdk@1.4.12", "@assistant-ui/react-data-stream@0.12.32"),
    *("@ai-sdk/react@4.0.167", "ai@7.0.169", "react@19.3.1", "react-dom@19.3.1", "jsdom@29.1.1"),
)


async def _run(server: Served, script: str, packages: tuple[str, ...], **options: Any) -> dict[str, Any]:
    """Run a script beside its packages. Returns what it prints."""
    folder = await asyncio.to_thread(npm_folder, *packages)
    shutil.copy(SCRIPTS / script, folder / script)
    arguments = {"url": server.url, "token": TOKEN, "tool": LOCATE, **options}
    (line,) = await run_process("node", str(folder / script), json.dumps(arguments))
    await server.wait_idle()
    return json.loads(line)


async def _statuses(server: Served, request: str) -> list[str]:
    """How the exchanges ended in sessions that began with a request."""
    sessions = [info for info in (await server.context.sessions.list(limit=100)).sessions if info.title == request]
    events = [event for info in sessions for event in await server.log(info.id)]
    return [event.data.status for event in events if isinstance(event.data, ExchangeResponse)]


def _check(got: dict[str, Any]) -> None:
    assert got["streamed"]["text"] == "Answer 1 to “Hello”."
    assert got["streamed"]["pieces"] > 0
    assert got["second"] == "Answer 2 to “Thanks”."
    assert got["tool"].removeprefix("I ask you.") == "Done: ok Bergen"
    assert "The model is out of order." in got["error"]


def _complete(request: ReceivedRequest) -> Reply:
    if request.path.endswith("/embeddings"):
        rows = [{"index": index, "embedding": [float(index), 0.5]} for index in range(len(request.body["input"]))]
        return Reply.json({"data": rows, "usage": {"prompt_tokens": 2, "total_tokens": 2}})
    choices = [{"index": 0, "text": text, "finish_reason": end} for text, end in (("a ", None), ("+ b", "stop"))]
    events = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n" for choice in choices]
    return Reply([*events, b"data: [DONE]\n\n"])


@pytest.mark.client(
    "Continue (`@continuedev/openai-adapters`)",
    "1.37.0",
    "`/v1/chat/completions`, `/v1/fim/completions`, `/v1/completions`, `/v1/embeddings`",
    f"{ALL}, fill in the middle, embeddings",
)
async def test_the_adapter_of_continue_chats_completes_and_embeds(tmp_path: Path) -> None:
    async with ScriptedServer(_complete) as provider:
        scripts = {"scripted": slow, "coder": lambda: Model("coder", base_url=f"{provider.url}/v1", api_key="sk-1")}
        async with served(tmp_path, scripts, tools={"weather": weather}) as server:
            got = await _run(server, "continue_adapter.mjs", CONTINUE)
            stopped = await _statuses(server, "A long one")
    _check(got)
    assert stopped == ["cancelled"]
    assert got["fim"] == got["completion"] == "a + b"
    assert got["embedding"] == [[0, 0.5], [1, 0.5]]
    assert provider.requests[0].body["suffix"] == "\n"


@pytest.mark.parametrize(
    "responses",
    [
        pytest.param(False, marks=pytest.mark.client("LangGraph.js agents", "1.4.9", "`/v1/chat/completions`", ALL)),
        pytest.param(True, marks=pytest.mark.client("LangGraph.js agents", "1.4.9", "`/v1/responses`", EARLY)),
    ],
)
async def test_an_agent_of_langgraph(responses: bool, tmp_path: Path) -> None:
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        got = await _run(server, "langgraph_agent.mjs", LANGGRAPH, responses=responses)
        stopped = await _statuses(server, "A long one")
    # ChatOpenAI does not read `response.failed`, with which a stream of that API fails after its first word
    _check({**got, "error": "The model is out of order."} if responses else got)
    assert "There is no model" in got["refused"]
    assert got["kinds"] == ["human", "ai", "tool", "ai"]
    assert stopped == ["cancelled"]


@pytest.mark.client("LibreChat (`@librechat/agents`)", "3.9.2", "`/v1/chat/completions`", ALL)
async def test_an_agent_of_librechat(tmp_path: Path) -> None:
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        got = await _run(server, "librechat_agent.mjs", LIBRECHAT)
        stopped = await _statuses(server, "A long one")
    _check(got)
    assert got["kinds"] == ["ai", "tool", "ai"]
    assert stopped == ["cancelled"]


@pytest.mark.parametrize(
    "responses",
    [
        pytest.param(
            False, marks=pytest.mark.client("n8n (its model and agent)", "2.41.1", "`/v1/chat/completions`", ALL)
        ),
        pytest.param(True, marks=pytest.mark.client("n8n (its model and agent)", "2.41.1", "`/v1/responses`", ALL)),
    ],
)
async def test_the_model_and_the_agent_of_n8n(responses: bool, tmp_path: Path) -> None:
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        got = await _run(server, "n8n_agent.mjs", N8N, responses=responses)
        stopped = await _statuses(server, "A long one")
    _check(got)
    assert got["plain"] == "Answer 1 to “Hello”."
    assert stopped == ["cancelled"]


@pytest.mark.parametrize(
    "runtime",
    [
        pytest.param(
            "chat", marks=pytest.mark.client("assistant-ui (`useChatRuntime`)", "0.15.20", "`/api/chat`", ALL)
        ),
        pytest.param(
            "data-stream",
            marks=pytest.mark.client("assistant-ui (`useDataStreamRuntime`)", "0.15.20", "`/api/chat`", ALL),
        ),
    ],
)
async def test_a_page_of_assistant_ui(runtime: str, tmp_path: Path) -> None:
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        got = await _run(server, "assistant_ui.mjs", ASSISTANT_UI, runtime=runtime)
        statuses = [status for title in ("Hello", "Thanks") for status in await _statuses(server, title)]
    _check(got)
    assert 0 < len(got["stopped"]["text"]) < 1000
    assert got["stopped"]["reason"] == "cancelled"
    assert got["after"] == "Answer 5 to “Go on”."
    assert sorted(statuses) == ["cancelled", *["completed"] * 4, "failed"]


@pytest.mark.client("Vercel's chat template (its requests)", "ai 6.0.37", "`/api/chat`", ALL.replace("client", "agent"))
async def test_the_requests_of_vercels_template(tmp_path: Path) -> None:
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        got = await _run(server, "vercel_template.mjs", VERCEL)
        statuses = await _statuses(server, "Hello")
    _check({**got, "tool": got["tool"].replace("Let me see.", "").replace("Oslo: 3 °C, snow", "Bergen")})
    assert 0 < got["stopped"] < 1000
    assert got["after"] == "Answer 5 to “Go on”."
    assert statuses == ["completed"] * 3 + ["cancelled", "completed", "failed"]


# --- Home Assistant --------------------------------------------------------------------------------------------------


class _HomeAssistant:
    """Sends what Home Assistant's OpenAI integration sends, with the same package, and keeps what it keeps."""

    def __init__(self, client: AsyncOpenAI, **options: Any) -> None:
        self._client: Any = client
        self._options = options
        self.log: list[dict[str, Any]] = [{"type": "message", "role": "developer", "content": "You control a house."}]
        self.pieces = 0

    async def ask(self, text: str) -> str:
        self.log.append({"type": "message", "role": "user", "content": text})
        while True:
            answer, calls = "", list[dict[str, Any]]()
            async for event in self._stream():
                if event.type == "response.output_text.delta":
                    answer += event.delta
                    self.pieces += 1
                elif event.type == "response.output_item.done" and event.item.type == "function_call":
                    item = event.item
                    calls.append({"name": item.name, "arguments": item.arguments, "call_id": item.call_id})
                elif event.type == "response.failed":
                    raise RuntimeError(event.response.error.message)
            if answer:
                self.log.append({"type": "message", "role": "assistant", "content": answer})
            if not calls:
                return answer
            self.log += [{"type": "function_call", **call} for call in calls]
            output = json.dumps("Bergen")
            self.log += [
                {"type": "function_call_output", "call_id": call["call_id"], "output": output} for call in calls
            ]

    async def _stream(self) -> AsyncIterator[Any]:
        request: dict[str, Any] = {"model": "heald", "input": self.log, "max_output_tokens": 3000, "top_p": 1.0}
        request |= {"temperature": 1.0, "user": "conversation-1", "store": False, "stream": True}
        request["tools"] = [{"type": "function", **LOCATE, "strict": False}]
        async for event in await self._client.responses.create(**request | self._options):
            yield event


_GPT_5: dict[str, Any] = {
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "text": {"verbosity": "medium"},
    "tools": [
        {"type": "function", **LOCATE, "strict": False},
        {"type": "web_search_preview", "search_context_size": "medium"},
    ],
}


@pytest.mark.client("Home Assistant (its requests)", f"openai {openai.__version__}", "`/v1/responses`", ALL)
@pytest.mark.parametrize("options", [{}, _GPT_5])
async def test_the_requests_of_home_assistant(options: dict[str, Any], tmp_path: Path) -> None:
    async with (
        served(tmp_path, slow, tools={"weather": weather}) as server,
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, max_retries=0) as client,
    ):
        house = _HomeAssistant(client, **options)
        streamed = {"text": await house.ask("Hello"), "pieces": house.pieces}
        second = await house.ask("Thanks")
        tool = await house.ask("Please locate")
        with pytest.raises((openai.APIError, RuntimeError)) as failed:
            await _HomeAssistant(client, **options).ask("Please fail")
        stopped = asyncio.ensure_future(_HomeAssistant(client, **options).ask("A long one"))
        while not server.context.in_memory().open_sessions.busy:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        stopped.cancel()
        async with asyncio.timeout(60):
            while server.context.in_memory().open_sessions.busy:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    _check({"streamed": streamed, "second": second, "tool": tool.replace('"', ""), "error": str(failed.value)})
