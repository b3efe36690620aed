"""Traffic written to a file and played back: the same bytes, the same pieces, no network and no key."""

import asyncio
from pathlib import Path

import pytest
from provider_bench import KEY, NOW, WIRES, body, half, model_at
from tape_bench import converse, exchanges, facts, mode

import heald
from heald.core.messages import ToolCall, ToolResult, user_message
from heald.core.payload import Payload
from heald.testing.server import Cut, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "traffic.jsonl"


@pytest.mark.parametrize("wire", WIRES)
async def test_every_wire_plays_back_as_it_was(wire: str, tape: Path) -> None:
    call = ToolCall(id="call_1", name="look", input={"path": "æøå/日本.txt"})
    reply = wire_reply(wire, thinking="Hm.", text=["Let ", "me look. 🙂"], calls=[call])
    async with ScriptedServer([reply]) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url, wire, key=KEY)
        url = server.url
    with heald.providers.replay(tape):
        assert await converse(url, wire) == recorded
    assert recorded.code == "tool_use"


async def test_pieces_stay_pieces_even_within_a_letter(tape: Path) -> None:
    stream = b"".join(wire_stream("chat", text="Grüße 🙂"))
    at = stream.index("🙂".encode()) + 2
    async with ScriptedServer([Reply([stream[:at], Pause(0.05), stream[at:]])]) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url)
        url = server.url
    (exchange,) = exchanges(tape)
    assert all("base64" in piece for piece in exchange["pieces"][:2])
    with heald.providers.replay(tape):
        assert await converse(url) == recorded
    assert recorded.said == "Grüße 🙂"


async def test_several_turns(tape: Path) -> None:
    async def talk(url: str, key: str | None) -> list[str]:
        events: list[Payload] = []
        session = heald.providers.open_provider_session(
            model_at(url, "messages", api_key=key), messages=[user_message("Go.")], retry=NOW
        )
        for _ in range(3):
            turn = await session.stream_turn(events.append)
            results = [ToolResult(id=call.id, status="ok", content="3") for call in turn.tool_calls]
            session.append_tool_results(turn, results)
        return facts(events)

    call = ToolCall(id="toolu_1", name="look", input={"path": "a"})
    another = ToolCall(id="toolu_2", name="look", input={"path": "b"})
    replies = [wire_reply("messages", thinking="Hm.", calls=[c]) for c in (call, another)]
    async with ScriptedServer([*replies, wire_reply("messages", text="Done.")]) as server:
        with heald.providers.record(tape):
            recorded = await talk(server.url, KEY)
        url = server.url
    assert len(exchanges(tape)) == 3
    with heald.providers.replay(tape):
        assert await talk(url, None) == recorded


async def test_several_recordings_into_one_file(tape: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="One"), wire_reply("gemini", text="Two")]) as server:
        for wire in ("chat", "gemini"):
            with heald.providers.record(tape):
                await converse(server.url, wire)
        url = server.url
    with heald.providers.replay(tape):
        assert (await converse(url, "chat")).said == "One"
        assert (await converse(url, "gemini")).said == "Two"


async def test_sessions_side_by_side(tape: Path) -> None:
    """The one that was asked first is finished last. Each must get its own answer again."""
    questions = ["slow", "middle", "quick"]

    async def ask_all(url: str) -> list[str]:
        asking = (converse(url, messages=[user_message(question)]) for question in questions)
        return [outcome.said for outcome in await asyncio.gather(*asking)]

    waits = {"slow": 0.2, "middle": 0.1, "quick": 0.0}
    async with ScriptedServer(
        lambda request: wire_reply(
            "chat",
            Pause(waits[request.body["messages"][0]["content"]]),
            text=f"Answer to {request.body['messages'][0]['content']}",
        )
    ) as server:
        with heald.providers.record(tape):
            recorded = await ask_all(server.url)
        url = server.url
    assert recorded == [f"Answer to {question}" for question in questions]
    with heald.providers.replay(tape):
        assert await ask_all(url) == recorded


async def test_outside_the_block_nothing_is_recorded(tape: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello")) as server:
        with heald.providers.record(tape):
            await converse(server.url)
        await converse(server.url)
        assert len(server.requests) == 2
    assert len(exchanges(tape)) == 1


async def test_a_replay_asks_nobody(tape: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello")) as server:
        with heald.providers.record(tape):
            await converse(server.url)
        with heald.providers.replay(tape):
            await converse(server.url)
        assert len(server.requests) == 1


async def test_no_key_is_needed_where_one_is_required(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask_openai() -> str:
        session = heald.providers.open_provider_session("openai/gpt-5", messages=[user_message("Go.")], retry=NOW)
        return (await session.stream_turn(lambda _: None)).text

    async with ScriptedServer([wire_reply("responses", text="Hello")]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        with heald.providers.record(tape):
            await ask_openai()
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    with heald.providers.replay(tape):
        assert await ask_openai() == "Hello"


# --- the file -----------------------------------------------------------------------------------------------------


async def test_only_its_owner_reads_the_file(tape: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        with heald.providers.record(tape):
            assert mode(tape) == 0o600
            await converse(server.url)
    assert mode(tape) == 0o600


@pytest.mark.parametrize("wire", WIRES)
async def test_the_key_is_not_in_the_file(wire: str, tape: Path) -> None:
    replies = [
        Reply.json({"error": {"message": f"bad key {KEY}"}}, 503, {"x-echo": KEY, "set-cookie": "id=1"}),
        body(wire, *half(wire), Cut()),
        wire_reply(wire, text=f"Your key is {KEY}."),
    ]
    async with ScriptedServer(replies) as server:
        with heald.providers.record(tape):
            await converse(server.url, wire, key=KEY, messages=[user_message(f"Is {KEY} my key?")])
    text = "\n".join(map(str, exchanges(tape)))
    assert KEY not in text
    assert "id=1" not in text
    assert len(exchanges(tape)) == 3


@pytest.mark.parametrize("key", ["1", "x", "e", "data"])
async def test_a_key_that_is_no_secret(key: str, tape: Path) -> None:
    """Local servers are given any word for a key. It must not be cut out of what they say."""
    async with ScriptedServer([wire_reply("chat", text="1 example of data")]) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url, key=key)
        url = server.url
    with heald.providers.replay(tape):
        assert await converse(url) == recorded


async def test_what_a_line_holds(tape: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        with heald.providers.record(tape):
            await converse(server.url, key=KEY)
        (exchange,) = exchanges(tape)
        assert exchange["url"] == f"{server.url}/v1/chat/completions"
        assert exchange["request"] == server.requests[0].body
    assert (exchange["status"], exchange["ended"]) == (200, "eof")
    assert exchange["request_headers"]["content-type"] == "application/json"
    assert "".join(piece["text"] for piece in exchange["pieces"]).startswith("data: ")
    times = [piece["ms"] for piece in exchange["pieces"]]
    assert times == sorted(times)
