"""Document 000, the agent that turns designs into code: its page and its provider sessions, and its promises."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.events import FilePreview
from heald.core.json import encode_text, loads
from heald.core.messages import ToolCall, ToolDefinition, ToolResult, user_message
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.testing import ScriptedServer, wire_reply
from heald.testing.server import Hang, Pause, Reply
from heald.testing.streams import wire_stream
from heald_check import check_log
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import running_server
from heald_server.models import ModelView, ProviderView
from heald_server.settings import ServerSettings

S = heald.testing.ScriptedModel
OpenModel = Callable[[], Any]
Frame = dict[str, Any]

WIRES = {"openai": "responses", "anthropic": "messages", "gemini": "gemini"}
"""The document's providers, and the API that each of them speaks."""
SUPPORTED_TOOLS = ("create_file", "edit_file", "generate_images", "remove_background", "retrieve_option")
HTML = "<!doctype html>\n<html><head><title>Harbour</title></head><body><h1>Harbour</h1></body></html>\n"
TOKEN = "a-token-of-the-tests"

# --- the document's frontend ------------------------------------------------------------------------------------------


class _Models:
    """The models of the server, each by a name."""

    def __init__(self, models: Mapping[str, OpenModel]) -> None:
        self._models = models
        self.default = next(iter(models))

    def open(self, name: str) -> Any:
        return self._models[name]()

    def list_models(self) -> Sequence[ModelView]:
        return [ModelView(name, name.partition("/")[0]) for name in self._models]

    def list_providers(self) -> Sequence[ProviderView]:
        return []


class Frontend:
    """A page that generates code over one WebSocket."""

    def __init__(self, client: aiohttp.ClientSession) -> None:
        self._client = client
        self.close_code: int | None = None

    async def generate(
        self, text: str = "A harbour.", *, until: Callable[[Frame], bool] = lambda _: False, **fields: Any
    ) -> list[Frame]:
        """Receive frames until the socket closes, or until one fits: then cancel."""
        frames: list[Frame] = []
        message = {"generationType": "create", "inputMode": "text", "prompt": {"text": text}, "numVariants": 1}
        async with asyncio.timeout(60), self._client.ws_connect("/generate-code") as socket:
            await socket.send_json({"generatedCodeConfig": "html_css", **message, **fields})
            while (received := await socket.receive()).type == aiohttp.WSMsgType.TEXT:
                frames.append(loads(received.data))
                if until(frames[-1]):
                    await socket.close(code=4333)
                    break
            self.close_code = socket.close_code
        return frames

    async def project(self) -> dict[str, Any]:
        """The only project, once no variant of it is at work."""
        async with asyncio.timeout(60):
            while True:
                projects = (await self.get("/projects"))["projects"]
                project = await self.get(f"/projects/{projects[0]['id']}")
                if all(
                    variant["status"] not in ("queued", "running") for variant in project["versions"][0]["variants"]
                ):
                    return project
                await asyncio.sleep(0.02)

    async def variant(self) -> dict[str, Any]:
        return (await self.project())["versions"][0]["variants"][0]

    async def log(self) -> list[Any]:
        session = (await self.variant())["session"]
        return (await self.get(f"/sessions/{session}/log?limit=1000"))["events"]

    async def code(self) -> str:
        """The final code of the first variant."""
        project = await self.project()
        version = project["versions"][0]["id"]
        path = f"/projects/{project['id']}/versions/{version}/variants/0/files/index.html"
        async with self._client.get(path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.text()

    async def get(self, path: str) -> Any:
        async with self._client.get(path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()


@asynccontextmanager
async def backend(folder: Path, **models: OpenModel) -> AsyncGenerator[Frontend]:
    """The server with its studio on a real socket, and a page that is connected to it."""

    context = ServerContext(
        Sessions(SqliteStore(folder / "sessions.db", durable=False)),
        _Models(models),
        settings=ServerSettings(port=0, goodbye_seconds=0.0),
        tokens=AccessTokens({TOKEN: ""}),
        defaults=SessionSettings(permissions="auto", tools=["files"]),
        protocol_options={"studio": {"scores": False}},
    )
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with running_server(context) as address, aiohttp.ClientSession(address, headers=headers) as client:
        yield Frontend(client)


def at(server: ScriptedServer, provider: str = "openai") -> heald.Model:
    """A model of a provider, at a scripted endpoint."""
    version = "v1beta" if provider == "gemini" else "v1"
    return heald.Model(
        "m", wire=WIRES[provider], base_url=f"{server.url}/{version}", api_key="sk-test", provider=provider
    )


def writes(content: str = HTML, call: str = "call_1") -> ToolCall:
    return ToolCall(id=call, name="create_file", input={"path": "index.html", "content": content})


def of(frames: list[Frame], *kinds: str) -> list[Frame]:
    return [frame for frame in frames if frame["type"] in kinds]


def kinds_of(frames: list[Frame]) -> list[str]:
    """The types of frames, equal neighbours once, without those that the document does not name."""
    named = of(frames, "assistant", "thinking", "toolStart", "toolResult", "setCode", "variantComplete", "variantError")
    kinds = [frame["type"] for frame in named]
    return [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind]


# --- Entry Point ------------------------------------------------------------------------------------------------------


async def test_Agent_run_is_called_per_variant(tmp_path: Path) -> None:  # noqa: N802
    async with backend(
        tmp_path, one=lambda: S([[S.call("create_file", path="index.html", content=HTML)], "Done."])
    ) as page:
        frames = await page.generate(numVariants=3)
        variants = (await page.project())["versions"][0]["variants"]
    assert frames[0] == {"type": "variantCount", "value": "3", "variantIndex": 0}
    assert sorted(frame["variantIndex"] for frame in of(frames, "variantComplete")) == [0, 1, 2]
    assert len({variant["session"] for variant in variants}) == 3
    assert page.close_code == 1000


async def test_Agent_run_takes_a_model_and_prompt_messages() -> None:  # noqa: N802
    """The model and the messages before the last one belong to the conversation, so they are given when it opens."""
    prompt_messages = [
        {"role": "system", "content": "You build pages."},
        {"role": "user", "content": "A harbour."},
        {"role": "assistant", "content": "Here it is."},
        {"role": "user", "content": "Call it Port."},
    ]
    async with ScriptedServer(lambda _: wire_reply("responses", text="Done.")) as server:
        async with heald.Agent(at(server), history=prompt_messages[:-1]) as agent:
            result = await agent.run(prompt_messages[-1]["content"])
        sent = json.dumps(server.requests[0].body)
    assert result.text == "Done."
    assert all(message["content"] in sent for message in prompt_messages[1:])


# --- Core Tool-Calling Loop -------------------------------------------------------------------------------------------


async def test_assistant_and_thinking_streams_have_event_ids(tmp_path: Path) -> None:
    script = [[S.think("A plain page. "), "I see. ", S.call("create_file", path="index.html", content=HTML)], "Built."]
    async with backend(tmp_path, one=lambda: S(script, piece=4)) as page:
        frames = await page.generate()
    thinking, assistant = of(frames, "thinking"), of(frames, "assistant")
    assert "".join(frame["value"] for frame in thinking) == "A plain page. "
    assert len(thinking) > 1
    assert len({frame["eventId"] for frame in thinking}) == 1
    first, second = dict.fromkeys(frame["eventId"] for frame in assistant)
    assert "".join(frame["value"] for frame in assistant if frame["eventId"] == first) == "I see. "
    assert "".join(frame["value"] for frame in assistant if frame["eventId"] == second) == "Built."


@pytest.mark.parametrize("provider", WIRES)
async def test_stream_turn_on_event_gets_assistant_thinking_and_tool_call_deltas(provider: str) -> None:
    """Under the names of the event log: `text_delta`, `thinking_delta`, `input_json_delta`."""
    answer: dict[str, Any] = {"text": ["I ", "see."], "calls": [writes()]}
    if provider != "openai":
        answer["thinking"] = ["A plain ", "page."]
    reply = wire_reply(WIRES[provider], **answer)
    events: list[Any] = []
    async with ScriptedServer([reply]) as server:
        session = heald.providers.open_provider_session(
            at(server, provider), messages=[user_message("Go.")], tools=[_create_file()]
        )
        turn = await session.stream_turn(events.append)
        await session.close()
    deltas = {kind: [event for event in events if event.type == kind] for kind in _DELTAS}
    assert "".join(event.text for event in deltas["text_delta"]) == turn.assistant_text == "I see."
    assert "".join(event.text for event in deltas["thinking_delta"]) == "".join(answer.get("thinking", ()))
    assert loads("".join(event.partial_json for event in deltas["input_json_delta"])) == writes().input


_DELTAS = ("text_delta", "thinking_delta", "input_json_delta")


def _create_file() -> ToolDefinition:
    fields = {"path": {"type": "string"}, "content": {"type": "string"}}
    return ToolDefinition(
        name="create_file",
        description="Write a file.",
        input_schema={"type": "object", "properties": fields, "required": ["path", "content"]},
    )


async def test_a_turn_without_tool_calls_is_final(tmp_path: Path) -> None:
    replies = [wire_reply("responses", calls=[writes()]), wire_reply("responses", text="Built.")]
    async with ScriptedServer(replies) as server, backend(tmp_path, one=lambda: at(server)) as page:
        frames = await page.generate()
        requests = len(server.requests)
    assert requests == 2
    assert frames[-1]["type"] == "variantComplete"


async def test_the_guardrail_is_20_tool_turns(tmp_path: Path) -> None:
    """Nothing is raised at the page: the variant ends as not complete, and keeps its code."""
    counter = iter(range(100))

    def reply(_: object) -> Reply:
        number = next(counter)
        return wire_reply("responses", calls=[writes(HTML.replace("Harbour", f"Port {number}"), f"call_{number}")])

    async with ScriptedServer(reply) as server, backend(tmp_path, one=lambda: at(server)) as page:
        frames = await page.generate()
        variant, code = await page.variant(), await page.code()
        requests = len(server.requests)
    assert requests == 20
    sentence = "The exchange reached its budget of 20 turns."
    assert frames[-1]["type"] == "variantError"
    assert frames[-1]["value"] == f"The design is not complete. {sentence}"
    assert of(frames, "variantComplete") == []
    assert (variant["status"], variant["note"]) == ("limit", sentence)
    assert of(frames, "setCode")[-1]["value"] == code
    assert "Port 19" in code
    assert page.close_code == 1000


# --- Tool Execution ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WIRES)
async def test_canonical_tool_definitions_are_offered_to_each_provider(provider: str, tmp_path: Path) -> None:
    async with (
        ScriptedServer(lambda _: wire_reply(WIRES[provider], text="Nothing to do.")) as server,
        backend(tmp_path, one=lambda: at(server, provider)) as page,
    ):
        await page.generate()
        tools = server.requests[0].body["tools"]
    offered = tools[0]["functionDeclarations"] if provider == "gemini" else tools
    assert set(SUPPORTED_TOOLS) <= {tool["name"] for tool in offered}


async def test_the_execution_lifecycle_of_a_tool_call(tmp_path: Path) -> None:
    replies = [wire_reply("responses", calls=[writes()]), wire_reply("responses", text="Built.")]
    async with ScriptedServer(replies) as server, backend(tmp_path, one=lambda: at(server)) as page:
        frames = await page.generate()
    story = of(frames, "toolStart", "setCode", "toolResult")
    assert kinds_of(story) == ["toolStart", "setCode", "toolResult"]
    start, result = story[0], story[-1]
    assert start["eventId"] == result["eventId"]
    assert start["data"]["name"] == "create_file"
    assert result["data"]["name"] == "create_file"
    assert result["data"]["ok"] is True
    assert set(result["data"]) == {"name", "output", "ok"}
    assert story[-2]["value"] == HTML


async def test_updated_content_of_an_edit_is_sent_as_setCode(tmp_path: Path) -> None:  # noqa: N802
    edit = S.call("edit_file", path="index.html", old_text="<h1>Harbour</h1>", new_text="<h1>Port</h1>")
    async with backend(tmp_path, one=lambda: S([[edit], "Done."])) as page:
        state = {"path": "index.html", "content": HTML}
        frames = await page.generate("Call it Port.", generationType="update", fileState=state)
    assert kinds_of(frames)[:3] == ["toolStart", "setCode", "toolResult"]
    assert of(frames, "setCode")[-1]["value"] == HTML.replace("<h1>Harbour", "<h1>Port")


async def test_a_tool_that_fails_has_ok_false_and_the_model_goes_on(tmp_path: Path) -> None:
    edit = S.call("edit_file", path="index.html", old_text="not there", new_text="x")
    async with backend(tmp_path, one=lambda: S([[edit], "I could not."])) as page:
        state = {"path": "index.html", "content": HTML}
        frames = await page.generate("Change it.", generationType="update", fileState=state)
    assert [frame["data"]["ok"] for frame in of(frames, "toolResult")] == [False]
    assert [frame["value"] for frame in of(frames, "setCode")] == [HTML]  # the page shows what it had
    assert frames[-1]["type"] == "variantComplete"


async def test_retrieve_option_returns_the_code_of_another_variant(tmp_path: Path) -> None:
    seen: list[str] = []

    def second(request: Any) -> str:
        seen.append(encode_text(request.messages[-1]))
        return "Done."

    model = lambda: S([[S.call("retrieve_option", option_number=2)], second])  # noqa: E731
    async with backend(tmp_path, one=model) as page:
        await page.generate(
            "Like option 2.",
            generationType="update",
            fileState={"path": "index.html", "content": HTML},
            optionCodes=[HTML, HTML.replace("Harbour", "Second option")],
        )
    assert "Second option" in seen[0]


# --- Live streamed create_file preview --------------------------------------------------------------------------------


def _cut_arguments(*arguments: str) -> list[Any]:
    """A stream of the Chat Completions API that stops within the arguments of a call and sends no more."""
    function = {"name": "create_file", "arguments": ""}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    deltas = [
        {"role": "assistant", "tool_calls": [call]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in arguments),
    ]
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    steps = [(f"data: {json.dumps(chunk)}\n\n".encode(), Pause(0.06)) for chunk in chunks]
    return [*(part for step in steps for part in step), Hang()]


async def _preview(folder: Path, until: Callable[[Frame], bool], *arguments: str) -> list[Frame]:
    """Receive frames of a call whose arguments come in pieces, until one fits. The call never ends."""
    async with ScriptedServer(lambda _: Reply(_cut_arguments(*arguments))) as server:
        model = heald.Model("m", wire="chat", base_url=f"{server.url}/v1", api_key="sk-test", provider="test")
        async with backend(folder, one=lambda: model) as page:
            return await page.generate(until=until)


async def test_toolStart_of_create_file_is_early(tmp_path: Path) -> None:  # noqa: N802
    """Before its path is whole, while the arguments still arrive."""
    frames = await _preview(tmp_path, lambda frame: frame["type"] == "toolStart", '{"pa', 'th":"index')
    assert frames[-1]["data"] == {"name": "create_file", "input": {}}


async def test_toolStart_carries_the_path_as_soon_as_it_is_parsed(tmp_path: Path) -> None:  # noqa: N802
    """The same `eventId`: a page merges the second one into the first."""
    frames = await _preview(
        tmp_path,
        lambda frame: frame["type"] == "toolStart" and bool(frame["data"]["input"]),
        '{"path":"ind',
        'ex.html"',
    )
    starts = of(frames, "toolStart")
    assert [start["data"]["input"] for start in starts] == [{}, {"path": "index.html"}]
    assert {start["eventId"] for start in starts} == {"call_1"}
    assert of(frames, "setCode") == []


async def test_setCode_grows_while_content_arrives(tmp_path: Path) -> None:  # noqa: N802
    content = "<html><body>" + "<p>A harbour at night.</p>" * 20
    arguments = json.dumps({"path": "index.html", "content": content})[:-2]
    pieces = [arguments[at : at + 100] for at in range(0, len(arguments), 100)]
    frames = await _preview(tmp_path, lambda frame: len(frame.get("value", "")) > 400, *pieces)
    codes = [frame["value"] for frame in of(frames, "setCode")]
    assert len(codes) > 2
    assert all(later.startswith(code) for code, later in pairwise(codes))
    assert content.startswith(codes[-1])
    assert of(frames, "toolResult") == []


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
async def test_extract_path_from_args_and_extract_content_from_args(piece: int) -> None:
    """Escapes and surrogate pairs that are cut anywhere: a preview has no half character."""
    content = 'a "quoted" \\ line\n\tüber 🛶 \u2028 end'
    model = S([[S.call("create_file", path="wü/🛶.html", content=content)], "Done."], piece=piece)
    async with heald.Agent(model, tools=["files"]) as agent:
        events = [event async for event in agent.stream("Go.")]
    previews = [event.data for event in events if isinstance(event.data, FilePreview)]
    assert {preview.path for preview in previews} == {"wü/🛶.html"}
    assert "".join(preview.text for preview in previews) == content
    assert len(previews) > 1
    assert not check_log(events)


# --- Provider-Specific Continuation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WIRES)
async def test_the_provider_factory_opens_a_ProviderSession(  # noqa: N802
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-test")
    session = heald.providers.open_provider_session(f"{provider}/some-model", messages=[user_message("Go.")])
    for name in ("stream_turn", "append_tool_results"):
        assert callable(getattr(session, name))
    await session.close()


async def _continue(provider: str, status: str = "ok") -> tuple[Any, Any, Any]:
    """One turn with a call, its result, and a second turn. Returns the first turn and the bodies of both requests."""
    wire = WIRES[provider]
    first = wire_reply(wire, thinking="A plain page.", text="I see.", calls=[writes()])
    async with ScriptedServer([first, wire_reply(wire, text="Built.")]) as server:
        session = heald.providers.open_provider_session(
            at(server, provider), messages=[user_message("Go.")], tools=[_create_file()]
        )
        turn = await session.stream_turn(lambda _: None)
        result = ToolResult(id=turn.tool_calls[0].id, status=status, content="Created.", name="create_file")  # pyright: ignore[reportArgumentType]
        session.append_tool_results(turn, [result])
        await session.stream_turn(lambda _: None)
        await session.close()
        return turn, server.requests[0].body, server.requests[1].body


@pytest.mark.parametrize("provider", WIRES)
async def test_ProviderTurn_has_assistant_text_tool_calls_and_assistant_turn(provider: str) -> None:  # noqa: N802
    turn, _, _ = await _continue(provider)
    assert turn.assistant_text == "I see."
    assert [(call.name, call.input) for call in turn.tool_calls] == [("create_file", writes().input)]
    assert turn.assistant_turn


async def test_openai_continuation() -> None:
    turn, first, second = await _continue("openai")
    assert second["input"][: len(first["input"])] == first["input"]
    *items, output = second["input"][len(first["input"]) :]
    assert items == turn.assistant_turn
    assert output == {"type": "function_call_output", "call_id": "call_1", "output": "Created."}


@pytest.mark.parametrize(("status", "is_error"), [("ok", False), ("error", True)])
async def test_anthropic_continuation(status: str, is_error: bool) -> None:
    _, first, second = await _continue("anthropic", status)
    assert len(second["messages"]) == len(first["messages"]) + 2
    assistant, user = second["messages"][-2:]
    assert assistant["role"] == "assistant"
    blocks = {block["type"]: block for block in assistant["content"]}
    assert blocks["text"]["text"] == "I see."
    call = blocks["tool_use"]
    assert (call["id"], call["name"], call["input"]) == ("call_1", "create_file", writes().input)
    assert user["role"] == "user"
    result = user["content"][0]
    assert (result["type"], result["tool_use_id"], result.get("is_error", False)) == ("tool_result", "call_1", is_error)
    assert "Created." in json.dumps(result["content"])


async def test_gemini_continuation() -> None:
    turn, first, second = await _continue("gemini")
    assert second["contents"][: len(first["contents"])] == first["contents"]
    model, response = second["contents"][len(first["contents"]) :]
    assert model == {"role": "model", "parts": turn.assistant_turn}
    assert "thoughtSignature" in json.dumps(model)
    part = response["parts"][0]["functionResponse"]
    assert part["name"] == "create_file"
    assert "Created." in json.dumps(part["response"])


# --- Response Streaming to Frontend -----------------------------------------------------------------------------------


async def test_deltas_are_forwarded_immediately(tmp_path: Path) -> None:
    """The provider stops after two deltas and never ends its answer."""
    pieces = wire_stream("responses", text=["Let me ", "see.", " Well."])
    head = pieces[: next(place for place, piece in enumerate(pieces) if b" Well." in piece)]
    text: list[str] = []

    def is_seen(frame: Frame) -> bool:
        text.append(frame["value"] if frame["type"] == "assistant" else "")
        return "".join(text) == "Let me see."

    async with (
        ScriptedServer(lambda _: Reply([*head, Hang()])) as server,
        backend(tmp_path, one=lambda: at(server)) as page,
    ):
        frames = await page.generate(until=is_seen)
    assert of(frames, "variantComplete", "variantError") == []


async def test_each_stored_delta_is_one_message(tmp_path: Path) -> None:
    """The page gets the deltas of the log, none joined with another."""
    async with backend(tmp_path, one=lambda: S(["A sentence of some length."], piece=3, pause=0.002)) as page:
        frames = await page.generate()
        log = await page.log()
    stored = [event["data"]["text"] for event in log if event["type"] == "text_delta"]
    assert [frame["value"] for frame in of(frames, "assistant")] == stored
    assert len(stored) == 9


async def test_the_typical_stream_sequence_of_a_turn(tmp_path: Path) -> None:
    turn = [S.think("A page. "), "I see. ", S.call("create_file", path="index.html", content=HTML)]
    async with backend(tmp_path, one=lambda: S([turn, "Built."], piece=16)) as page:
        frames = await page.generate()
    assert kinds_of(frames) == [
        *("thinking", "assistant", "toolStart", "setCode", "toolResult"),
        *("assistant", "variantComplete"),
    ]
    assert all(frame["variantIndex"] == 0 for frame in frames)
    assert all("eventId" in frame for frame in of(frames, "assistant", "thinking", "toolStart", "toolResult"))


async def test_the_final_code_comes_from_the_file_state(tmp_path: Path) -> None:
    script = [[S.call("create_file", path="index.html", content=HTML)], "<html><body>Not this.</body></html>"]
    async with backend(tmp_path, one=lambda: S(script)) as page:
        frames = await page.generate()
        code = await page.code()
    assert of(frames, "setCode")[-1]["value"] == code == HTML


@pytest.mark.parametrize("text", [HTML, f"Here it is:\n\n```html\n{HTML}```\n\nEnjoy!"])
async def test_without_files_html_is_extracted_from_the_final_text(text: str, tmp_path: Path) -> None:
    async with backend(tmp_path, one=lambda: S([text])) as page:
        frames = await page.generate()
        code = await page.code()
    assert code.strip() == HTML.strip()
    assert of(frames, "setCode")[-1]["value"] == code
    assert frames[-1]["type"] == "variantComplete"
