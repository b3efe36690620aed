"""`run_agent_loop`: an exchange as pairs of name and JSON."""

import asyncio
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

import heald
from dialect_support import S, look
from heald.core.errors import ConfigurationError, Overloaded
from heald.core.json import loads
from heald.core.messages import Image, Message, Text, ToolCall, ToolResult, user_message
from heald_server.protocols.loop.run_loop import run_agent_loop

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
GO = [{"role": "user", "content": "Go."}]


async def pairs(messages: list[Any], model: heald.testing.ScriptedModel, **options: Any) -> list[tuple[str, Any]]:
    return [(event, loads(data)) async for event, data in run_agent_loop(messages, model, **options)]


async def test_the_loop_of_the_four_events() -> None:
    model = S([["Let me see.", S.call("look", place="Oslo")], "Nothing."], piece=100)
    said = await pairs(GO, model, tools=[look])
    call = said[1][1]["id"]
    assert said == [
        ("content_delta", {"delta": "Let me see."}),
        ("tool_call_start", {"id": call, "name": "look", "arguments": {"place": "Oslo"}}),
        ("tool_call_result", {"id": call, "result": "Nothing at Oslo.", "is_error": False}),
        ("content_delta", {"delta": "Nothing."}),
        ("done", {}),
    ]


async def test_the_conversation_that_the_page_resends() -> None:
    model = S(["Warmer."])
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"place": "Oslo"}'}},
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "3 °C"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "4 °C"}]},
        {"role": "assistant", "content": "Cold."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "And here?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
    ]
    await pairs(messages, model, tools=[look])
    (request,) = model.requests
    assert request.settings.system is not None
    assert request.settings.system.endswith("Be brief.")
    assert [msgspec.structs.replace(message, timestamp=None) for message in request.messages] == [
        user_message("Weather?"),
        Message(
            role="assistant",
            content=[
                ToolCall(id="a", name="look", input={"place": "Oslo"}),
                ToolCall(id="b", name="look", input={}),
            ],
        ),
        Message(
            role="tool",
            content=[
                ToolResult(id="a", status="ok", content="3 °C"),
                ToolResult(id="b", status="ok", content="4 °C"),
            ],
        ),
        Message(role="assistant", content=[Text("Cold.")]),
        user_message("And here?", Image(data=PIXEL), Image(url="https://example.org/a.png")),
    ]


async def test_a_failure_is_reported_and_not_raised() -> None:
    said = await pairs(GO, S([["Hel", S.fail(Overloaded("The provider is busy.", status=529))]]))
    assert said[-1] == ("done", {"status": "failed", "error": "The provider is busy."})


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "last message must be the request"),
        ([{"role": "assistant", "content": "Hi."}], "last message must be the request"),
        ([{"role": "system", "content": "Hi."}, {"role": "wizard"}, *GO], "Message 1 has the role 'wizard'"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{"}}]}, *GO],
            "arguments of a call in message 0 are not valid JSON",
        ),
    ],
)
async def test_messages_that_are_none(messages: list[Any], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        await pairs(messages, S(["Hi."]))


async def test_disconnecting_the_loop_ends_the_exchange() -> None:
    stopped = asyncio.Event()

    @heald.tool
    async def waits() -> str:
        """Waits for long."""
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()
        return "never"

    async with aclosing(run_agent_loop(GO, S([[S.call("waits")], "Done."]), tools=[waits])) as loop:
        async for event, _ in loop:
            assert event == "tool_call_start"
            await asyncio.sleep(0.05)
            break
    assert stopped.is_set()
