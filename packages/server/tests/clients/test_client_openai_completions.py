"""The `openai` package for Python against /v1/completions, /v1/embeddings and /v1/models/{id}, which are passed on to a
provider: a scripted one, in the form of each API that has them."""

import asyncio
import base64
import struct
from collections.abc import Awaitable, Callable
from json import dumps
from pathlib import Path
from typing import Any

import openai
import pytest
from msgspec.structs import replace
from openai import AsyncOpenAI
from yarl import URL

import heald
from heald.providers.model import Model
from heald.providers.resolve import resolve_endpoint
from heald.testing.server import Cut, Hang, ReceivedRequest, Reply, ScriptedServer
from heald_server.agent_access import AgentAccess
from heald_server.agent_context import agent_context
from heald_server.http.errors import ApiError
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import OTHER, TOKEN, S, Served, served, serving

KEY = "sk-secret-of-the-operator-1234567890"
USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
INFILL_END = {"content": "", "stop": True, "stop_type": "eos", "tokens_evaluated": 7, "tokens_predicted": 2}


def _client(server: Served, token: str = TOKEN) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0)


def _at(provider: str, scripted: ScriptedServer, name: str = "coder") -> Callable[[], Model]:
    """A model of a provider whose address is that of a scripted server."""
    endpoint = resolve_endpoint(provider)
    prefix = "" if provider == "ollama" else "/v1beta" if provider == "gemini" else "/v1"
    return lambda: Model.at(replace(endpoint, base_url=scripted.url + prefix), name, KEY)


def _events(*events: object) -> Reply:
    return Reply([b"data: " + dumps(event).encode() + b"\n\n" for event in events] + [b"data: [DONE]\n\n"])


def _text_choice(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": finish, "logprobs": None}]}


def _complete(request: ReceivedRequest) -> Reply:
    if not request.body["stream"]:
        return Reply.json(_text_choice("a + b", "stop") | {"usage": USAGE})
    return _events(_text_choice("a "), _text_choice("+ b", "stop"), {"choices": [], "usage": USAGE})


def _complete_fim(request: ReceivedRequest) -> Reply:
    if not request.body["stream"]:
        message = {"role": "assistant", "content": "a + b"}
        return Reply.json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE})
    first = {"choices": [{"index": 0, "delta": {"content": "a "}, "finish_reason": None}]}
    last = {"choices": [{"index": 0, "delta": {"content": "+ b"}, "finish_reason": "stop"}], "usage": USAGE}
    return _events(first, last)


def _infill(request: ReceivedRequest) -> Reply:
    if not request.body["stream"]:
        return Reply.json(INFILL_END | {"content": "a + b"})
    events = [{"content": "a ", "stop": False}, {"content": "+ b", "stop": False}, INFILL_END]
    return Reply([b"data: " + dumps(event).encode() + b"\n\n" for event in events])


@pytest.mark.parametrize(
    ("provider", "path", "answer", "sent"),
    [
        ("openai", "/v1/completions", _complete, {"suffix": "\n", "max_tokens": 9, "seed": 4, "presence_penalty": 0.5}),
        ("vllm", "/v1/completions", _complete, {"suffix": "\n", "max_tokens": 9, "seed": 4}),
        ("ollama", "/v1/completions", _complete, {"suffix": "\n", "max_tokens": 9, "seed": 4}),
        ("deepseek", "/beta/completions", _complete, {"suffix": "\n", "max_tokens": 9}),
        ("mistral", "/v1/fim/completions", _complete_fim, {"suffix": "\n", "max_tokens": 9, "random_seed": 4}),
        ("llamacpp", "/infill", _infill, {"input_prefix": "add = ", "input_suffix": "\n", "n_predict": 9, "seed": 4}),
    ],
)
async def test_text_between_a_prompt_and_a_suffix(
    provider: str, path: str, answer: Any, sent: dict[str, Any], tmp_path: Path
) -> None:
    async with (
        ScriptedServer(answer) as scripted,
        served(tmp_path, {"m": _at(provider, scripted)}) as server,
        _client(server) as client,
    ):
        ask: dict[str, Any] = {"prompt": "add = ", "suffix": "\n", "max_tokens": 9, "stop": ["\n\n"], "seed": 4}
        ask |= {"model": "m", "temperature": 0.1, "presence_penalty": 0.5}
        create: Any = client.completions.create
        whole = await create(**ask)
        stream = await create(**ask, stream=True, stream_options={"include_usage": True})
        chunks: list[Any] = [chunk async for chunk in stream]
        plain: list[Any] = [chunk async for chunk in await create(**ask, stream=True)]
        raw: Any = client.completions.with_raw_response
        dropped = await raw.create(**ask)
        await server.context.meters.close()
        spent = await server.context.open_sessions.store.read_spending("", seconds=3600)
    assert [request.path for request in scripted.requests] == [path] * 4
    body = scripted.requests[0].body
    assert body.items() >= (sent | {"stop": ["\n\n"], "temperature": 0.1, "stream": False}).items()
    assert scripted.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (whole.choices[0].text, whole.choices[0].finish_reason, whole.model) == ("a + b", "stop", "m")
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (7, 2)
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == "a + b"
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 9
    assert all(chunk.usage is None for chunk in plain)
    assert (dropped.headers.get("x-heald-dropped") or "") == ("presence_penalty" if provider == "mistral" else "")
    assert spent.tokens == 36


async def test_llama_cpp_completes_a_prompt_without_a_suffix_by_its_other_endpoint(tmp_path: Path) -> None:
    async with (
        ScriptedServer(_complete) as scripted,
        served(tmp_path, {"m": _at("llamacpp", scripted)}) as server,
        _client(server) as client,
    ):
        whole = await client.completions.create(model="m", prompt="add = ")
    assert whole.choices[0].text == "a + b"
    assert scripted.requests[0].path == "/v1/completions"
    assert "suffix" not in scripted.requests[0].body


async def test_the_same_in_the_form_of_mistral(tmp_path: Path) -> None:
    async with ScriptedServer(_complete) as scripted, served(tmp_path, {"m": _at("openai", scripted)}) as server:
        body = {"model": "m", "prompt": "add = ", "suffix": "\n", "random_seed": 4}
        async with server.client.post("/v1/fim/completions", json=body) as answer:
            whole = await answer.json()
        async with server.client.post("/v1/fim/completions", json=body | {"stream": True}) as answer:
            lines = (await answer.text()).split()
    assert whole["choices"][0]["message"] == {"role": "assistant", "content": "a + b"}
    assert scripted.requests[0].body["seed"] == 4
    assert lines[-1] == "[DONE]"
    assert '"delta":{"role":"assistant","content":"+' in "".join(lines)


@pytest.mark.parametrize("streams", [False, True])
async def test_a_refusal_of_the_provider_has_a_status_and_no_key(streams: bool, tmp_path: Path) -> None:
    error = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    script = [Reply.json(error, 401), Reply.json({"error": {"message": "Slow down"}}, 429, {"retry-after": "7"})]
    async with (
        ScriptedServer(script) as scripted,
        served(tmp_path, {"m": _at("openai", scripted)}) as server,
        _client(server) as client,
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.completions.create(model="m", prompt="x", stream=streams)
        with pytest.raises(openai.RateLimitError) as slowed:
            await client.completions.create(model="m", prompt="x", stream=streams)
    assert KEY not in str(refused.value)
    assert "OPENAI_API_KEY" in str(refused.value)
    assert slowed.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("ending", [[Cut()], []])
async def test_a_stream_that_breaks_or_just_ends_is_an_error(ending: list[Cut], tmp_path: Path) -> None:
    broken = Reply([b"data: " + dumps(_text_choice("a ")).encode() + b"\n\n", *ending])
    async with (
        ScriptedServer([broken]) as scripted,
        served(tmp_path, {"m": _at("openai", scripted)}) as server,
        _client(server) as client,
    ):
        stream = await client.completions.create(model="m", prompt="x", stream=True)
        with pytest.raises(openai.APIError):
            [chunk async for chunk in stream]


async def _wait_until(is_true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await is_true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_client_that_goes_ends_the_request_to_the_provider_and_is_charged(tmp_path: Path) -> None:
    hanging = Reply([b"data: " + dumps(_text_choice("four words of text")).encode() + b"\n\n", Hang()])
    async with (
        ScriptedServer([hanging, Reply([Hang()], content_type="application/json")]) as scripted,
        served(tmp_path, {"m": _at("openai", scripted)}) as server,
        _client(server) as client,
    ):

        async def is_second() -> bool:
            return len(scripted.requests) == 2

        async def is_charged() -> bool:
            return (await server.context.open_sessions.store.read_spending("", seconds=3600)).tokens >= 25

        stream = await client.completions.create(model="m", prompt="x" * 70, stream=True)
        async for _ in stream:
            break
        await stream.close()
        await scripted.requests[0].closed_early.wait()
        waiting = asyncio.ensure_future(client.completions.create(model="m", prompt="x"))
        await _wait_until(is_second)
        waiting.cancel()
        await scripted.requests[1].closed_early.wait()
        await _wait_until(is_charged)


async def test_limits_of_the_owner_hold(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(tokens_per_day=9, exchanges=1))
    hold = Reply([b"data: " + dumps(_text_choice("a")).encode() + b"\n\n", Hang()])
    async with (
        ScriptedServer([hold, _complete, _complete]) as scripted,
        served(tmp_path, {"m": _at("openai", scripted)}, settings=settings) as server,
        _client(server) as client,
        _client(server, OTHER) as other,
        _client(server, "no-token") as stranger,
    ):

        async def may_start() -> bool:
            try:
                server.context.meters.check_exchange("")
            except ApiError:
                return False
            return True

        stream = await client.completions.create(model="m", prompt="x", stream=True)
        with pytest.raises(openai.RateLimitError, match="exchanges run"):
            await client.embeddings.create(model="m", input="x")
        await stream.close()
        await _wait_until(may_start)
        await client.completions.create(model="m", prompt="x")
        with pytest.raises(openai.APIStatusError, match="tokens of the day are used up") as used_up:
            await client.completions.create(model="m", prompt="x")
        await other.completions.create(model="m", prompt="x")
        with pytest.raises(openai.AuthenticationError):
            await stranger.completions.create(model="m", prompt="x")
    assert used_up.value.status_code == 402


async def test_a_provider_without_them_is_named_in_one_sentence(tmp_path: Path) -> None:
    async with ScriptedServer([]) as scripted:
        scripts = {name: _at(name, scripted) for name in ("anthropic", "groq", "gemini", "deepseek")}
        async with served(tmp_path, scripts | {"s": lambda: S([])}) as server, _client(server) as client:
            for name in ("anthropic", "groq", "gemini", "s"):
                with pytest.raises(openai.BadRequestError, match=r"has no (text completion|API)"):
                    await client.completions.create(model=name, prompt="x")
            for name in ("anthropic", "groq", "deepseek", "s"):
                with pytest.raises(openai.BadRequestError, match=r"no embeddings by|has no API"):
                    await client.embeddings.create(model=name, input="x")
            with pytest.raises(openai.NotFoundError):
                await client.completions.create(model="unknown", prompt="x")
    assert scripted.requests == []


async def test_wrong_parameters_are_named(tmp_path: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"n": 2},
        {"best_of": 3},
        {"prompt": ["a", "b"]},
        {"suffix": 4},
        {"stop": [""]},
        {"max_tokens": -1},
        {"temperature": 9},
        {"seed": "x"},
        {"base_url": "http://127.0.0.1"},
    ]
    async with ScriptedServer([]) as scripted, served(tmp_path, {"m": _at("mistral", scripted)}) as server:
        for parameter in [*wrong, {"logprobs": 2}, {"echo": True}]:
            async with server.client.post("/v1/completions", json={"model": "m", "prompt": "x"} | parameter) as answer:
                assert answer.status == 400, parameter
                assert (await answer.json())["error"]["param"] in parameter
        inputs: list[dict[str, Any]] = [
            {"input": []},
            {"input": [1, "a"]},
            {"dimensions": 0},
            {"encoding_format": "int8"},
        ]
        for parameter in inputs:
            async with server.client.post("/v1/embeddings", json={"model": "m", "input": "x"} | parameter) as answer:
                assert answer.status == 400, parameter
                assert (await answer.json())["error"]["param"] in parameter
    assert scripted.requests == []


# --- embeddings ------------------------------------------------------------------------------------------------------


def _embed(request: ReceivedRequest) -> Reply:
    count = len(request.body["input"])
    rows = [{"object": "embedding", "index": index, "embedding": [index, 0.5]} for index in reversed(range(count))]
    return Reply.json(
        {"object": "list", "data": rows, "usage": {"prompt_tokens": 3 * count, "total_tokens": 3 * count}}
    )


def _embed_gemini(request: ReceivedRequest) -> Reply:
    rows = [{"values": [float(part["content"]["parts"][0]["text"]), 0.5]} for part in request.body["requests"]]
    return Reply.json({"embeddings": rows, "usageMetadata": {"promptTokenCount": 2 * len(rows)}})


@pytest.mark.parametrize(
    ("provider", "path", "field"),
    [
        ("openai", "/v1/embeddings", "dimensions"),
        ("ollama", "/v1/embeddings", "dimensions"),
        ("mistral", "/v1/embeddings", "output_dimension"),
    ],
)
async def test_embeddings(provider: str, path: str, field: str, tmp_path: Path) -> None:
    async with (
        ScriptedServer(_embed) as scripted,
        served(tmp_path, {"m": _at(provider, scripted)}) as server,
        _client(server) as client,
    ):
        packed = await client.embeddings.create(model="m", input=["a", "b"], dimensions=2)
        plain = await client.embeddings.create(model="m", input="a", encoding_format="float")
        await client.embeddings.create(model="m", input=[[1, 2], [3]])
        await client.embeddings.create(model="m", input=[4, 5])
        body = {"model": "m", "input": "a", "encoding_format": "base64", "input_type": "query"}
        async with server.client.post("/v1/embeddings", json=body) as answer:
            text = (await answer.json())["data"][0]["embedding"]
            assert answer.headers["X-Heald-Dropped"] == "input_type"
    assert [row.embedding for row in packed.data] == [[0.0, 0.5], [1.0, 0.5]]
    assert plain.data[0].embedding == [0.0, 0.5]
    assert (packed.model, packed.usage.prompt_tokens) == ("m", 6)
    assert struct.unpack("<2f", base64.b64decode(text)) == (0.0, 0.5)
    first, *_, tokens, flat, _ = [request.body for request in scripted.requests]
    assert scripted.requests[0].path == path
    assert first == {"model": "coder", "input": ["a", "b"], field: 2}
    assert (tokens["input"], flat["input"]) == ([[1, 2], [3]], [[4, 5]])


async def test_embeddings_of_gemini_come_in_batches(tmp_path: Path) -> None:
    async with (
        ScriptedServer(_embed_gemini) as scripted,
        served(tmp_path, {"m": _at("gemini", scripted)}) as server,
        _client(server) as client,
    ):
        answer = await client.embeddings.create(model="m", input=[str(number) for number in range(130)], dimensions=2)
        with pytest.raises(openai.BadRequestError, match="not tokens"):
            await client.embeddings.create(model="m", input=[1, 2])
    assert [row.embedding[0] for row in answer.data] == list(range(130))
    assert answer.usage.total_tokens == 260
    assert [request.path for request in scripted.requests] == ["/v1beta/models/coder:batchEmbedContents"] * 2
    part = {"model": "models/coder", "content": {"parts": [{"text": "0"}]}, "outputDimensionality": 2}
    assert scripted.requests[0].body["requests"][0] == part
    assert scripted.requests[0].headers["x-goog-api-key"] == KEY


async def test_an_answer_without_all_embeddings_is_an_error(tmp_path: Path) -> None:
    async with (
        ScriptedServer([Reply.json({"data": [{"index": 0, "embedding": [1.0]}]})]) as scripted,
        served(tmp_path, {"m": _at("openai", scripted)}) as server,
        _client(server) as client,
    ):
        with pytest.raises(openai.InternalServerError, match="does not hold 2 embeddings"):
            await client.embeddings.create(model="m", input=["a", "b"])


# --- models and rights -----------------------------------------------------------------------------------------------


async def test_a_model_that_only_the_provider_lists(tmp_path: Path) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        listed = {"id": "embed-1", "object": "model", "created": 17, "owned_by": "somebody"}
        return Reply.json(listed) if request.path == "/v1/models/embed-1" else Reply.json({"error": "none"}, 404)

    async with ScriptedServer(answer) as scripted:
        names = {f"p/{name}": _at("openai", scripted, name) for name in ("embed-1", "embed-2", "../files", "a?b")}
        async with served(tmp_path, names) as server, _client(server) as client:
            server.context.models.list_models = list  # pyright: ignore[reportAttributeAccessIssue]
            model = await client.models.retrieve("p/embed-1")
            for path in ("p/embed-2", "p/%2e%2e/files", "p/a%3Fb", "p/unknown"):
                address = URL(f"{server.url}/v1/models/{path}", encoded=True)
                async with server.client.get(address) as missing:
                    assert missing.status == 404, path
    assert (model.id, model.created, model.owned_by) == ("p/embed-1", 17, "somebody")
    paths = [request.path for request in scripted.requests]
    assert paths == ["/v1/models/embed-1", "/v1/models/embed-2", "/v1/models/a%3Fb"]


async def test_the_model_of_a_programs_agent_cannot_be_used_without_the_agent() -> None:
    async with ScriptedServer(_complete) as scripted:
        agent = heald.Agent(_at("openai", scripted)(), instructions="Say nothing.")
        access = AgentAccess(TOKEN, "token")
        context = agent_context(agent, "memory:", ServerSettings(port=0), access)
        async with serving(context) as server, _client(server) as client:
            with pytest.raises(openai.PermissionDeniedError, match="cannot be used without it"):
                await client.completions.create(model="heald", prompt="x")
            with pytest.raises(openai.PermissionDeniedError):
                await client.embeddings.create(model="heald", input="x")
    assert scripted.requests == []
