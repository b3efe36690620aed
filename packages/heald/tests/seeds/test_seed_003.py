"""Document 003, the assistant with provider adapters: its orchestrator, written from the document, and its promises."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

import heald
from heald.core.errors import ConfigurationError, HealdError, InvalidRequest, MalformedResponse, MissingKey
from heald.core.json import JsonObject
from heald.core.messages import Grounding, Message, Reasoning, Source, Text, ToolCall, ToolResult
from heald.testing import ScriptedServer, wire_reply
from heald.testing.server import Cut, Reply
from heald.testing.streams import wire_stream
from heald.wires.registry import WIRES as REGISTRY
from heald_server import convert_internal_to_session, convert_session_to_internal, to_internal_messages

S = heald.testing.ScriptedModel
WIRES = tuple(REGISTRY)
ANSWERS_WITH_THINKING = ("chat", "messages", "gemini")

# --- the document's orchestrator --------------------------------------------------------------------------------------

MAX_TOOL_ITERATIONS = 8


async def run_agent(
    params: JsonObject, adapter: Any, session_history: list[JsonObject], all_tools: list[JsonObject]
) -> tuple[str, list[JsonObject]]:
    """The document's `orchestrator.runAgent`, section 5. It returns the final response and its messages."""
    messages = [] if params.get("reset") else list(session_history)
    messages.append({"role": "user", "content": [{"type": "text", "text": params["contents"]}]})
    tools = {tool["name"]: tool for tool in all_tools}
    config = params.get("config", {})
    iterations = 0
    while True:
        iterations += 1
        if iterations > MAX_TOOL_ITERATIONS:
            raise RuntimeError(f"Too many tool iterations ({MAX_TOOL_ITERATIONS}). Possible infinite loop.")
        request = await adapter.buildRequest(config.get("systemInstruction", ""), messages, all_tools, config)
        final = ""
        content: list[JsonObject] = []
        calls: list[JsonObject] = []
        async for event in adapter.createMessageStream(request, config):
            match event["type"]:
                case "text" | "reasoning" as kind:
                    final += event["text"]
                    content.append({"type": kind, "text": event["text"]})
                case "tool_call":
                    calls.append(event)
                    use = {"id": event["id"], "name": event["name"], "input": json.loads(event["args"])}
                    content.append({"type": "tool_use", **use})
                case "usage":
                    assert event["inputTokens"] + event["outputTokens"] > 0
                case "error":
                    raise RuntimeError(event["error"])
                case _:
                    assert event == {"type": "end"}
        if content:
            messages.append({"role": "assistant", "content": content})
        if not calls:
            return final.strip(), messages
        for call in calls:
            tool = tools.get(call["name"])
            if tool is None:
                error = {"message": f"Unknown tool: {call['name']}", "code": "UNKNOWN_TOOL"}
                result = json.dumps({"status": "error", "error": error})
            else:
                outcome = await tool["execute"](json.loads(call["args"]))
                result = json.dumps(outcome["result"] if outcome["status"] == "success" else outcome["error"])
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
            messages.append({"role": "tool", "content": [block]})


ran: list[Any] = []


async def _execute(args: JsonObject) -> JsonObject:
    ran.append(args)
    return {"status": "success", "result": [{"path": args["path"], "content": "export {}"}]}


READ_FILE: JsonObject = {
    "name": "read_file",
    "description": "Read one or more files.",
    "jsonSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
    "execute": _execute,
}
CALL = ToolCall(id="read_file-0", name="read_file", input={"path": "src/index.ts"})


def adapter_at(server: ScriptedServer, wire: str, **config: Any) -> Any:
    retry = heald.Retry(base=0)
    return heald.providers.create_provider(
        "custom",
        {"model": "some-model", "baseUrl": f"{server.url}/v1", "wire": wire, "apiKey": "secret", "retry": retry}
        | config,
    )


async def events_of(adapter: Any, contents: str = "Hello") -> list[JsonObject]:
    request = await adapter.build_request("", [{"role": "user", "content": contents}])
    return [event async for event in adapter.create_message_stream(request)]


@pytest.mark.parametrize("wire", WIRES)
async def test_run_agent(wire: str) -> None:
    ran.clear()
    thinking = "I read it. " if wire in ANSWERS_WITH_THINKING else ""
    replies = [
        wire_reply(wire, text=["Let me ", "look. "], thinking=thinking, calls=[CALL]),
        wire_reply(wire, text=[" It exports ", "nothing. "]),
    ]
    async with ScriptedServer(replies) as server:
        params = {"contents": "Read src/index.ts", "config": {"systemInstruction": "Be brief.", "temperature": 0}}
        response, messages = await run_agent(params, adapter_at(server, wire), [], [READ_FILE])
        first, second = (request.content.decode() for request in server.requests)
    assert response == "It exports nothing."
    assert ran == [{"path": "src/index.ts"}]
    assert "Be brief." in first
    assert "read_file" in first
    assert "export {}" in second
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    kinds = [block["type"] for block in messages[1]["content"]]
    assert ("reasoning" in kinds) == bool(thinking)
    assert kinds[-1] == "tool_use"


async def test_max_tool_iterations() -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", calls=[CALL])) as server:
        with pytest.raises(RuntimeError, match=r"Too many tool iterations \(8\)"):
            await run_agent({"contents": "Go"}, adapter_at(server, "chat"), [], [READ_FILE])
        assert len(server.requests) == 8


async def test_max_tool_iterations_of_an_agent_are_its_budget() -> None:
    model = S([[S.call("read_file", path="a")]] * 9)
    agent = heald.Agent(model, tools=[READ_FILE], budget=heald.Budget(turns=8))
    result = await agent.run("Go")
    assert result.status == "limit"
    assert len(model.requests) == 8
    await agent.close()


async def test_unknown_tool_is_a_tool_result() -> None:
    call = ToolCall(id="nope-0", name="nope", input={})
    async with ScriptedServer([wire_reply("messages", calls=[call]), wire_reply("messages", text="Sorry.")]) as server:
        response, _ = await run_agent({"contents": "Go"}, adapter_at(server, "messages"), [], [READ_FILE])
        (result,) = server.requests[1].body["messages"][-1]["content"]
    assert response == "Sorry."
    assert result["is_error"] is True
    assert json.loads(result["content"])["error"]["code"] == "UNKNOWN_TOOL"


async def test_unknown_tool_of_an_agent() -> None:
    model = S([[S.call("nope")], "Sorry."])
    async with heald.Agent(model, tools=[READ_FILE]) as agent:
        await agent.run("Go")
    (result,) = cast("list[ToolResult]", model.requests[1].messages[-1].content)
    assert result.status == "unknown_tool"
    assert result.text.startswith("UNKNOWN_TOOL")


# --- createProvider, buildRequest, convertToolsToProviderSchema -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("google", "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("openai", "https://api.openai.com/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
        ("anthropic", "https://api.anthropic.com/v1/messages"),
    ],
)
async def test_create_provider(name: str, url: str) -> None:
    context = object()
    adapter = heald.providers.create_provider(name, {"apiKey": "secret-key", "model": "m"}, context)
    assert (adapter.name, adapter.config, adapter.context) == (name, {"model": "m"}, context)
    request = await adapter.build_request("", [{"role": "user", "content": "Hello"}])
    assert request["url"] == url
    assert "secret-key" in str(dict(request))
    assert "secret-key" not in repr(request) + repr(adapter) + repr(adapter.config)


@pytest.mark.parametrize(
    ("name", "config", "why"),
    [
        ("nobody", {"model": "m"}, "no provider 'nobody'"),
        ("openai", {"apiKey": "k"}, "names no model"),
        ("custom", {"model": "m"}, "give {'base_url': …}"),
        ("openai", {"model": "m", "modle": "x"}, "has no 'modle'"),
    ],
)
def test_create_provider_refuses(name: str, config: JsonObject, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        heald.providers.create_provider(name, config)


def test_create_provider_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="set OPENROUTER_API_KEY"):
        heald.providers.create_provider("openrouter", {"model": "m"})


HISTORY: list[JsonObject] = [
    {"role": "user", "content": "Read it", "timestamp": 1763000000000},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}}]},
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": '{"path": "a"}'}]},
]


async def test_build_request_of_openai() -> None:
    adapter = heald.providers.create_provider("openai", {"apiKey": "k", "model": "gpt-4"})
    request = await adapter.build_request("Be brief.", HISTORY, [READ_FILE], {"temperature": 0.5})
    assert request["headers"]["authorization"] == "Bearer k"
    body = request["body"]
    assert (body["model"], body["stream"], body["temperature"]) == ("gpt-4", True, 0.5)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["id"] == body["messages"][3]["tool_call_id"] == "c1"
    function = {"name": "read_file", "description": READ_FILE["description"], "parameters": READ_FILE["jsonSchema"]}
    assert body["tools"] == [{"type": "function", "function": function}]


async def test_build_request_of_gemini() -> None:
    adapter = heald.providers.create_provider("google", {"apiKey": "k", "model": "gemini-pro"})
    request = await adapter.build_request("Be brief.", HISTORY, [READ_FILE])
    body = request["body"]
    assert request["model"] == "gemini-pro"
    assert request["toolIdToName"] == {"c1": "read_file"}
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["tools"][0]["functionDeclarations"][0]["name"] == "read_file"
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert body["contents"][1]["parts"][0]["functionCall"] == {"name": "read_file", "args": {"path": "a"}}
    assert body["contents"][2]["parts"][0]["functionResponse"]["name"] == "read_file"


async def test_build_request_refuses_an_unknown_option() -> None:
    adapter = heald.providers.create_provider("openai", {"apiKey": "k", "model": "gpt-4"})
    with pytest.raises(ConfigurationError, match="no option 'temprature'"):
        await adapter.build_request("", HISTORY, [], {"temprature": 1})


@pytest.mark.parametrize("wire", WIRES)
async def test_convert_tools_to_provider_schema(wire: str) -> None:
    adapter = heald.providers.create_provider("custom", {"model": "m", "base_url": "http://127.0.0.1:1", "wire": wire})
    request = await adapter.build_request("", HISTORY, [READ_FILE])
    schema = await adapter.convertToolsToProviderSchema([READ_FILE])
    assert "read_file" in json.dumps(schema)
    assert schema == await adapter.format_tools([READ_FILE])
    if "messages" not in wire and wire != "converse":  # their last tool carries a mark for prompt caching
        assert schema == request["body"]["tools"]


# --- createMessageStream ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_normalized_events(wire: str) -> None:
    async with ScriptedServer([wire_reply(wire, text=["Hel", "lo"], calls=[CALL], usage=(11, 7))]) as server:
        events = await events_of(adapter_at(server, wire))
    *texts, call, usage, end = events
    assert "".join(event["text"] for event in texts) == "Hello"
    assert {event["type"] for event in texts} == {"text"}
    assert (call["type"], call["name"], json.loads(call["args"])) == ("tool_call", "read_file", CALL.input)
    assert isinstance(call["id"], str)
    assert (usage["type"], usage["inputTokens"], usage["outputTokens"]) == ("usage", 11, 7)
    assert end == {"type": "end"}


async def test_events_arrive_while_the_model_writes() -> None:
    first, *rest = wire_stream("chat", text=["Hel", "lo"])[1:]
    seen = asyncio.Event()
    async with ScriptedServer([Reply([first, heald.testing.Pause(0.2), *rest])]) as server:
        adapter = adapter_at(server, "chat")
        request = await adapter.build_request("", [{"role": "user", "content": "Hello"}])
        got: list[JsonObject] = []
        async for event in adapter.create_message_stream(request):
            got.append(event)
            if len(got) == 1:
                assert not seen.is_set()
                asyncio.get_running_loop().call_soon(seen.set)
    assert [event["type"] for event in got] == ["text", "text", "usage", "end"]


async def test_a_changed_request_is_sent_as_it_is() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hi")]) as server:
        adapter = adapter_at(server, "chat")
        request = dict(await adapter.build_request("", [{"role": "user", "content": "Hello"}]))
        request["body"] |= {"seed": 7}
        request["headers"]["x-team"] = "blue"
        assert [event["type"] async for event in adapter.create_message_stream(request)] == ["text", "usage", "end"]
        (received,) = server.requests
    assert received.body["seed"] == 7
    assert received.headers["x-team"] == "blue"


@pytest.mark.parametrize(("wire", "attempts"), [("chat", 10), ("gemini", 5)])
async def test_retry_logic(wire: str, attempts: int) -> None:
    async with ScriptedServer(lambda _: Reply.json({"error": {"message": "busy"}}, status=503)) as server:
        events = await events_of(adapter_at(server, wire))
        assert len(server.requests) == attempts
    assert [event["type"] for event in events] == ["error", "end"]
    assert events[0]["error"] == "overloaded"
    assert "busy" in events[0]["message"]


async def test_text_is_never_doubled() -> None:
    half = Reply([*wire_stream("chat", text=["Hel", "lo"])[:2], Cut()])
    async with ScriptedServer([half, wire_reply("chat", text="Hello")]) as server:
        events = await events_of(adapter_at(server, "chat"))
        assert len(server.requests) == 1
    assert [event["type"] for event in events] == ["text", "error", "end"]
    assert events[1]["error"] == "incomplete"


async def test_a_call_that_was_cut_off_does_not_run() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hi", calls=[CALL], stop="max_tokens")]) as server:
        events = await events_of(adapter_at(server, "chat"))
    assert [event["type"] for event in events] == ["text", "usage", "error", "end"]
    assert events[2]["error"] == "truncated"


async def test_provider_content_is_echoed() -> None:
    """An internal message has no place for a signature. The adapter sends back what it received."""
    replies = [
        wire_reply("messages", thinking="Hm.", calls=[CALL], signature="c2ln"),
        wire_reply("messages", text="Ok"),
    ]
    async with ScriptedServer(replies) as server:
        await run_agent({"contents": "Go"}, adapter_at(server, "messages"), [], [READ_FILE])
        assistant = server.requests[1].body["messages"][1]["content"]
    assert assistant[0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


async def test_leaving_the_stream_ends_the_request() -> None:
    async with ScriptedServer([Reply([*wire_stream("chat", text=["a", "b"])[:2], heald.testing.Hang()])]) as server:
        adapter = adapter_at(server, "chat")
        stream = adapter.create_message_stream(await adapter.build_request("", [{"role": "user", "content": "Hi"}]))
        assert (await anext(stream))["text"] == "a"
        async with asyncio.timeout(120):
            await stream.aclose()
    assert len(asyncio.all_tasks()) == 1


async def test_an_adapter_is_a_model_of_an_agent() -> None:
    replies = [wire_reply("chat", calls=[CALL]), wire_reply("chat", text="Done")]
    async with (
        ScriptedServer(replies) as server,
        heald.Agent(adapter_at(server, "chat"), tools=[READ_FILE]) as agent,
    ):
        assert (await agent.run("Go")).text == "Done"


# --- InternalMessage and ChatMessage ----------------------------------------------------------------------------------

INTERNAL: list[JsonObject] = [
    {"role": "user", "content": "Read it", "timestamp": 1763000000000},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "I need the file."},
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "name": "read_file", "input": {"path": "a"}},
        ],
        "timestamp": 1763000000001,
    },
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "read_file-0", "content": [{"path": "a"}]}]},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "It is empty."}, {"type": "grounding", "sources": [{"title": "a"}]}],
    },
]


@pytest.mark.parametrize("where", ["agent", "session"])
async def test_internal_message(where: str) -> None:
    model = S(["Bye."])
    if where == "agent":
        async with heald.Agent(model, history=INTERNAL) as agent:
            assert [message.role for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
            await agent.run("And now?")
            messages = agent.messages[:4]
    else:
        session = heald.providers.open_provider_session(
            model, messages=[*INTERNAL, {"role": "user", "content": "And now?"}]
        )
        await session.stream_turn(lambda _: None)
        messages = session.messages[:4]
    assert model.requests[0].messages[:4] == messages
    assert messages == [
        Message(role="user", content=[Text("Read it")], timestamp=1763000000000),
        Message(
            role="assistant",
            content=[
                Reasoning("I need the file."),
                Text("Reading."),
                ToolCall(id="read_file-0", name="read_file", input={"path": "a"}),
            ],
            timestamp=1763000000001,
        ),
        Message(role="tool", content=[ToolResult(id="read_file-0", status="ok", content='[{"path":"a"}]')]),
        Message(role="assistant", content=[Text("It is empty."), Grounding([Source("a")])]),
    ]
    again = to_internal_messages(messages)
    assert [message.get("timestamp") for message in again] == [1763000000000, 1763000000001, None, None]
    assert again[1]["content"][:2] == INTERNAL[1]["content"][:2]
    assert again[1]["content"][2] == {"id": "read_file-0", **INTERNAL[1]["content"][2]}
    assert again[3] == INTERNAL[3]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Hello", "Message 0 is str"),
        ({"role": "robot", "content": "Hi"}, "role 'robot'"),
        ({"role": "user", "content": 3}, "neither text nor a list"),
        ({"role": "user", "content": "Hi", "timestamp": "now"}, "timestamp of message 0 is not a number"),
        ({"role": "user", "content": [{"type": "hologram"}]}, "type 'hologram'"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "a", "input": "x"}]}, "input of a tool_use"),
        ({"role": "tool", "content": [{"type": "tool_result", "content": "x"}]}, "no tool_use_id"),
        ({"role": "tool", "content": "x"}, "no result"),
    ],
)
def test_internal_message_refused(message: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        heald.providers.open_provider_session(S([]), messages=[message])


async def test_internal_message_as_the_request() -> None:
    model = S(["Hi.", "Bye."])
    async with heald.Agent(model) as agent:
        await agent.run({"role": "user", "content": "Hello", "timestamp": 5})
        await agent.run({"role": "user", "content": [{"type": "text", "text": "And now?"}]})
        with pytest.raises(ConfigurationError, match="begins with a user message"):
            await agent.run({"role": "system", "content": "Be brief."})
        with pytest.raises(ConfigurationError, match="begins with a user message"):
            await agent.run({"role": "assistant", "content": "Hello"})
    sent = [message for message in model.requests[1].messages if message.role == "user"]
    assert [message.text for message in sent] == ["Hello", "And now?"]
    assert sent[0].timestamp == 5
    assert sent[1].timestamp is not None


def test_convert_session_to_internal() -> None:
    chat = [
        {"role": "user", "content": "Hello", "timestamp": 1},
        {"role": "assistant", "content": "Hi", "timestamp": 2},
    ]
    internal = convert_session_to_internal(chat)
    assert internal[0] == {"role": "user", "content": [{"type": "text", "text": "Hello"}], "timestamp": 1}
    assert convert_internal_to_session(internal) == chat


def test_convert_internal_to_session_leaves_out_calls() -> None:
    assert convert_internal_to_session(INTERNAL) == [
        {"role": "user", "content": "Read it", "timestamp": 1763000000000},
        {"role": "assistant", "content": "Reading.", "timestamp": 1763000000001},
        {"role": "assistant", "content": "It is empty."},
    ]


# --- ToolDefinition and ToolResult ------------------------------------------------------------------------------------


async def result_of(execute: Callable[[Any], Any], **args: Any) -> ToolResult:
    model = S([[S.call("read_file", **args)], "Done."])
    async with heald.Agent(model, tools=[READ_FILE | {"execute": execute}]) as agent:
        events = [event.data async for event in agent.stream("Go")]
    return next(payload for payload in events if isinstance(payload, ToolResult))


async def test_tool_definition() -> None:
    result = await result_of(_execute, path="a")
    assert (result.status, json.loads(result.text)) == ("ok", [{"path": "a", "content": "export {}"}])


async def test_tool_result_error_has_failed() -> None:
    error = {"status": "error", "error": {"message": "No such file", "code": "ENOENT"}}
    result = await result_of(lambda _: error, path="a")
    assert (result.status, result.is_error, result.text) == ("error", True, "ENOENT: No such file")
    assert result.data == {"message": "No such file", "code": "ENOENT"}


@pytest.mark.parametrize(
    ("value", "status", "text"),
    [
        ({"status": "error"}, "error", "Unknown error"),
        ({"status": "error", "error": {"message": "Full"}}, "error", "Full"),
        ({"status": "success", "result": "fine"}, "ok", "fine"),
        ({"status": "success", "result": None}, "ok", ""),
        ({"status": "success"}, "ok", '{"status":"success"}'),
        ({"status": "error", "line": 3}, "ok", '{"status":"error","line":3}'),
        ({"status": "open"}, "ok", '{"status":"open"}'),
    ],
)
async def test_tool_result_format(value: Any, status: str, text: str) -> None:
    result = await result_of(lambda _: value, path="a")
    assert (result.status, result.text) == (status, text)


@pytest.mark.parametrize("args", [{}, {"path": ["a"]}, {"path": "a", "more": 1}])
async def test_validate_tool_args(args: JsonObject) -> None:
    ran.clear()
    result = await result_of(_execute, **args)
    assert result.status == "invalid_input"
    assert ran == []


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"description": "x", "jsonSchema": {}}, "without a name"),
        ({"name": "a", "execute": print}, "'a' has no jsonSchema"),
        ({"name": "a", "jsonSchema": {"type": "object"}}, "'a' has no function 'execute'"),
    ],
)
def test_tool_definition_refused(tool: JsonObject, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        heald.Agent(S([]), tools=[tool])


async def test_execute_tool_with_lock(tmp_path: Path) -> None:
    """Two calls that write one file run in their order, whatever the first one waits for."""
    calls = [S.call("write_file", path="a.txt", content=text) for text in ("one", "two")]
    async with heald.Agent(S([calls, "Done."]), tools=["files"], workspace=tmp_path) as agent:
        events = [event.data async for event in agent.stream("Go")]
    texts = [payload.text for payload in events if isinstance(payload, ToolResult)]
    assert texts[0].startswith("Created")
    assert texts[1].startswith("Replaced")
    assert (tmp_path / "a.txt").read_text() == "two"


async def test_validate_workspace_path(tmp_path: Path) -> None:
    model = S([[S.call("read_file", files=[{"path": "../secret"}])], "Done."])
    async with heald.Agent(model, tools=["read"], workspace=tmp_path) as agent:
        await agent.run("Go")
    (result,) = cast("list[ToolResult]", model.requests[1].messages[-1].content)
    assert "outside" in result.text


# --- a provider of one's own ------------------------------------------------------------------------------------------


class Echo(heald.providers.ProviderAdapter):
    """A provider that repeats the last message and calls a tool if it is asked to."""

    name = "echo/one"

    def __init__(self) -> None:
        self.requests: list[Any] = []

    async def create_message_stream(self, request: Any, options: Any = None) -> AsyncIterator[JsonObject]:
        self.requests.append(request)
        last = request["messages"][-1]["content"][0]
        yield {"type": "reasoning", "text": "Hm."}
        if last.get("text") == "call":
            yield {"type": "tool_call", "id": "c1", "name": "read_file", "args": '{"path": "a"}'}
        else:
            yield {"type": "text", "text": f"You wrote {last.get('text') or last['content']}"}
        yield {"type": "usage", "inputTokens": 3, "outputTokens": 2, "cost": 0.5}
        yield {"type": "end"}


async def test_provider_adapter_of_your_own() -> None:
    echo = Echo()
    async with heald.Agent(echo, tools=[READ_FILE], instructions="Be kind.", temperature=0.5) as agent:
        result = await agent.run("call")
    first, second = echo.requests
    assert "Be kind." in first["system"]
    assert first["options"]["temperature"] == 0.5
    assert first["tools"][0]["function"]["name"] == "read_file"
    assert second["messages"][-1]["content"][0]["tool_use_id"] == "c1"
    assert result.text == 'You wrote [{"path":"a","content":"export {}"}]'
    assert (result.usage.input, result.usage.output, result.cost_usd) == (6, 4, 1.0)


async def test_provider_adapter_with_the_documents_names() -> None:
    class Camel(heald.providers.ProviderAdapter):
        async def buildRequest(self, system: str, messages: Any, tools: Any = None, options: Any = None) -> Any:  # noqa: N802
            return messages[-1]["content"][0]["text"]

        async def createMessageStream(self, request: Any, options: Any = None) -> Any:  # noqa: N802
            yield {"type": "text", "text": request.upper()}
            yield {"type": "end"}

    async with heald.Agent(Camel()) as agent:
        assert (await agent.run("hello")).text == "HELLO"


def _adapter(*events: Any) -> heald.providers.ProviderAdapter:
    class Wrong(heald.providers.ProviderAdapter):
        async def create_message_stream(self, request: Any, options: Any = None) -> AsyncIterator[JsonObject]:
            for event in events:
                if isinstance(event, Exception):
                    raise event
                yield event

    return Wrong()


END = {"type": "end"}


WRONG: list[tuple[list[Any], str]] = [
    (["text"], "yielded 'text'; an event is an object whose type is"),
    ([{"type": "txt"}], "yielded {'type': 'txt'}"),
    ([{"type": "text"}], "of type text needs a string 'text'"),
    ([{"type": "tool_call", "id": "a", "name": "b", "args": {}}], "needs a string 'args', the arguments as JSON"),
    ([{"type": "tool_call", "name": "b", "args": "{}"}], "needs a string 'id'"),
    ([{"type": "usage", "inputTokens": -1, "outputTokens": 1}], "number of tokens 'inputTokens'"),
    ([{"type": "end", "stop_reason": "tired"}], "a stop_reason is one of"),
    ([END, {"type": "text", "text": "more"}], "after {'type': 'end'}"),
    ([{"type": "text", "text": "Hi"}], "ended without {'type': 'end'}"),
    ([KeyError("choices")], "failed with KeyError: 'choices'"),
    ([{"type": "error", "error": "rate_limited", "message": "Too fast."}], "Too fast."),
]


@pytest.mark.parametrize(("events", "why"), WRONG)
async def test_wrong_events_of_a_provider(events: list[Any], why: str) -> None:
    async with heald.Agent(_adapter(*events)) as agent:
        with pytest.raises(HealdError) as failed:
            await agent.run("Go")
    assert why in str(failed.value)
    assert str(failed.value).startswith("Wrong.create_message_stream") or why == "Too fast."


async def test_a_call_with_arguments_that_are_no_json_does_not_run() -> None:
    ran.clear()
    calls = {"type": "tool_call", "id": "a", "name": "read_file", "args": "{"}
    async with heald.Agent(_adapter(calls, END), tools=[READ_FILE], budget=heald.Budget(turns=1)) as agent:
        await agent.run("Go")
    assert ran == []


async def test_methods_and_features_that_are_left_out() -> None:
    class Empty(heald.providers.ProviderAdapter):
        pass

    class NoYield(heald.providers.ProviderAdapter):
        async def create_message_stream(self, request: Any, options: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            return []

    class NotAModel:
        pass

    class HalfSession:
        def open_session(self, **_: Any) -> Any:
            return object()

    with pytest.raises(ConfigurationError, match="Empty has no create_message_stream; write it"):
        heald.Agent(Empty())
    with pytest.raises(ConfigurationError, match="model must be a str, a Model or a CustomModel, not a NotAModel"):
        heald.Agent(cast(Any, NotAModel()))
    with pytest.raises(ConfigurationError, match="The session of HalfSession has no messages"):
        heald.Agent(cast(Any, HalfSession()))
    async with heald.Agent(NoYield()) as agent:
        with pytest.raises(MalformedResponse, match="returned coroutine and no events; write it with `yield`"):
            await agent.run("Go")
    picture = heald.Image(data="aGk=")
    async with heald.Agent(_adapter(END)) as agent:
        with pytest.raises(InvalidRequest, match="needs 'images', which Wrong does not support"):
            await agent.run(["Look", picture])
    async with heald.Agent(_adapter(END)) as agent:
        with pytest.raises(InvalidRequest, match="needs 'output_schema', which Wrong does not support"):
            await agent.run("Go", output=int)


# --- multi-modal: audio -----------------------------------------------------------------------------------------------

SILENT = [wire for wire in WIRES if wire not in ("chat", "gemini", "converse")]
WAV = heald.File(media_type="audio/wav", data="UklGRg==")


async def test_audio_in_the_form_of_each_api() -> None:
    async with ScriptedServer([wire_reply("chat", text="A dog.")]) as server:
        model = heald.Model("m", base_url=server.url)
        async with heald.Agent(model) as agent:
            await agent.run(["What is it?", WAV])
        part = server.requests[0].body["messages"][0]["content"][1]
    assert part == {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    async with ScriptedServer([wire_reply("gemini", text="A dog.")]) as server:
        async with heald.Agent(heald.Model("m", wire="gemini", base_url=server.url)) as agent:
            await agent.run(["What is it?", WAV])
        part = server.requests[0].body["contents"][0]["parts"][1]
    assert part == {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}


@pytest.mark.parametrize("wire", SILENT)
async def test_audio_is_refused_before_it_is_sent(wire: str) -> None:
    async with ScriptedServer([]) as server:
        async with heald.Agent(heald.Model("m", wire=wire, base_url=server.url)) as agent:
            with pytest.raises(InvalidRequest, match=f"The {wire} wire carries no audio"):
                await agent.run(["What is it?", WAV])
        assert server.requests == []


async def test_audio_formats_of_chat() -> None:
    ogg = heald.File(media_type="audio/ogg; codecs=opus", data="T2dn")
    async with ScriptedServer([]) as server:
        async with heald.Agent(heald.Model("m", base_url=server.url)) as agent:
            with pytest.raises(InvalidRequest, match="WAV or MP3 data and not audio/ogg"):
                await agent.run(["What is it?", ogg])
        assert server.requests == []


@pytest.mark.parametrize("wire", SILENT)
async def test_a_conversation_with_audio_continues_on_another_api(wire: str) -> None:
    history = [heald.user_message("What is it?", WAV), Message(role="assistant", content=[Text("A dog.")])]
    async with ScriptedServer([wire_reply(wire, text="Yes.")]) as server:
        async with heald.Agent(heald.Model("m", wire=wire, base_url=server.url), history=history) as agent:
            assert (await agent.run("Sure?")).text == "Yes."
        sent = server.requests[0].content.decode()
    assert "UklGRg" not in sent
    assert "audio/wav" in sent


async def test_audio_of_a_chat_client() -> None:
    part = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    session = heald.providers.open_provider_session(S([]), messages=[{"role": "user", "content": [part]}])
    assert session.messages[0].content == [WAV]


# --- the agent entry point --------------------------------------------------------------------------------------------


async def test_get_system_instruction() -> None:
    """The default instructions and the custom ones are one system instruction."""
    model = S(["Hi."])
    async with heald.Agent(model, tools=[READ_FILE], instructions="Answer in Norwegian.") as agent:
        await agent.run("Hello")
    system = model.requests[0].settings.system
    assert "works with tools" in system
    assert system.endswith("Answer in Norwegian.")


async def test_session_messages_are_stored(tmp_path: Path) -> None:
    """A second program reads the session of the first one, as chat messages."""
    store = f"sqlite:///{tmp_path / 'chat.db'}"
    before: list[JsonObject] = [{"role": "user", "content": "Before", "timestamp": 1763000000000}]
    chats: list[list[JsonObject]] = []
    for text, answer in (("Hello", "Hi."), ("Bye", "See you.")):
        async with await heald.open_session("chat-1", heald.Agent(S([answer]), history=before), store=store) as session:
            await session.run(text)
            chats.append(convert_internal_to_session(to_internal_messages(session.messages)))
    assert [message["content"] for message in chats[1]] == ["Before", "Hello", "Hi.", "Bye", "See you."]
    assert chats[1][:3] == chats[0]
    assert chats[1][:1] == before
    times = [message["timestamp"] for message in chats[1]]
    assert times == sorted(times)


async def test_read_file_applies_line_ranges(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    model = S([[S.call("read_file", files=[{"path": "a.txt", "start_line": 2, "end_line": 2}])], "Done."])
    async with heald.Agent(model, tools=["read"], workspace=tmp_path) as agent:
        await agent.run("Go")
    (result,) = cast("list[ToolResult]", model.requests[1].messages[-1].content)
    assert "two" in result.text
    assert "three" not in result.text


async def test_tools_run_concurrently_or_in_sequence() -> None:
    """Independent calls run at once, the document's first enhancement; `sequential` tools run one by one."""
    for sequential in (False, True):
        running: list[int] = []
        most: list[int] = []

        @heald.tool(sequential=sequential)
        async def work(number: int) -> str:
            """Work."""
            running.append(number)  # noqa: B023
            for _ in range(5):
                await asyncio.sleep(0)
            most.append(len(running))  # noqa: B023
            running.remove(number)  # noqa: B023
            return "done"

        async with heald.Agent(S([[S.call("work", number=n) for n in range(3)], "Done."]), tools=[work]) as agent:
            await agent.run("Go")
        assert max(most) == (1 if sequential else 3)
