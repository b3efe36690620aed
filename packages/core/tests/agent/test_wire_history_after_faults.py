"""Histories after everything that can go wrong: every API would take them, on the wire they came from or another."""

from typing import Any

import pytest
from cancel_support import NOW, WIRES, Log, assert_accepted, assert_same_history, model_at, refusals, soon, until
from test_cancel_states import STATES

import heald
from heald.agent.agent import Agent
from heald.core.events import ExchangeResponse
from heald.core.messages import Message, ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply


async def conversation(wire: str) -> list[Message]:
    """One conversation that is cancelled in every state, one after the other, with answers in between."""
    tools = list({tool.name: tool for state in STATES for tool in state.tools}.values())
    tools_that_ask = {state.name for state in STATES if "permissions" in state.options}
    history: list[Message] = []
    for state in STATES:
        replies = [*renamed(state.first(wire), state.name), wire_reply(wire, text=f"Done with {state.name}.")]
        async with ScriptedServer(replies) as server:
            permissions: Any = "ask" if state.name in tools_that_ask else "auto"
            retry = state.options.get("retry", NOW)
            async with Agent(
                model_at(server, wire), tools=tools, history=history, permissions=permissions, retry=retry
            ) as agent:
                log = Log(agent)
                exchange = agent.send(f"Now {state.name}.")
                await until(lambda state=state, log=log, server=server: state.reached(log, server))
                agent.cancel()
                await soon(exchange.result())
                await soon(agent.run("And?"))
                assert_accepted(wire, server)
                log.assert_clean()
                history = agent.messages
    assert len([message for message in history if message.role == "user"]) == 2 * len(STATES)
    return history


def renamed(replies: list[Reply], name: str) -> list[Reply]:
    """Ids of calls are the provider's; real ones do not come twice."""
    prefix = "".join(char for char in name if char.isalpha()).encode()
    swap = [(b"call_0", b"call_" + prefix + b"_0"), (b"call_1", b"call_" + prefix + b"_1")]
    changed: list[Reply] = []
    for reply in replies:
        body: list[Any] = []
        for step in reply.body:
            if isinstance(step, bytes):
                for old, new in swap:
                    step = step.replace(old, new)
            body.append(step)
        changed.append(Reply(body, reply.status, reply.headers, reply.content_type, reply.framing))
    return changed


@pytest.mark.parametrize("wire", WIRES)
async def test_a_conversation_cancelled_in_every_state_is_accepted_everywhere(wire: str) -> None:
    history = await conversation(wire)
    for other in WIRES:
        async with ScriptedServer([wire_reply(other, text="Done.")]) as server:
            async with Agent(model_at(server, other), history=history) as agent:
                assert (await soon(agent.run("Go on."))).text == "Done."
            assert_accepted(other, server)
            sent = server.requests[0].content.decode()
            assert all(f"Done with {state.name}." in sent for state in STATES)


@pytest.mark.parametrize("wire", WIRES)
async def test_ids_that_come_twice_stay_apart(wire: str) -> None:
    """A server that numbers its calls anew in every answer, and a cancel in between."""

    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    again = wire_reply(wire, calls=[ToolCall(id="call_1", name="look", input={})])
    async with (
        ScriptedServer([again, again, wire_reply(wire, text="Done.")]) as server,
        Agent(model_at(server, wire), tools=[look], retry=NOW) as agent,
    ):
        log = Log(agent)
        agent.subscribe(lambda _: agent.cancel(), types=["tool_completed"])
        assert (await soon(agent.run("Go."))).status == "cancelled"
        assert (await soon(agent.run("Again."))).status == "cancelled"
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled", "cancelled", "completed"]
    log.assert_clean()


# --- the judges themselves -------------------------------------------------------------------------------------------

TEXT: dict[str, Any] = {"role": "user", "content": "Hi"}
CALL: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USE: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
RESULT: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
WRONG: list[tuple[str, Any]] = [
    ("chat", {"messages": []}),
    ("chat", {"messages": [TEXT, {"role": "assistant", "content": ""}, TEXT]}),
    ("chat", {"messages": [TEXT, {"role": "assistant", "tool_calls": [CALL]}, TEXT]}),
    ("chat", {"messages": [TEXT, {"role": "assistant", "content": "x"}]}),
    ("chat", {"messages": [TEXT, {"role": "tool", "tool_call_id": "a", "content": "x"}]}),
    ("responses", {"input": [TEXT, {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]}),
    ("responses", {"input": [TEXT, {"type": "function_call_output", "call_id": "a", "output": "x"}]}),
    ("responses", {"input": [{"role": "user", "content": " "}]}),
    ("messages", {"messages": [TEXT, TEXT]}),
    ("messages", {"messages": [TEXT, USE]}),
    ("messages", {"messages": [TEXT, USE, TEXT]}),
    ("messages", {"messages": [TEXT, USE, RESULT, USE, RESULT]}),
    ("messages", {"messages": [RESULT]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}),
    ("gemini", {"contents": [{"role": "user", "parts": []}]}),
    ("gemini", {"contents": [{"role": "model", "parts": [{"text": "x"}]}]}),
    (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "x"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"text": "x"}]},
            ]
        },
    ),
]


@pytest.mark.parametrize(("wire", "body"), WRONG)
def test_a_wrong_history_is_noticed(wire: str, body: Any) -> None:
    assert refusals(wire, body) != []
